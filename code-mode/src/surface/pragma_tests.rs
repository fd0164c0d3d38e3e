use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn parsed(code: &str, yield_time_ms: Option<u64>, max_output_tokens: Option<usize>) -> ScriptSource {
    ScriptSource { code: code.to_owned(), yield_time_ms, max_output_tokens }
}

#[test]
fn scripts_and_wishes() {
    let rows = [
        ("text(1)", parsed("text(1)", None, None)),
        ("\n\ntext(1)\n", parsed("\n\ntext(1)\n", None, None)),
        ("// @exec: {}\ntext(1)", parsed("\ntext(1)", None, None)),
        ("// @exec: {\"yield_time_ms\": 0}\ntext(1)", parsed("\ntext(1)", Some(0), None)),
        (" \t// @exec:{\"max_output_tokens\":20}\r\ntext(1)\r\n", parsed("\ntext(1)\r\n", None, Some(20))),
        (
            "// @exec: {\"yield_time_ms\": 9007199254740991, \"max_output_tokens\": 9007199254740991}\nx",
            parsed("\nx", Some(9_007_199_254_740_991), Some(9_007_199_254_740_991)),
        ),
        ("// @exec: {\"yield_time_ms\": null}\nx", parsed("\nx", None, None)),
        // Only the very first line is one of wishes, and only in exactly this form.
        ("\n// @exec: {bad}\nx", parsed("\n// @exec: {bad}\nx", None, None)),
        ("//@exec: {bad}\nx", parsed("//@exec: {bad}\nx", None, None)),
        ("x // @exec: {bad}\ny", parsed("x // @exec: {bad}\ny", None, None)),
        // Neither fences nor JSON are taken off.
        ("```js\ntext(1)\n```", parsed("```js\ntext(1)\n```", None, None)),
        ("{\"code\": \"text(1)\"}", parsed("{\"code\": \"text(1)\"}", None, None)),
    ];
    for (input, expected) in rows {
        assert_eq!(parse_source(input), Ok(expected), "{input:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let blank = "exec expects raw JavaScript source text (non-empty). Provide JS only, optionally with first-line \
                 `// @exec: {\"yield_time_ms\": 10000, \"max_output_tokens\": 1000}`.";
    let below = "exec pragma must be followed by JavaScript source on subsequent lines";
    let object =
        "exec pragma must be a JSON object with supported fields `yield_time_ms` and `max_output_tokens`";
    let json =
        "exec pragma must be valid JSON with supported fields `yield_time_ms` and `max_output_tokens`: ";
    let integers =
        "exec pragma fields `yield_time_ms` and `max_output_tokens` must be non-negative safe integers: ";
    let rows = [
        ("", blank.to_owned()),
        (" \n\t\r\n", blank.to_owned()),
        ("// @exec: {\"yield_time_ms\": 1}", below.to_owned()),
        ("// @exec: {\"yield_time_ms\": 1}\n \n", below.to_owned()),
        ("// @exec: {bad}", below.to_owned()),
        ("// @exec:\nx", object.to_owned()),
        ("// @exec:  \r\nx", object.to_owned()),
        ("// @exec: 7\nx", object.to_owned()),
        ("// @exec: [1]\nx", object.to_owned()),
        ("// @exec: null\nx", object.to_owned()),
        ("// @exec: {bad}\nx", format!("{json}key must be a string at line 1 column 2")),
        ("// @exec: {} {}\nx", format!("{json}trailing characters at line 1 column 4")),
        (
            "// @exec: {\"yield_time_ms\": 1, \"nope\": 1}\nx",
            "exec pragma only supports `yield_time_ms` and `max_output_tokens`; got `nope`".to_owned(),
        ),
        (
            "// @exec: {\"yield_time_ms\": \"1\"}\nx",
            format!("{integers}invalid type: string \"1\", expected u64"),
        ),
        (
            "// @exec: {\"yield_time_ms\": -1}\nx",
            format!("{integers}invalid value: integer `-1`, expected u64"),
        ),
        (
            "// @exec: {\"max_output_tokens\": 1.5}\nx",
            format!("{integers}invalid type: floating point `1.5`, expected usize"),
        ),
        (
            "// @exec: {\"yield_time_ms\": 9007199254740992}\nx",
            "exec pragma field `yield_time_ms` must be a non-negative safe integer".to_owned(),
        ),
        (
            "// @exec: {\"max_output_tokens\": 9007199254740992}\nx",
            "exec pragma field `max_output_tokens` must be a non-negative safe integer".to_owned(),
        ),
    ];
    for (input, expected) in rows {
        let error = parse_source(input).unwrap_err().to_string();
        assert_eq!(error, expected, "{input:?}");
    }
}

proptest! {
    #[test]
    fn lines_keep_their_numbers(wishes in 0u64..1 << 53, script in "[a-z;\n]{1,40}") {
        prop_assume!(!script.trim().is_empty());
        let input = format!("// @exec: {{\"yield_time_ms\": {wishes}}}\n{script}");
        let source = parse_source(&input).unwrap();
        prop_assert_eq!(source.yield_time_ms, Some(wishes));
        let below = |text: &str| text.split('\n').skip(1).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(below(&source.code), below(&input));
    }

    #[test]
    fn any_text_is_answered(input in "(// @exec:)?\\PC{0,20}\n?\\PC{0,20}") {
        match parse_source(&input) {
            Ok(source) => prop_assert!(!source.code.trim().is_empty()),
            Err(error) => prop_assert!(error.to_string().starts_with("exec ")),
        }
    }
}
