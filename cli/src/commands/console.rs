//! Standard error: what the operator is told beside the output.

use std::fmt;
use std::io::Write;

use crate::output::neutral;

/// Standard error.
pub(crate) struct Console(Box<dyn Write + Send>);

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

impl Console {
    /// Writes to `stderr`.
    pub(crate) fn new(stderr: Box<dyn Write + Send>) -> Self {
        Self(stderr)
    }

    /// Why the run ends: one line.
    pub(crate) fn error(&mut self, message: &str) {
        self.line("", message);
    }

    /// What the operator should know: one line. It does not end the run.
    pub(crate) fn warning(&mut self, message: &str) {
        self.line("warning: ", message);
    }

    /// A text of several lines, as it is.
    pub(crate) fn text(&mut self, text: &str) {
        // There is nobody to tell that standard error cannot be written.
        let _ = self.0.write_all(text.as_bytes()).and_then(|()| self.0.flush());
    }

    fn line(&mut self, kind: &str, message: &str) {
        let message =
            message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        self.text(&format!("tenon: {kind}{}\n", neutral(&message)));
    }
}
