use super::*;

fn safe(line: &str, certain: bool) -> bool {
    let words = shlex::split(line).unwrap();
    is_known_safe(&Segment { words, certain, joined_by: None })
}

#[test]
fn what_only_reads() {
    for line in [
        "ls",
        "ls -la src",
        "cat a b",
        "/bin/cat a",
        "head -n 3 a",
        "grep -r x .",
        "wc -l a",
        "pwd",
        "echo a",
        "cd /",
        "find . -name '*.rs'",
        "rg x",
        "rg -l x src",
        "sed -n 3p a",
        "sed -n 1,20p a",
        "sed -n 5p",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1",
        "git show x",
        "git branch",
        "git branch -a",
        "base64 a",
        "base64 -d a",
        "uniq -c a",
        "uniq -",
        "uniq -c -- a",
        "tail -f a",
        "which x",
        "true",
    ] {
        assert!(safe(line, true), "{line}");
    }
}

#[test]
fn what_may_write_or_run() {
    for line in [
        "",
        "rm a",
        "./ls",
        "/tmp/cat a",
        "bash",
        "find . -delete",
        "find . -exec rm {} ;",
        "find . -fprint a",
        "find . -fprint0 a",
        "find . -fprintf a b",
        "find . -fls a",
        "find . -ok x ;",
        "find . -okdir x ;",
        "find . -execdir x ;",
        "rg --pre x",
        "rg --pre=x y",
        "rg -z x",
        "rg -lz x",
        "rg --search-zip x",
        "sed -n 3p a b",
        "sed 3p a",
        "sed -n 3d a",
        "sed -n 1,2w a",
        "sed -i -n 3p a",
        "sed -n 3p -i",
        "git",
        "git push",
        "git -c x=y status",
        "git -C / status",
        "git --git-dir=x log",
        "git log --output=x",
        "git diff --output x",
        "git diff --outp=x",
        "git diff --ext-diff",
        "git show --textconv",
        "git branch x",
        "git branch -D x",
        "git branch -d",
        "base64 -o x",
        "base64 --output=x",
        "base64 -do x",
        "uniq a b",
        "uniq - b",
        "uniq -- -a b",
        "uniq -c -- a b",
        "python3 x",
        "tee a",
    ] {
        assert!(!safe(line, true), "{line}");
    }
}

#[test]
fn globs_are_no_matter_where_every_argument_is_safe() {
    assert!(safe("ls *.rs", false));
    assert!(!safe("find . *", false));
    assert!(!safe("git log *", false));
}
