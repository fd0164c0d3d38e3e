use pretty_assertions::assert_eq;

use super::*;
use crate::shell::ShellKind;
use crate::testing::environment;

#[test]
fn the_users_shell_can_be_given() {
    let config = ExecConfig { user_shell: Some("/bin/sh".into()), ..ExecConfig::new(environment()) };
    let shell = ExecService::new(config).user_shell();
    assert_eq!(shell, Shell { kind: ShellKind::Sh, path: "/bin/sh".into() });
}

#[test]
fn without_it_the_password_file_decides() {
    let found = ExecService::new(ExecConfig::new(environment())).user_shell();
    if let Some(own) = own_shell().filter(|own| ShellKind::of(own).is_some()) {
        assert_eq!(found.path, own);
    }
    assert!(found.path.is_absolute());
}

#[test]
fn the_tools_are_two() {
    let tools = ExecService::new(ExecConfig::new(environment())).tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name().name().to_owned()).collect();
    assert_eq!(names, ["exec_command", "write_stdin"]);
}
