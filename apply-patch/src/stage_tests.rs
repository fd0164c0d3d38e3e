use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_temporary_file_is_never_wider_than_its_target() {
    for (mode, made) in
        [(0o644, 0o644), (0o600, 0o600), (0o400, 0o400), (0o440, 0o400), (0o664, 0o600), (0o6777, 0o777)]
    {
        assert_eq!(narrow_mode(mode), made, "{mode:o}");
    }
}

#[test]
fn whose_file_may_be_written_without_asking() {
    const ME: u32 = 1000;
    let facts = |owner, mode| Facts {
        kind: Kind::File,
        len: 0,
        mode,
        owner,
        group: 0,
        links: 1,
        identity: (0, 0),
        modified: (0, 0),
        changed: (0, 0),
        no_xattrs: false,
    };
    assert!(is_plainly_writable(&facts(ME, 0o200), ME));
    assert!(!is_plainly_writable(&facts(ME, 0o577), ME));
    assert!(!is_plainly_writable(&facts(ME + 1, 0o777), ME));
}
