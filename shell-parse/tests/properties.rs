//! No script panics, and what is called plain survives quoting.

use proptest::prelude::*;
use tenon_shell_parse::{commands_within, plain_command_list, whole_script_heredoc};

/// Scripts made of the pieces a shell cares about.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("apply_patch".to_owned()),
        Just("cd ".to_owned()),
        Just("<<EOF\n".to_owned()),
        Just("\nEOF\n".to_owned()),
        Just(" && ".to_owned()),
        Just(" | ".to_owned()),
        Just("$(".to_owned()),
        Just(")".to_owned()),
        Just("'".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("`".to_owned()),
        Just(";".to_owned()),
        "[ -~]{0,6}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_script_panics(script in shellish()) {
        let _ = plain_command_list(&script);
        let _ = whole_script_heredoc(&script);
        let _ = commands_within(&script);
    }

    #[test]
    fn no_text_panics(script in any::<String>()) {
        let _ = plain_command_list(&script);
        let _ = whole_script_heredoc(&script);
        let _ = commands_within(&script);
    }

    /// Who looks for all commands finds at least those of a plain list.
    #[test]
    fn plain_commands_are_found(script in shellish()) {
        let Some(list) = plain_command_list(&script) else { return Ok(()) };
        let plain: Vec<Vec<Option<String>>> =
            list.into_iter().map(|command| command.words.into_iter().map(Some).collect()).collect();
        let found: Vec<_> = commands_within(&script).commands.into_iter().map(|command| command.words).collect();
        prop_assert_eq!(found, plain);
    }

    /// Single quotes keep everything but themselves.
    #[test]
    fn quoted_words_come_back(words in prop::collection::vec("[^'\\x00\\r]{0,12}", 1..5)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let list = plain_command_list(&format!("run {}", quoted.join(" "))).expect("plain");
        prop_assert_eq!(&list[0].words[1..], &words[..]);
        prop_assert!(!list[0].expands);
    }

    /// A body without the delimiter comes back whole but for its trailing newlines.
    #[test]
    fn bodies_come_back(lines in prop::collection::vec("[ -~\\t]{0,20}", 0..8)) {
        prop_assume!(lines.iter().all(|line| line != "THE_END"));
        let body = lines.join("\n");
        let script = format!("apply_patch <<'THE_END'\n{body}\nTHE_END\n");
        let call = whole_script_heredoc(&script).expect("recognised");
        prop_assert_eq!(call.body, body.trim_end_matches('\n'));
    }
}
