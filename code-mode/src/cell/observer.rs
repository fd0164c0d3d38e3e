//! Who waits for a cell: at most one at a time, and however they stop waiting, the cell is left in order.

use std::sync::{Arc, Weak};

use super::cell::{Busy, Cell};
use super::cells::Cells;

/// The one observer of a cell. Dropped, the cell is idle, unless it was taken out of the session before.
pub(super) struct Observer {
    cell: Arc<Cell>,
    cells: Weak<Cells>,
}

impl Observer {
    pub(super) fn attach(cell: Arc<Cell>, cells: &Arc<Cells>, terminates: bool) -> Result<Self, Busy> {
        cell.attach(terminates)?;
        cells.is_watched(&cell.id);
        Ok(Self { cell, cells: Arc::downgrade(cells) })
    }

    pub(super) fn cell(&self) -> &Arc<Cell> {
        &self.cell
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.cell.detach();
        if let Some(cells) = self.cells.upgrade() {
            cells.is_idle(&self.cell.id);
        }
    }
}
