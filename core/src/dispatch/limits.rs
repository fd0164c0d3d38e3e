//! Before everything else: whether the call may be made at all by now. And after it: whether it goes round in circles.

use tenon_tools::ToolOutput;

use super::{Dispatch, Stopped};

impl Dispatch {
    /// Refuses what is over a limit.
    pub(super) fn within_limits(&mut self) -> Result<(), Stopped> {
        if self.env.limits.is_off() {
            return Ok(());
        }
        let now = self.env.host.clock.now();
        let watched = self.env.limits.admit(&self.call, now).map_err(Stopped::Refused)?;
        self.watched = watched.map(Box::new);
        Ok(())
    }

    /// Looks whether the call has failed as it did before, and tells the model.
    pub(super) fn watch_repeats(&mut self, ran: &Result<Box<dyn ToolOutput>, Stopped>) {
        if let Some(watched) = self.watched.take() {
            let note = self.env.limits.ended(*watched, &self.call, failure(ran).as_deref());
            self.contexts.extend(note);
        }
    }
}

/// What went wrong, in words that are the same when it goes wrong again in the same way.
fn failure(ran: &Result<Box<dyn ToolOutput>, Stopped>) -> Option<String> {
    match ran {
        Err(Stopped::Refused(text)) => Some(text.clone()),
        Err(Stopped::Failed(error)) => Some(error.text().to_owned()),
        Ok(output) if !output.success_for_logging() => Some(output.log_preview()),
        Ok(output) => {
            // The call of a command that failed is none that failed, and yet the same thing went wrong.
            let facts = output.response_facts();
            let code = facts.exit_code.filter(|code| *code != 0)?;
            Some(format!("{code} {}", facts.whole.unwrap_or_default()))
        }
    }
}
