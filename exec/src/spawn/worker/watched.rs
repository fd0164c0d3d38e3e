//! What the lifeline is told.

use super::super::lifeline::Lifeline;
use super::Worker;
use crate::environment::Environment;

impl Worker {
    /// Takes note of what a process bears that was started with this environment.
    pub(super) fn note_mark(&mut self, environment: &Environment) {
        let lifeline = &mut self.lifeline;
        if let Some(mark) = self.marks.note(environment)
            && lifeline.as_mut().is_some_and(|lifeline| lifeline.marked(mark).is_err())
        {
            // The next one is told all of them.
            self.cut_lifeline();
        }
    }

    /// Tells the lifeline of a session, and starts it where there is none, or none that hears us.
    pub(super) fn tell_begun(&mut self, session: i32) {
        if self.lifeline.as_mut().is_some_and(|lifeline| lifeline.begun(session).is_ok()) {
            return;
        }
        self.cut_lifeline();
        let mut sessions = self.finished.clone();
        sessions.extend(self.running.iter().map(|slot| slot.process.pid()));
        match Lifeline::start(&sessions, &self.marks) {
            Ok(lifeline) => self.lifeline = Some(lifeline),
            Err(error) => {
                tracing::warn!(%error, "should this process be killed, some of its commands may go on");
            }
        }
    }

    pub(super) fn tell_ended(&mut self, session: i32) {
        if self.lifeline.as_mut().is_some_and(|lifeline| lifeline.ended(session).is_err()) {
            self.cut_lifeline();
        }
    }

    fn cut_lifeline(&mut self) {
        if let Some(lifeline) = self.lifeline.take() {
            lifeline.abandon();
        }
    }
}
