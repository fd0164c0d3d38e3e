use pretty_assertions::assert_eq;

use super::*;

fn applied(options: &[&str]) -> Table {
    let mut table = Table::new();
    for option in options {
        ConfigOverride::parse(option).expect("an option").apply(&mut table).expect("it applies");
    }
    table
}

fn table(text: &str) -> Table {
    Table::from_str(text).expect("a table")
}

#[test]
fn values_are_toml_or_else_bare_strings() {
    for (option, expected) in [
        ("n=7", "n = 7"),
        ("b=true", "b = true"),
        ("s=\"quoted\"", "s = \"quoted\""),
        ("s=bare", "s = \"bare\""),
        ("s=two words", "s = \"two words\""),
        ("s=", "s = \"\""),
        ("s = spaced ", "s = \"spaced\""),
        ("s=a=b", "s = \"a=b\""),
        ("l=[1, 2]", "l = [1, 2]"),
        ("l=[1, 2", "l = \"[1, 2\""),
        ("t={ a = 1 }", "t = { a = 1 }"),
        ("url=http://127.0.0.1:1/v1", "url = \"http://127.0.0.1:1/v1\""),
        ("m=gpt-5.5", "m = \"gpt-5.5\""),
    ] {
        assert_eq!(applied(&[option]), table(expected), "{option}");
    }
}

#[test]
fn keys_are_dotted_and_may_be_quoted() {
    assert_eq!(applied(&["a.b.c=1", "a.b.d=2"]), table("[a.b]\nc = 1\nd = 2"));
    assert_eq!(applied(&["h.\"X.Y\"=v"]), table("[h]\n\"X.Y\" = \"v\""));
    assert_eq!(applied(&["a=1", "a=2"]), table("a = 2"));
}

#[test]
fn what_is_no_key_is_refused() {
    for option in ["novalue", "=1", ".a=1", "a.=1", "a b=1", "a\nb=1", "#a=1", "[a]=1"] {
        assert!(ConfigOverride::parse(option).is_err(), "{option}");
    }
}

#[test]
fn a_value_on_the_way_is_named() {
    let mut table = table("[a]\nb = 1");
    let error = ConfigOverride::parse("a.b.c=1").expect("an option").apply(&mut table).expect_err("no table");
    assert_eq!(error, "a.b holds a value and no table");
}
