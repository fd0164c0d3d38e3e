//! Router, registry, runtime, hooks, history, rollout and the turn loop.
