//! Tokens in files: one for each server, readable by the user alone, refreshed by one process at a time.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use rustix::fs::{FlockOperation, flock};
use sha1_smol::Sha1;

/// The folder of tokens, below the home folder.
const FOLDER: &str = "mcp-credentials";
/// How much of an address's hash stands in a file's name.
const HASH_DIGITS: usize = 16;

/// Where the tokens of a server lie. Another address is another server, whatever its name.
pub(crate) fn store_path(home: &Path, server: &str, url: &str) -> PathBuf {
    let hash = Sha1::from(url).hexdigest();
    let hash = hash.get(..HASH_DIGITS).unwrap_or(&hash);
    home.join(FOLDER).join(format!("{server}-{hash}.json"))
}

/// The tokens of one server.
#[derive(Debug, Clone)]
pub(crate) struct FileStore {
    path: PathBuf,
}

impl FileStore {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    fn read(&self) -> std::io::Result<Option<StoredCredentials>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(std::io::Error::other),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn make_folder(&self) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }

    /// Replaces the file in one step: whoever reads it meanwhile finds the old tokens or the new ones.
    fn write(&self, credentials: &StoredCredentials) -> std::io::Result<()> {
        self.make_folder()?;
        let bytes = serde_json::to_vec(credentials).map_err(std::io::Error::other)?;
        let fresh = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, &self.path)
    }

    fn remove(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn lock(&self) -> std::io::Result<File> {
        self.make_folder()?;
        let path = self.path.with_extension("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, AuthError> {
        let store = self.clone();
        let shown = self.path.display().to_string();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        let done = done.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        done.map_err(|error| AuthError::CredentialStoreError(format!("{shown}: {error}")))
    }
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.run(Self::read).await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.run(move |store| store.write(&credentials)).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.run(Self::remove).await
    }

    /// A lock over processes: tokens that rotate are refreshed by one at a time, and the others find the new ones.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let locked = self.run(Self::lock).await?;
        Ok(Some(CredentialRefreshGuard::new(locked)))
    }
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
