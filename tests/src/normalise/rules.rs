//! What varies from run to run, and the mark that stands for it.
//!
//! The rules see JSON text as [`super::python_json`] writes it: a newline in a string is `\n` there, a quote in a
//! string within a string `\\\"`. They are applied in their order, each to the result of the one before.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern and what stands in its place.
const RULES: [(&str, &str); 16] = [
    (r"Chunk ID: [0-9a-f]{6}", "Chunk ID: <chunk>"),
    (r"(Wall time: )\d+\.\d{4}( seconds)", "${1}<t>${2}"),
    (r"(Exit code: -?\d+\\+nWall time: )\d+(?:\.\d)?( seconds)", "${1}<t>${2}"),
    (r"(Wall time: )\d+\.\d( seconds\\+naborted by user)", "${1}<t>${2}"),
    (r"(Wall time )\d+\.\d( seconds)", "${1}<t>${2}"),
    (r"/dev/pts/\d+", "/dev/pts/<n>"),
    (r"(session|process) ID \d+", "${1} ID <session>"),
    (r"process id \d+", "process id <session>"),
    (r"cell ID [\w-]+", "cell ID <cell>"),
    // The quote of a string within a string, once or twice escaped, the same all through.
    (
        r#"(?:(\\\\")chunk_id\\\\":\\\\"|(\\")chunk_id\\":\\")[0-9a-f]{6}"#,
        "${1}${2}chunk_id${1}${2}:${1}${2}<chunk>",
    ),
    (r#"wall_time_seconds(\\\\?"):[0-9.e-]+"#, "wall_time_seconds${1}:<t>"),
    (r"(\\n)Stack backtrace:(\\n\s*\d+: <unknown>)+", "${1}<backtrace>"),
    (r"wd_[0-9a-f]+|01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
    (r"exec-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "<nested call>"),
    (r"after [0-9.]+m?s\b", "after <t>"),
    (r"<home>/[\w/.<>-]+\.jsonl", "<rollout>"),
];

/// Frames of a JavaScript stack, which every engine writes in its own way.
const STACK: (&str, &str) = (r#"(\\n +at [^\\"]+)+"#, r"\n<stack>");

static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    RULES.iter().chain([&STACK]).map(|(pattern, replacement)| (compile(pattern), *replacement)).collect()
});

/// An engine's own words about its own error, in JSON text, up to the quote that ends the string.
static ENGINE_ERROR: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"Script error:\\n(\w*Error)(?:[^"\\]|\\.)*"#));

#[allow(clippy::expect_used, reason = "the patterns are constants; a test compiles them all")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a rule's pattern")
}

/// The folders of one run, which become `<cwd>`, `<home>` and `<fixture>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The working folder.
    pub cwd: String,
    /// The client's home.
    pub home: String,
    /// The MCP fixture server's file.
    pub fixture: String,
}

/// JSON text with everything that varies replaced by its mark.
pub fn scrub(text: &str, places: &Places) -> String {
    let mut text = text
        .replace(&places.cwd, "<cwd>")
        .replace(&places.home, "<home>")
        .replace(&places.fixture, "<fixture>");
    for (pattern, replacement) in COMPILED.iter() {
        text = pattern.replace_all(&text, *replacement).into_owned();
    }
    text
}

/// JSON text in which an engine's own error keeps its class alone.
pub fn loosen(text: &str) -> String {
    ENGINE_ERROR.replace_all(text, r"Script error:\n${1}").into_owned()
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
