//! The files that a command line names as scripts: an approval of the line is one of their content (cases.md L4).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tenon_shell_parse::script_of;

use super::reach::reach;
use super::{CommandLine, name};

/// Programs that run the file they are given. A version may stand behind the name (`python3.12`).
const INTERPRETERS: [&str; 34] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "python",
    "pypy",
    "node",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "uv",
    "perl",
    "ruby",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "Rscript",
    "julia",
    "java",
    "groovy",
    "guile",
    "tclsh",
    "expect",
    "osascript",
    "pwsh",
    "source",
    ".",
];
/// What goes to another folder, where names lead elsewhere.
const GO: [&str; 2] = ["cd", "pushd"];
/// The folders of one line that names are looked for in.
const MAX_FOLDERS: usize = 16;

/// The files: a program given by its path, what an interpreter is given, and what a shell reads. A name is taken for one
/// in the folder of the line, and in those that the line goes to, since when it does is not known. Which of them are
/// there, nobody has looked.
pub(crate) fn named_scripts(argv: &[String], cwd: &Path) -> BTreeSet<PathBuf> {
    let line = CommandLine::of(argv);
    // The shell that the line is given to is the machine's, and no script of it.
    let shell = argv.first().filter(|_| script_of(argv).is_some());
    let (mut named, mut folders) = (BTreeSet::new(), vec![cwd.to_owned()]);
    for reached in line.segments.iter().map(|segment| reach(&segment.words)) {
        named.extend(reached.read);
        for words in reached.commands {
            let Some((Some(program), arguments)) = words.split_first() else { continue };
            let known = || arguments.iter().flatten().filter(|word| !word.starts_with('-')).cloned();
            if program.contains('/') && Some(program) != shell {
                named.insert(program.clone());
            }
            if is_interpreter(program) {
                named.extend(known());
            }
            if GO.contains(&name(program)) {
                add_folders(&mut folders, known());
            }
        }
    }
    named.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).collect()
}

/// Adds where these lead from each of the folders.
fn add_folders(folders: &mut Vec<PathBuf>, names: impl Iterator<Item = String>) {
    for name in names {
        let led: Vec<PathBuf> = folders.iter().map(|folder| folder.join(&name)).collect();
        folders.extend(led);
    }
    folders.truncate(MAX_FOLDERS);
}

fn is_interpreter(program: &str) -> bool {
    let name = name(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || program == "."
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
