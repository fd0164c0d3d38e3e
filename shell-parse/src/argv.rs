//! The script inside a shell's argument vector.

/// The family a shell belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// `bash`, `zsh` or `sh` with `-c` or `-lc`.
    Posix,
    /// `pwsh` or `powershell` with `-Command`.
    PowerShell,
    /// `cmd` with `/c`.
    Cmd,
}

/// A shell started to run one script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellScript<'a> {
    /// Which kind of shell.
    pub shell: Shell,
    /// The script's text.
    pub script: &'a str,
}

/// Recognises `[bash|zsh|sh, -lc|-c, script]`, `[pwsh|powershell, [-NoProfile,] -Command, script]`
/// and `[cmd, /c, script]`; the program may be given by any path (runtime.md A8.1). Flags of the
/// last two are compared without case.
#[must_use]
pub fn script_of(argv: &[String]) -> Option<ShellScript<'_>> {
    let (program, arguments) = argv.split_first()?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (shell, script) = match (family(program)?, &arguments[..]) {
        (Shell::Posix, ["-lc" | "-c", script]) => (Shell::Posix, *script),
        (Shell::PowerShell, [flag, script]) if is(flag, "-Command") => (Shell::PowerShell, *script),
        (Shell::PowerShell, [first, flag, script]) if is(first, "-NoProfile") && is(flag, "-Command") => {
            (Shell::PowerShell, *script)
        }
        (Shell::Cmd, [flag, script]) if is(flag, "/c") => (Shell::Cmd, *script),
        _ => return None,
    };
    Some(ShellScript { shell, script })
}

fn is(flag: &str, expected: &str) -> bool {
    flag.eq_ignore_ascii_case(expected)
}

fn family(program: &str) -> Option<Shell> {
    let name = program.rsplit(['/', '\\']).next()?;
    match name.strip_suffix(".exe").unwrap_or(name) {
        "bash" | "zsh" | "sh" => Some(Shell::Posix),
        "pwsh" | "powershell" => Some(Shell::PowerShell),
        "cmd" => Some(Shell::Cmd),
        _ => None,
    }
}

#[cfg(test)]
#[path = "argv_tests.rs"]
mod tests;
