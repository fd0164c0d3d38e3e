//! What still runs when the last turn of a run ends: it is ended first, so that its end is told before the turn's.

use std::sync::Arc;

use async_trait::async_trait;
use tenon_code_mode::CodeMode;
use tenon_exec::ExecService;
use tenon_tools::{BetweenTurns, TurnEnding};

/// Whether another turn follows one that is completed. Asked when one ends.
pub(crate) type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

/// Ends scripts and commands with the last turn. Whoever reads events up to that turn's end has read them all.
pub(super) struct EndsWithLastTurn {
    pub(super) exec: ExecService,
    pub(super) code_mode: Option<CodeMode>,
    pub(super) goes_on: GoesOn,
}

#[async_trait]
impl BetweenTurns for EndsWithLastTurn {
    fn take_notes(&self) -> Vec<String> {
        Vec::new()
    }

    async fn turn_ends(&self, ending: TurnEnding) {
        match ending {
            TurnEnding::Completed if (self.goes_on)() => return,
            // A turn that is not completed is the last one of its run.
            TurnEnding::Completed | TurnEnding::Failed | TurnEnding::Interrupted => {}
        }
        // Scripts first: their calls are answered before the processes of these are gone.
        if let Some(code_mode) = &self.code_mode {
            code_mode.shutdown().await;
        }
        self.exec.shutdown().await;
    }
}
