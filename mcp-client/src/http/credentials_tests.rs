use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

fn credentials(client: &str) -> StoredCredentials {
    StoredCredentials::new(client.to_owned(), None, vec!["a".to_owned()], Some(1))
}

#[tokio::test]
async fn tokens_are_kept_for_the_user_alone() {
    let home = TempDir::new().expect("a folder");
    let path = store_path(home.path(), "s", "http://h/mcp");
    let store = FileStore::new(path.clone());
    assert!(store.load().await.expect("read").is_none());
    store.save(credentials("one")).await.expect("written");
    store.save(credentials("two")).await.expect("written again");
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    let found = store.load().await.expect("read").expect("there");
    assert_eq!((found.client_id.as_str(), found.granted_scopes), ("two", vec!["a".to_owned()]));
    store.clear().await.expect("removed");
    store.clear().await.expect("nothing to remove");
    assert!(store.load().await.expect("read").is_none());
}

#[tokio::test]
async fn another_address_is_another_server() {
    let home = Path::new("/home");
    assert_ne!(store_path(home, "s", "http://a"), store_path(home, "s", "http://b"));
}

#[tokio::test]
async fn one_refreshes_at_a_time() {
    let home = TempDir::new().expect("a folder");
    let store = FileStore::new(store_path(home.path(), "s", "http://h"));
    let first = store.acquire_refresh_guard().await.expect("locked");
    let second = tokio::spawn({
        let store = store.clone();
        async move { store.acquire_refresh_guard().await.map(|_| ()) }
    });
    tokio::task::yield_now().await;
    assert!(!second.is_finished());
    drop(first);
    second.await.expect("no panic").expect("locked in turn");
}
