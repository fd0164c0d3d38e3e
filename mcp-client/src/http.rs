//! Servers over streamable HTTP: the client, logins, tokens.

mod careful;
mod client;
mod credentials;
mod events;
mod login;

pub(crate) use careful::{Careful, DISCOVER_TIMEOUT};
pub(crate) use client::{client, trust_tls};
pub(crate) use credentials::{FileStore, store_path};
pub use login::{Login, LoginError, LoginRequest};
