//! From a model's stream to paired results: router, registry, runtime, hooks, policy, history, rollout, turn loop.
//!
//! # Layout, in the order of an item
//! [`turn`]: the loop that asks the model until nothing is left to do. [`router`]: is this item a call for us, and
//! whose. [`runtime`]: the call's place in the gate, its task, its cancellation. [`dispatch`]: the stages of a call,
//! one file each. [`registry`]: the tools of a step; [`handlers`]: those that are built in; [`search`]: how those are
//! found that the model is not shown. [`hooks`] and [`policy`]:
//! who may stop or change a call. [`history`] and [`rollout`]: what was said and done, in memory and on disk.
//! [`session`] holds it all together.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use tenon_core::{SessionBuilder, SessionOptions, TurnEnd};
//! use tenon_tools::{ScriptedModel, ScriptedTurn};
//! use tokio_util::sync::CancellationToken;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model = Arc::new(ScriptedModel::new(Vec::<ScriptedTurn>::new()));
//! let mut session = SessionBuilder::new(SessionOptions::new("a-model", "/"), model).build().await.unwrap();
//! let end = session.run_turn("hello", &CancellationToken::new()).await;
//! assert_eq!(end, TurnEnd::Completed { last_message: Some("done".to_owned()) });
//! # });
//! ```

pub mod dispatch;
pub mod handlers;
mod hash;
pub mod history;
pub mod hooks;
#[cfg(feature = "images")]
mod pictures;
pub mod policy;
pub mod registry;
pub mod rollout;
pub mod router;
pub mod runtime;
pub mod search;
pub mod session;
mod sync;
pub mod turn;
mod user_file;
pub mod verify;

pub use dispatch::{CallEnd, CallJournal, DispatchEnvironment, LifecycleObserver};
pub use handlers::core_tools;
pub use history::History;
pub use hooks::Hook;
pub use policy::{AllowAll, Policy, PolicyDecision, Question, StandardPolicy};
pub use registry::ToolRegistry;
pub use router::{Route, ToolRouter};
pub use runtime::{CallNumbers, Gate, RunningCall, ToolCallRuntime};
pub use session::{
    BuildError, DEFAULT_STREAM_MAX_RETRIES, Session, SessionBuilder, SessionHandle, SessionOptions,
};
pub use turn::{BASE_INSTRUCTIONS, INTERRUPT_MARKER, TurnEnd, TurnInput};
pub use user_file::{UserFileError, change_user_file, read_user_file};
pub use verify::{Verification, VerifyError, verify};
