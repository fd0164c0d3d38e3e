//! The words of the format, and the grammar that the model is given.

/// First line of every patch.
pub const BEGIN_PATCH: &str = "*** Begin Patch";
/// Last line of every patch.
pub const END_PATCH: &str = "*** End Patch";
pub(crate) const ADD_FILE: &str = "*** Add File: ";
pub(crate) const DELETE_FILE: &str = "*** Delete File: ";
pub(crate) const UPDATE_FILE: &str = "*** Update File: ";
pub(crate) const MOVE_TO: &str = "*** Move to: ";
pub(crate) const END_OF_FILE: &str = "*** End of File";
/// The space behind the colon is optional here (A3.g).
pub(crate) const ENVIRONMENT_ID: &str = "*** Environment ID:";
pub(crate) const BARE_CONTEXT: &str = "@@";
pub(crate) const CONTEXT: &str = "@@ ";

/// The Lark grammar of the freeform tool (runtime.md A2). It is stricter than the parser: it wants at
/// least one line in an added file, which the parser does not (A2.1).
pub const LARK_GRAMMAR: &str = r#"start: begin_patch hunk+ end_patch

begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /[^\n]+/
add_line: "+" /[^\n]*/ LF

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /[^\n]+/) LF
change_line: ("+" | "-" | " ") /[^\n]*/ LF
eof_line: "*** End of File" LF

%import common.LF
"#;
