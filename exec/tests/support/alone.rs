//! Tests that need a process to themselves: those that count its descriptors or lower its limits.

use std::process::Command;

/// Set in the process that a test has to itself.
const ALONE: &str = "TENON_TEST_ALONE";

/// Whether this is a process that runs `test` and nothing else. Where it is not, one is started that is, and its
/// success is this test's.
///
/// # Panics
/// When the test fails there.
pub(crate) fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some_and(|name| name == test) {
        return true;
    }
    let program = std::env::current_exe().expect("this test");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ALONE, test)
        .output()
        .expect("the test once more");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}
