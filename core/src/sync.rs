//! The locks and atomics of what is model-checked: those of the standard library, or, in the tests of the feature
//! `model-check`, those of shuttle, which tries many orders of what happens between them.

#[cfg(all(test, feature = "model-check"))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic::AtomicU8};
#[cfg(not(all(test, feature = "model-check")))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic::AtomicU8};
