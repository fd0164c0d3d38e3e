use std::io;

use pretty_assertions::assert_eq;

use super::{SandboxError, Step};

#[test]
fn a_code_stands_for_its_step() {
    for step in Step::ALL {
        assert_eq!(Step::of_code(step.code()), Some(step));
    }
    assert_eq!(Step::of_code(0), None);
    assert_eq!(Step::of_code(9), None);
}

#[test]
fn it_names_the_mode_what_is_missing_and_what_the_system_says() {
    let error = SandboxError::new("read-only", Step::Namespaces, io::Error::from_raw_os_error(1));
    assert_eq!(
        error.to_string(),
        "commands cannot be held to the sandbox mode `read-only` on this machine: no mount namespace can be made \
         (user namespaces may be switched off): Operation not permitted (os error 1)"
    );
}
