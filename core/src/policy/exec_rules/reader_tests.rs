use std::path::Path;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::rule::{HostExecutable, NetworkRule, PatternWord, PrefixRule};
use super::Position;
use crate::policy::{Decision, ExecRules};

fn rules(text: &str) -> ExecRules {
    ExecRules::read(text, Path::new("x.rules")).unwrap()
}

fn error(text: &str) -> String {
    ExecRules::read(text, Path::new("x.rules")).unwrap_err().to_string()
}

#[test]
fn a_file_of_all_calls() {
    let text = r#"
# What git may do.
prefix_rule(
    pattern = ["git", ["status", 'log']],   # either
    decision = "allow",
    match = ["git status -sb", ["git", "log", "a b"]],
    not_match = ["git push", ["git"]],
)
prefix_rule(pattern=["rm"], decision="forbidden", justification="use \"trash\"\n")
host_executable(name = "git", paths = ["/usr/bin/git"]); network_rule(host="example.org", protocol="https", decision="prompt")
"#;
    let read = rules(text);
    let [git, rm] = read.prefixes() else { panic!("{read:?}") };
    let words: Vec<&[String]> = git.pattern().iter().map(PatternWord::alternatives).collect();
    assert_eq!(words, [&["git".to_owned()][..], &["status".to_owned(), "log".to_owned()]]);
    assert_eq!((git.decision(), git.justification()), (Decision::Allow, None));
    assert_eq!((rm.decision(), rm.justification()), (Decision::Forbidden, Some("use \"trash\"\n")));
    let [host] = read.networks() else { panic!("{read:?}") };
    assert_eq!((host.host(), host.protocol(), host.decision()), ("example.org", "https", Decision::Prompt));
}

#[test]
fn allow_is_what_a_rule_says_that_does_not_say() {
    assert_eq!(rules("prefix_rule(pattern=['ls'])").prefixes()[0].decision(), Decision::Allow);
    assert_eq!(rules(""), ExecRules::default());
    assert_eq!(rules("# nothing\n\n"), ExecRules::default());
}

#[test]
fn everything_else_is_an_error_with_its_place() {
    let rows = [
        ("prefix_rule = 'a'", "1:13: expected `(`, found `=`"),
        (
            "x = 'a'",
            "1:1: `x` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        (
            "foo(1)",
            "1:1: `foo` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        (
            "\n  prefix_rule(1)",
            "2:15: expected an argument by its name, as in `pattern = ...`, found `1`, which has no meaning in a rule file",
        ),
        (
            "+",
            "1:1: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone, found `+`, which has no meaning in a rule file",
        ),
        (
            "\n\n  allow(['ls'])",
            "3:3: `allow` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        (
            "rule(pattern=['a'])",
            "1:1: `rule` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        ("prefix_rule", "1:1: expected a call: `(` is missing behind the name"),
        ("prefix_rule\n(pattern=['a'])", "1:12: expected `(`, found the end of the line"),
        ("prefix_rule()", "1:1: `pattern` is missing"),
        ("prefix_rule(", "1:12: the file ends where an argument or `)` is expected"),
        (
            "prefix_rule(pattern=['a']) host_executable()",
            "1:28: expected the end of the line, found `host_executable`",
        ),
        ("prefix_rule(['a'])", "1:13: expected an argument by its name, as in `pattern = ...`, found `[`"),
        ("prefix_rule(pattern='a')", "1:21: `pattern` is a list"),
        ("prefix_rule(pattern=[])", "1:21: an empty pattern would match every command"),
        ("prefix_rule(pattern=['a', []])", "1:27: a list of no alternatives would match no command"),
        ("prefix_rule(pattern=['a', ''])", "1:27: an empty word is no part of a pattern"),
        ("prefix_rule(pattern=['a', [['b']]])", "1:28: expected a string, found a list"),
        (
            "prefix_rule(pattern=['a'] + ['b'])",
            "1:27: expected `,` or `)`, found `+`, which has no meaning in a rule file",
        ),
        ("prefix_rule(pattern=[a])", "1:22: expected a string or a list, found `a`"),
        ("prefix_rule(pattern=['a' 'b'])", "1:26: expected `,` or `]`, found the string \"b\""),
        ("prefix_rule(pattern=['a'] decision='allow')", "1:27: expected `,` or `)`, found `decision`"),
        ("prefix_rule(pattern=['a'], pattern=['b'])", "1:28: `pattern` is given twice"),
        ("prefix_rule(pattern=['a'], why='b')", "1:32: `why` is no argument of this call"),
        (
            "prefix_rule(pattern=['a'], decision='deny')",
            "1:37: the decision \"deny\" is unknown: \"allow\", \"prompt\" or \"forbidden\"",
        ),
        ("prefix_rule(pattern=['a'], justification=' ')", "1:42: the justification is blank"),
        ("prefix_rule(pattern=['a'], match=['b'])", "1:35: match: the rule does not match `b`"),
        ("prefix_rule(pattern=['a'], match=[\n['a b']])", "2:1: match: the rule does not match `'a b'`"),
        (
            "prefix_rule(pattern=['a'], not_match=['a \"b c\"'])",
            "1:39: not_match: the rule does match `a 'b c'`",
        ),
        ("prefix_rule(pattern=['a'], match=['a \"b'])", "1:35: this example is no line of a shell"),
        ("prefix_rule(pattern=['a'], match=[''])", "1:35: an empty example"),
        ("prefix_rule(pattern=['a\n'])", "1:22: this string is not closed on its line"),
        ("prefix_rule(pattern=['a", "1:22: this string is not closed on its line"),
        (
            "prefix_rule(pattern=['ä\\x'])",
            "1:24: `\\x` is no escape that is read: \\\\, \\\", \\', \\n, \\r and \\t are",
        ),
        (
            "load('x')\n",
            "1:1: `load` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        (
            "for x in y",
            "1:1: `for` is unknown: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone",
        ),
        ("prefix_rule x", "1:13: expected `(`, found `x`"),
        (
            "'a'",
            "1:1: a rule file holds calls of prefix_rule(...), host_executable(...) and network_rule(...) alone, found the string \"a\"",
        ),
        (
            "host_executable(name='a/b', paths=[])",
            "1:22: `name` is the bare name of a program, without a path",
        ),
        ("host_executable(name='a', paths=['b'])", "1:34: a path of `paths` is absolute"),
        ("network_rule(host='a', protocol='https')", "1:1: `decision` is missing"),
        ("network_rule(host=' ', protocol='https', decision='allow')", "1:19: `host` is blank"),
        ("prefix_rule(pattern=[[[[[[[[['a']]]]]]]]])", "1:29: lists are nested too deeply"),
    ];
    for (text, expected) in rows {
        assert_eq!(error(text), format!("x.rules:{expected}"), "{text}");
    }
}

/// A string as a file holds it.
fn quoted(text: &str, quote: char) -> String {
    let one = |c: char| match c {
        '\n' => "\\n".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c == quote => format!("\\{c}"),
        c => c.to_string(),
    };
    format!("{quote}{}{quote}", text.chars().map(one).collect::<String>())
}

fn list(words: &[String], quote: char, comma: &str) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word, quote)).collect();
    format!("[{}{}]", words.join(","), if words.is_empty() { "" } else { comma })
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Prompt => "prompt",
        Decision::Forbidden => "forbidden",
    }
}

/// Rules as a file, in one of two hands: narrow, or with blanks, line ends and comments wherever they mean nothing.
fn printed(rules: &ExecRules, wide: bool) -> String {
    let (quote, blank, comma) = if wide { ('\'', "\n  # ( ' \n ", " , ") } else { ('"', "", "") };
    let call = |name: &str, arguments: Vec<String>| {
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| format!("{blank}{argument}")).collect();
        format!("{name}({}{comma}{blank})", arguments.join(",")) + if wide { " # \"\n;\r\n" } else { "\n" }
    };
    let why = |why: Option<&str>| why.map(|why| format!("justification={}", quoted(why, quote)));
    let prefixes = rules.prefixes.iter().map(|rule| {
        let pattern = rule.pattern.iter().map(|word| match &word.0[..] {
            [only] if !wide => quoted(only, quote),
            several => list(several, quote, comma),
        });
        let pattern = format!("pattern = [{}]", pattern.collect::<Vec<_>>().join(","));
        let decision = format!("decision={}", quoted(word(rule.decision), quote));
        call("prefix_rule", [pattern, decision].into_iter().chain(why(rule.justification())).collect())
    });
    let hosts = rules.executables.iter().map(|host| {
        let paths = format!("paths={}", list(&host.paths, quote, comma));
        call("host_executable", vec![format!("name={}", quoted(&host.name, quote)), paths])
    });
    let networks = rules.networks.iter().map(|rule| {
        let of = |name: &str, text: &str| format!("{name} ={}", quoted(text, quote));
        let named =
            [of("host", &rule.host), of("protocol", &rule.protocol), of("decision", word(rule.decision))];
        call("network_rule", named.into_iter().chain(why(rule.justification())).collect())
    });
    prefixes.chain(hosts).chain(networks).collect()
}

/// Any rules that a file can hold.
fn any_rules() -> impl Strategy<Value = ExecRules> {
    let text = || "(?s:.{1,5})|[a-z'\"\\\\\n\r\t#()\\[\\],=;]{1,5}";
    let decision = || prop::sample::select(vec![Decision::Allow, Decision::Prompt, Decision::Forbidden]);
    let why = || prop::option::of("[a-z'\"\\\\\n]{0,4}[a-z]");
    let words = prop::collection::vec(text(), 1..3).prop_map(PatternWord);
    let prefix = (prop::collection::vec(words, 1..4), decision(), why())
        .prop_map(|(pattern, decision, justification)| PrefixRule { pattern, decision, justification });
    let host = ("[a-z'\" ]{1,5}", prop::collection::vec("/[a-z'\" /]{0,5}", 0..3))
        .prop_map(|(name, paths)| HostExecutable { name, paths });
    let network = ("[a-z'\\\\]{1,5}", text(), decision(), why()).prop_map(
        |(host, protocol, decision, justification)| NetworkRule { host, protocol, decision, justification },
    );
    let all = (
        prop::collection::vec(prefix, 0..4),
        prop::collection::vec(host, 0..2),
        prop::collection::vec(network, 0..2),
    );
    all.prop_map(|(prefixes, executables, networks)| ExecRules { prefixes, executables, networks })
}

/// Whether a place lies in a text: on a character, or behind the last one of a line.
fn is_in(at: Position, text: &str) -> bool {
    let line = text.split('\n').nth(at.line as usize - 1);
    line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&(at.column as usize)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "(prefix_rule|[(]|[)]|\\[|\\]|,|=|'|\"|\\\\|\n|pattern|match|[ -~]|ä){0,40}") {
        if let Err(error) = ExecRules::read(&text, Path::new("x")) {
            prop_assert!(error.position().is_some_and(|at| is_in(at, &text)), "{}", error);
        }
    }

    /// Rules that are printed are the same when they are read, however they are printed.
    #[test]
    fn what_is_printed_is_read(rules in any_rules(), wide in any::<bool>()) {
        let text = printed(&rules, wide);
        prop_assert_eq!(ExecRules::read(&text, Path::new("x")), Ok(rules), "{}", text);
    }

    /// A file with a fault in it is refused with the place, or means the same when it is printed and read again.
    #[test]
    fn a_changed_file_is_refused_with_its_place_or_means_something(
        rules in any_rules(),
        wide in any::<bool>(),
        place in any::<prop::sample::Index>(),
        cut in 0..3_usize,
        put in "(match=\\['a'\\],|[a-z'\"\\\\\n#()\\[\\],=;]|[+]|\u{feff}|ä){0,2}",
    ) {
        let letters: Vec<char> = printed(&rules, wide).chars().collect();
        let place = place.index(letters.len() + 1);
        let (before, rest) = letters.split_at(place);
        let text: String = before.iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(rest.iter().skip(cut)).collect();
        match ExecRules::read(&text, Path::new("x")) {
            Ok(read) => {
                prop_assert_eq!(ExecRules::read(&printed(&read, !wide), Path::new("x")), Ok(read));
            }
            Err(error) => prop_assert!(error.position().is_some_and(|at| is_in(at, &text)), "{} in {:?}", error, text),
        }
    }
}
