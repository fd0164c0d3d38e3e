//! Logins by OAuth: discovery, registration, the user's consent, tokens. In two steps, since a browser stands between.

use std::path::Path;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, CredentialStore, OAuthState,
};

use super::{FileStore, store_path, trust_tls};
use crate::config::{HttpConfig, Secret};
use crate::error::chain;

/// How the user is told who asks for their consent.
const CLIENT_NAME: &str = "tenon";

/// What a server says that knows the user and wants more rights.
const INSUFFICIENT: &str = "insufficient_scope";

/// Why a login failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoginError(String);

impl LoginError {
    fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        Self(chain(error))
    }
}

/// What a login asks for.
#[derive(Debug, Clone, Default)]
pub struct LoginRequest {
    /// Where the browser is sent back to.
    pub redirect_uri: String,
    /// The id of a client that the server knows already; none registers one.
    pub client_id: Option<String>,
    /// That client's secret.
    pub client_secret: Option<Secret>,
    /// The address of a document that describes the client, for servers that read such.
    pub client_metadata_url: Option<String>,
    /// The `WWW-Authenticate` of the answer that made the login necessary.
    pub challenge: Option<String>,
}

/// A login that waits for the user.
pub struct Login {
    state: OAuthState,
    url: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Login {
    /// Finds out whom to ask, and makes the address that the user has to open. Tokens will lie below `home`.
    ///
    /// # Errors
    /// When the server offers no login, or cannot be understood.
    pub async fn begin(
        server: &str,
        config: &HttpConfig,
        home: &Path,
        request: LoginRequest,
    ) -> Result<Self, LoginError> {
        trust_tls();
        let fail = |error| LoginError::of(&error);
        let mut manager = AuthorizationManager::new(config.url.as_str()).await.map_err(fail)?;
        let store = FileStore::new(store_path(home, server, &config.url));
        let scopes = scopes(config, &request, &store).await.map_err(fail)?;
        manager.set_credential_store(store);
        let mut state = OAuthState::Unauthorized(manager);
        state.start_authorization(authorization(scopes, request)).await.map_err(fail)?;
        let url = state.get_authorization_url().await.map_err(fail)?;
        Ok(Self { state, url })
    }

    /// The address that the user has to open.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Takes the address that the browser was sent back to, and keeps the tokens that come of it.
    ///
    /// # Errors
    /// When the user did not consent, or the answer is not for this login.
    pub async fn finish(mut self, callback_url: &str) -> Result<(), LoginError> {
        if let Some(refusal) = refusal(callback_url) {
            return Err(LoginError(refusal));
        }
        self.state.handle_callback_url(callback_url).await.map_err(|error| LoginError::of(&error))
    }
}

/// What an authorization server says that sends no code (RFC 6749, 4.1.2.1).
fn refusal(callback_url: &str) -> Option<String> {
    let url = reqwest::Url::parse(callback_url).ok()?;
    let member =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let error = member("error")?;
    let words = member("error_description").map(|words| format!(": {words}")).unwrap_or_default();
    Some(format!("the login was refused: {error}{words}"))
}

/// What is asked for: the configured scopes, else those that a server misses, with those that were granted before, so
/// that a login for more loses nothing. Empty leaves it to the server.
async fn scopes(
    config: &HttpConfig,
    request: &LoginRequest,
    store: &FileStore,
) -> Result<Vec<String>, AuthError> {
    if let Some(scopes) = &config.scopes {
        return Ok(scopes.clone());
    }
    let missed = request.challenge.as_deref().filter(|words| words.contains(INSUFFICIENT)).and_then(scope_of);
    let Some(missed) = missed else { return Ok(Vec::new()) };
    let granted = store.load().await?.map(|stored| stored.granted_scopes).unwrap_or_default();
    let mut scopes: Vec<String> = granted;
    for scope in missed.split_whitespace() {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    Ok(scopes)
}

/// The scopes that a `WWW-Authenticate` names.
fn scope_of(challenge: &str) -> Option<&str> {
    let (_, after) = challenge.split_once("scope=\"")?;
    after.split_once('"').map(|(scope, _)| scope)
}

fn authorization(scopes: Vec<String>, request: LoginRequest) -> AuthorizationRequest {
    let LoginRequest { redirect_uri, client_id, client_secret, client_metadata_url, challenge } = request;
    let mut authorization =
        AuthorizationRequest::new(redirect_uri).with_client_name(CLIENT_NAME).with_scopes(scopes);
    authorization.client_id = client_id;
    authorization.client_secret = client_secret.map(|secret| secret.reveal().to_owned());
    authorization.client_metadata_url = client_metadata_url;
    authorization.challenge = challenge;
    authorization
}
