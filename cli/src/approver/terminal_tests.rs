use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;

use portable_pty::{PtySize, native_pty_system};
use pretty_assertions::assert_eq;
use rustix::fs::OFlags;
use tenon_tools::Effects;

use super::*;
use crate::approver::testing::request;

/// Nobody has said no: the model must not be told so.
#[tokio::test]
async fn a_terminal_that_goes_away_is_no_answer() {
    let pair = native_pty_system().openpty(PtySize::default()).expect("a terminal");
    let name = pair.master.tty_name().expect("a name");
    let flags = OFlags::NOCTTY.bits().cast_signed();
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).expect("opened");
    let approver = TerminalApprover::on(terminal);
    let mut answer = approver.approve(request(Effects::none()));
    tokio::select! {
        biased;
        _ = &mut answer => panic!("nobody has answered"),
        () = std::future::ready(()) => {}
    }
    let mut screen = BufReader::new(pair.master.try_clone_reader().expect("a reader"));
    screen.read_until(b'>', &mut Vec::new()).expect("the question is there");
    drop((screen, pair));
    let failed = ApprovalDecision::Denied { reason: Some("approval request failed".to_owned()) };
    assert_eq!(answer.await, failed);
}
