use pretty_assertions::assert_eq;

use super::*;

fn wanted(kind: Kind, arguments: &str) -> Result<Wanted, String> {
    let told = |error: FunctionCallError| error.text().to_owned();
    Wanted::new(kind, &parse(arguments).map_err(told)?).map_err(told)
}

#[test]
fn arguments_are_trimmed_and_checked() {
    let cases = [
        (Kind::Resources, "", Ok(Wanted::All)),
        (Kind::Templates, "null", Ok(Wanted::All)),
        (Kind::Resources, r#"{"server":" ","cursor":null}"#, Ok(Wanted::All)),
        (
            Kind::Resources,
            r#"{"server":" s ","cursor":"c"}"#,
            Ok(Wanted::OfServer { server: "s".to_owned(), cursor: Some("c".to_owned()) }),
        ),
        (Kind::Resources, r#"{"cursor":"c"}"#, Err("cursor can only be used when a server is specified")),
        (Kind::Read, "", Err("failed to parse function arguments: expected value")),
        (Kind::Read, r#"{"server":"s"}"#, Err("uri must be provided")),
        (Kind::Read, r#"{"uri":"u","server":" "}"#, Err("server must be provided")),
        (
            Kind::Read,
            r#"{"server":"s","uri":"u"}"#,
            Ok(Wanted::Resource { server: "s".to_owned(), uri: "u".to_owned() }),
        ),
        (Kind::Read, "[1]", Err("failed to parse function arguments: expected a JSON object, got an array")),
        (
            Kind::Read,
            "{bad",
            Err("failed to parse function arguments: key must be a string at line 1 column 2"),
        ),
        (
            Kind::Read,
            r#"{"server":7,"uri":"u"}"#,
            Err("failed to parse function arguments: invalid type: a number, expected a string for `server`"),
        ),
    ];
    for (kind, arguments, expected) in cases {
        assert_eq!(wanted(kind, arguments), expected.map_err(str::to_owned), "{arguments}");
    }
}
