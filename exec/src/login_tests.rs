use pretty_assertions::assert_eq;

use super::*;
use crate::ids::IdSource;
use crate::shell::ShellKind;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn get<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(OsStr::new(name)).and_then(|value| value.to_str())
}

#[test]
fn reads_what_stands_after_the_mark() {
    let printed = b"welcome\nA=noise\0\0tenon: environment\0A=1\0B=x=y\nz\0C=\0";
    assert_eq!(parse(printed), Some(environment(&[("A", "1"), ("B", "x=y\nz"), ("C", "")])));
    assert_eq!(parse(b"\0tenon: environment\0"), Some(Environment::new()));
    assert_eq!(parse(b"A=1\0"), None);
    assert_eq!(parse(b"\0tenon: environment\0env: not found\n\0"), None);
}

#[test]
fn the_hosts_path_comes_first_and_whole() {
    let joined = |first: &str, second: &str| joined_path(OsStr::new(first), OsStr::new(second));
    assert_eq!(
        joined("/venv/bin:/usr/bin", "/opt/bin:/usr/bin:/bin"),
        Some("/venv/bin:/usr/bin:/opt/bin:/bin".into())
    );
    assert_eq!(joined("/usr/bin", "/usr/bin"), Some("/usr/bin".into()));
}

#[test]
fn the_steps_policy_holds_for_the_profile_too() {
    let from = environment(&[("PATH", "/host"), ("PWD", "/old"), ("SET", "policy")]);
    let captured = environment(&[
        ("PATH", "/profile:/host"),
        ("PWD", "/"),
        ("SHLVL", "1"),
        ("_", "/usr/bin/env"),
        ("PAGER", "less"),
        ("MY_TOKEN", "x"),
        ("SET", "profile"),
        ("EXCLUDED", "x"),
        ("FROM_PROFILE", "yes"),
    ]);
    let mut step = StepContext { sandbox: tenon_tools::SandboxPolicy::ReadOnly, ..StepContext::default() };
    step.environment.inherit = EnvironmentInherit::None;
    step.environment.exclude = vec!["EXCLUDED".to_owned()];
    step.environment.set = [("SET".to_owned(), "policy".to_owned())].into();
    let made = login_environment(&captured, &from, &step).expect("valid patterns");
    assert_eq!(get(&made, "PATH"), Some("/host:/profile"));
    assert_eq!(get(&made, "PWD"), Some("/old"));
    assert_eq!(get(&made, "PAGER"), Some("cat"));
    assert_eq!(get(&made, "SET"), Some("policy"));
    assert_eq!(get(&made, "FROM_PROFILE"), Some("yes"));
    for gone in ["SHLVL", "_", "MY_TOKEN", "EXCLUDED"] {
        assert_eq!(get(&made, gone), None, "{gone}");
    }
}

struct Home {
    folder: tempfile::TempDir,
    store: Arc<Store>,
    logins: LoginEnvironments,
}

impl Home {
    /// A home folder with this profile.
    fn new(profile: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".bash_profile"), profile).expect("written");
        Self {
            folder,
            store: Arc::new(Store::new(IdSource::Random, false)),
            logins: LoginEnvironments::default(),
        }
    }

    async fn captured(&self, extra: &[(&str, &str)]) -> Option<Environment> {
        let mut from = crate::testing::environment();
        from.insert("HOME".into(), self.folder.path().into());
        from.extend(environment(extra));
        let shell = Shell { kind: ShellKind::Bash, path: "/bin/bash".into() };
        tokio::time::timeout(crate::testing::LONG, self.logins.of(&self.store, &shell, &from, None))
            .await
            .expect("in time")
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("runs")).unwrap_or_default().lines().count()
    }
}

#[tokio::test]
async fn a_profile_is_run_once_for_each_environment() {
    let home = Home::new("echo noise; echo run >> ~/runs; export MADE=\"by $WHO\"");
    let first = home.captured(&[("WHO", "one")]).await.expect("captured");
    assert_eq!(get(&first, "MADE"), Some("by one"));
    assert_eq!(home.captured(&[("WHO", "one")]).await, Some(first));
    assert_eq!(home.runs(), 1);
    let other = home.captured(&[("WHO", "two")]).await.expect("captured");
    assert_eq!(get(&other, "MADE"), Some("by two"));
    assert_eq!(home.runs(), 2);
}

#[tokio::test]
async fn calls_that_come_meanwhile_wait_for_the_same_answer() {
    let home = Home::new("echo run >> ~/runs; sleep 0.3; export MADE=yes");
    let (one, two, three) = tokio::join!(home.captured(&[]), home.captured(&[]), home.captured(&[]));
    assert_eq!(one.as_ref().and_then(|made| get(made, "MADE")), Some("yes"));
    assert_eq!((&one, &one), (&two, &three));
    assert_eq!(home.runs(), 1);
}

#[tokio::test]
async fn a_call_that_is_dropped_does_not_cut_the_profile_short() {
    let home =
        Home::new("mkfifo ~/fifo; echo run >> ~/runs; read _ < ~/fifo; echo end >> ~/runs; export MADE=yes");
    let fifo = home.folder.path().join("fifo");
    {
        let waiting = home.captured(&[]);
        tokio::pin!(waiting);
        let released = tokio::task::spawn_blocking(move || {
            while !fifo.exists() {
                std::thread::yield_now();
            }
            fifo
        });
        let fifo = tokio::select! {
            made = &mut waiting => panic!("answered before it was released: {made:?}"),
            fifo = released => fifo.expect("joined"),
        };
        tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n"));
    }
    let made = home.captured(&[]).await.expect("captured");
    assert_eq!(get(&made, "MADE"), Some("yes"));
    assert_eq!(home.runs(), 2);
}

#[tokio::test]
async fn a_profile_that_fails_is_not_asked_again() {
    let home = Home::new("echo run >> ~/runs; exit 3");
    assert_eq!(home.captured(&[]).await, None);
    assert_eq!(home.captured(&[]).await, None);
    assert_eq!(home.runs(), 1);
}

#[tokio::test]
async fn only_so_many_are_kept() {
    let home = Home::new("echo run >> ~/runs");
    for name in 0..=MAX_KEPT {
        home.captured(&[("WHO", &name.to_string())]).await.expect("captured");
    }
    assert_eq!(home.runs(), MAX_KEPT + 1);
    home.captured(&[("WHO", "1")]).await.expect("captured");
    assert_eq!(home.runs(), MAX_KEPT + 1);
    home.captured(&[("WHO", "0")]).await.expect("captured");
    assert_eq!(home.runs(), MAX_KEPT + 2, "the oldest had to go");
}
