use pretty_assertions::assert_eq;

use super::*;

fn line(argv: &[&str]) -> CommandLine {
    CommandLine::of(&argv.iter().map(ToString::to_string).collect::<Vec<_>>())
}

#[test]
fn plain_scripts_are_split_and_everything_else_is_whole() {
    for shell in ["bash", "/bin/bash", "zsh", "sh"] {
        for flag in ["-c", "-lc"] {
            let found = line(&[shell, flag, "a 'b c' && d *; e | f || g\nh"]);
            let words: Vec<Vec<String>> =
                found.segments.iter().map(|segment| segment.words.clone()).collect();
            assert_eq!(words, [vec!["a", "b c"], vec!["d", "*"], vec!["e"], vec!["f"], vec!["g"], vec!["h"]]);
            let certain: Vec<bool> = found.segments.iter().map(|segment| segment.certain).collect();
            assert_eq!(certain, [true, false, true, true, true, true]);
            assert!(found.split);
        }
    }
    for argv in [
        &["bash", "-c", "a $(b)"][..],
        &["bash", "-c", "a > b"],
        &["bash", "-c", "a; b &"],
        &["bash", "-c", "X=1 a"],
        &["bash", "-c", ""],
        &["bash", "-ec", "a"],
        &["bash", "-c", "a", "b"],
        &["fish", "-c", "a"],
        &["pwsh", "-Command", "a"],
        &["a", "b"],
    ] {
        let found = line(argv);
        assert_eq!((found.split, found.segments.len()), (false, 1), "{argv:?}");
        assert_eq!(found.segments[0].words, argv, "{argv:?}");
    }
}
