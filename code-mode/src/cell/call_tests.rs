use pretty_assertions::assert_eq;

use super::*;
use crate::engine::CallNumber;
use crate::engine::testing::tools;

#[test]
fn exec_cannot_invoke_itself() {
    let mut tool = tools()[0].clone();
    tool.name = tenon_protocol::ToolName::plain(EXEC).with_default_namespace();
    assert_eq!(tool_call(&tool, None, &CallIds::new()).unwrap_err(), "exec cannot invoke itself");
}

#[test]
fn a_call_knows_its_cell_and_its_place_in_the_script() {
    let call = ScriptCall { number: CallNumber(3), tool: 0, argument: None };
    let expected =
        ToolCallSource::CodeMode { cell_id: "7".to_owned(), runtime_tool_call_id: "tool-3".to_owned() };
    assert_eq!(source("7", &call), expected);
}
