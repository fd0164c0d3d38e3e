//! What a cell has to say to whoever waits for it.

use std::time::Duration;

use tenon_protocol::FunctionCallOutputContentItem;

/// How a cell stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CellStatus {
    /// The script came to its end.
    Completed,
    /// It did not; [`CellReply::error`] says why.
    Failed,
    /// It was stopped by `wait`.
    Terminated,
    /// It goes on.
    Running {
        /// The cell to wait for.
        cell_id: String,
    },
}

/// A cell's answer to one `exec` or `wait` (runtime.md C7): what it has put out since the last one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellReply {
    /// How the cell stands.
    pub(crate) status: CellStatus,
    /// What it put out, in order. Nothing is merged or cut yet.
    pub(crate) items: Vec<FunctionCallOutputContentItem>,
    /// What went wrong, without the words `Script error:`.
    pub(crate) error: Option<String>,
    /// How long the call that asked has waited.
    pub(crate) wall_time: Duration,
}
