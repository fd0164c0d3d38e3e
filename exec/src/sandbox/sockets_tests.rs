use std::path::PathBuf;

use pretty_assertions::assert_eq;

use super::listed;

#[test]
fn who_listens_or_takes_letters_at_a_path_is_listed() {
    let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
        0000000000000000: 00000002 00000000 00010000 0001 01 17001 /run/listening\n\
        0000000000000000: 00000003 00000000 00000000 0001 03 17002 /run/connected\n\
        0000000000000000: 00000002 00000000 00000000 0002 01 17003 /run/letters\n\
        0000000000000000: 00000002 00000000 00010000 0001 01 17004 @abstract\n\
        0000000000000000: 00000002 00000000 00010000 0001 01 17005 relative\n\
        0000000000000000: 00000002 00000000 00000000 0002 01 17006\n\
        0000000000000000: 00000002 00000000 00010000 0005 01 17007 /run/a b\n\
        broken\n";
    assert_eq!(listed(table), ["/run/listening", "/run/letters", "/run/a b"].map(PathBuf::from));
}
