use pretty_assertions::assert_eq;

use super::*;

fn approved(text: &str, server: &str, tool: &str) -> Result<Option<String>, String> {
    approve_tool(text, DeTable::parse(text).expect("TOML").get_ref(), server, tool)
}

const AT_THE_END: &str = "\n[mcp_servers.s.tools.t]\napproval_mode = \"approve\"\n";

/// What is written, where `^` stands in a file.
#[test]
fn the_line_stands_where_it_belongs_and_every_other_byte_stays() {
    let line = "approval_mode = \"approve\"\n";
    let rows = [
        ("[mcp_servers.s]\ncommand = 'x' # mine\n^", AT_THE_END),
        // Without a line end; with sub-tables, other servers, arrays and comments behind.
        ("[mcp_servers.s]\ncommand = 'x'^", "\n\n[mcp_servers.s.tools.t]\napproval_mode = \"approve\"\n"),
        ("[mcp_servers.s]\ncommand = 'x'\n[mcp_servers.s.env]\nA = 'b'\n[[other]]\n# end\n^", AT_THE_END),
        ("[mcp_servers.s]\ncommand = 'x'\n[mcp_servers.s.tools.u]\napproval_mode = 'prompt'\n^", AT_THE_END),
        ("[mcp_servers.s]\ncommand = 'x'\ntools.u.approval_mode = 'prompt'\n^", AT_THE_END),
        ("[mcp_servers.s.tools]\n[mcp_servers.s]\ncommand = 'x'\n^", AT_THE_END),
        ("mcp_servers.s.command = 'x'\n^", AT_THE_END),
        // Where the tool has a table already.
        ("[mcp_servers.s]\ncommand = 'x'\n[mcp_servers.s.tools.t] # it\n^[z]\n", line),
        ("[mcp_servers.s.tools.t]^", "\napproval_mode = \"approve\"\n"),
        ("[mcp_servers.s.tools.t]\n^later = 1\n", line),
        ("[mcp_servers.s]\ncommand = 'x'\n^tools.t.later = 1\n", "tools.t.approval_mode = \"approve\"\n"),
        ("^mcp_servers.s.tools.t.later = 1\n", "mcp_servers.s.tools.t.approval_mode = \"approve\"\n"),
        ("[mcp_servers.s.tools]\n  ^t.later = 1\n", "t.approval_mode = \"approve\"\n  "),
        ("[mcp_servers.s.tools.t.sub]\na = 1\n^", AT_THE_END),
        // In braces.
        ("[mcp_servers]\ns = {^command = 'x'}\n", " tools.t.approval_mode = \"approve\", "),
        (
            "[mcp_servers]\ns = {^ command = 'x', tools.t.later = 1 }\n",
            " tools.t.approval_mode = \"approve\",",
        ),
        ("mcp_servers = { s = { tools = {^} } }\n", " t.approval_mode = \"approve\" "),
        ("[mcp_servers.s]\ncommand = 'x'\ntools = { t = {^ } }\n", " approval_mode = \"approve\""),
        ("[mcp_servers.s]\ntools = {^\n  u = { a = 1 }, # one\n}\n", " t.approval_mode = \"approve\","),
        ("[mcp_servers.s.tools]\nt = {^ later = 1 }\n", " approval_mode = \"approve\","),
        // As the file ends its lines, and behind a mark of byte order.
        (
            "[mcp_servers.s]\r\ncommand = 'x'\r\n^",
            "\r\n[mcp_servers.s.tools.t]\r\napproval_mode = \"approve\"\r\n",
        ),
        ("[mcp_servers.s.tools.t]\r\n^later = 1\r\n", "approval_mode = \"approve\"\r\n"),
        ("\u{feff}[mcp_servers.s]\ncommand = 'ä'\n^", AT_THE_END),
    ];
    for (marked, line) in rows {
        let expected = marked.replace('^', line);
        let text = marked.replace('^', "");
        assert_eq!(approved(&text, "s", "t"), Ok(Some(expected.clone())), "{marked}");
        assert_eq!(approved(&expected, "s", "t"), Ok(None), "it is there: {expected}");
    }
}

#[test]
fn a_mode_that_says_nothing_is_replaced() {
    for text in [
        "[mcp_servers.s.tools.t]\napproval_mode = ^ # mine\n",
        "[mcp_servers.s]\ntools = { t = { approval_mode = ^ } }\n",
        "[mcp_servers.s]\ndefault_tools_approval_mode = 'prompt'\ntools.t.approval_mode = ^\n",
    ] {
        let before = text.replace('^', "'auto'");
        assert_eq!(approved(&before, "s", "t"), Ok(Some(text.replace('^', "\"approve\""))), "{text}");
    }
}

#[test]
fn names_that_need_quotes_have_them() {
    let text = "[mcp_servers.s-1_A]\ncommand = 'x'\n";
    for (tool, written) in [
        ("plain-1_A", "plain-1_A"),
        ("calendar.create-event", "\"calendar.create-event\""),
        ("", "\"\""),
        ("a b", "\"a b\""),
        ("\"\\'", "\"\\\"\\\\'\""),
        ("a\nb\t\u{7f}\u{85}", "\"a\\u000Ab\\u0009\\u007F\\u0085\""),
        ("ä", "\"ä\""),
    ] {
        let expected = format!("{text}\n[mcp_servers.s-1_A.tools.{written}]\napproval_mode = \"approve\"\n");
        assert_eq!(approved(text, "s-1_A", tool), Ok(Some(expected.clone())), "{tool:?}");
        let read: Table = expected.parse().expect("TOML");
        assert_eq!(read["mcp_servers"]["s-1_A"]["tools"][tool][MODE].as_str(), Some("approve"));
    }
    let quoted = "[mcp_servers.\"a.b\"]\ncommand = 'x'\n";
    let expected = format!("{quoted}\n[mcp_servers.\"a.b\".tools.t]\napproval_mode = \"approve\"\n");
    assert_eq!(approved(quoted, "a.b", "t"), Ok(Some(expected)));
}

#[test]
fn what_says_otherwise_is_left() {
    let no_server = "it defines no MCP server `s`";
    let rows = [
        ("", no_server),
        ("[mcp_servers]\n", no_server),
        ("[mcp_servers.other]\ncommand = 's'\n", no_server),
        ("mcp_servers = 1\n", "mcp_servers holds a value and no table"),
        ("[mcp_servers]\ns = 'x'\n", "mcp_servers.s holds a value and no table"),
        ("[mcp_servers.s]\ntools = ['t']\n", "mcp_servers.s.tools holds a value and no table"),
        ("[mcp_servers.s.tools]\nt = 'approve'\n", "mcp_servers.s.tools.t holds a value and no table"),
        ("[[mcp_servers.s]]\ncommand = 'x'\n", "mcp_servers.s holds a value and no table"),
        (
            "[mcp_servers.s.tools.t]\napproval_mode = 'prompt'\n",
            "it wants the tool asked about each time (approval_mode = \"prompt\")",
        ),
        (
            "[mcp_servers.s]\ndefault_tools_approval_mode = 'prompt'\n",
            "it wants the tool asked about each time (default_tools_approval_mode = \"prompt\")",
        ),
        (
            "[mcp_servers.s.tools.t]\napproval_mode = 3\n",
            "mcp_servers.s.tools.t.approval_mode is no approval mode",
        ),
        (
            "[mcp_servers.s.tools.t]\napproval_mode = {}\n",
            "mcp_servers.s.tools.t.approval_mode is no approval mode",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(approved(text, "s", "t"), Err(expected.to_owned()), "{text}");
    }
}
