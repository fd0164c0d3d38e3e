use pretty_assertions::assert_eq;

use super::{COMMAND_CHARS, shortened};

#[test]
fn a_command_is_shown_by_its_first_line_and_not_whole() {
    let long = "ü".repeat(COMMAND_CHARS);
    for (command, expected) in [
        ("make test", "make test".to_owned()),
        ("cat <<E\na\nE", "cat <<E...".to_owned()),
        ("", String::new()),
        (long.as_str(), long.clone()),
        (&format!("{long}x"), format!("{long}...")),
    ] {
        assert_eq!(shortened(command), expected);
    }
}
