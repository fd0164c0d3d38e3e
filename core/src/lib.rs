//! From a model's stream to paired results: router, registry, runtime, hooks, policy, history, rollout, turn loop.
//!
//! # Layout, in the order of an item
//! [`router`]: is this item a call for us, and whose. [`runtime`]: the call's place in the gate, its task, its
//! cancellation. [`dispatch`]: the stages of a call, one file each. [`registry`]: the tools of a step. [`hooks`] and
//! [`policy`]: who may stop or change a call. [`history`] and [`rollout`]: what was said and done, in memory and on
//! disk. [`turn`]: the loop that asks the model until nothing is left to do.

pub mod dispatch;
pub mod history;
pub mod hooks;
pub mod policy;
pub mod registry;
pub mod rollout;
pub mod router;
pub mod runtime;
