//! The cells of a session that can be waited for, by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenon_tools::FunctionCallError;
use tokio_util::task::TaskTracker;

use super::cell::Cell;
use crate::limits::MAX_IDLE_CELLS;

/// The registered cells.
#[derive(Default)]
pub(super) struct Cells {
    registered: Mutex<Registered>,
    /// Stops cells that were freed.
    freeing: TaskTracker,
}

#[derive(Default)]
struct Registered {
    last_id: u64,
    by_id: HashMap<String, Entry>,
    /// Counts how often a cell was left alone.
    left_alone: u64,
    shuts_down: bool,
}

struct Entry {
    cell: Arc<Cell>,
    /// When it was left alone; none while somebody waits for it.
    idle_since: Option<u64>,
}

impl Cells {
    /// Registers the cell that `make` makes for the next id. Where `room` cells are registered, the one that was left
    /// alone for the longest time is freed.
    ///
    /// # Errors
    /// When nothing can be freed, or no cell is registered any more.
    pub(super) fn add(
        &self,
        room: usize,
        make: impl FnOnce(String) -> Arc<Cell>,
    ) -> Result<Arc<Cell>, FunctionCallError> {
        let mut registered = self.lock();
        if registered.shuts_down {
            return Err("code mode session is shutting down".into());
        }
        while registered.by_id.len() >= room {
            let Some(oldest) = registered.take_oldest_idle() else {
                return Err(FunctionCallError::respond(format!(
                    "exec is refused: {} scripts run or were left alone, and their memory is all that a session may use",
                    registered.by_id.len()
                )));
            };
            self.free(oldest);
        }
        let id = registered.last_id.checked_add(1).ok_or("code mode session exhausted its cell ID space")?;
        registered.last_id = id;
        let cell = make(id.to_string());
        registered.by_id.insert(cell.id.clone(), Entry { cell: Arc::clone(&cell), idle_since: None });
        Ok(cell)
    }

    /// Ids go on after this number, if they are not further already.
    pub(super) fn number_after(&self, number: u64) {
        let mut registered = self.lock();
        registered.last_id = registered.last_id.max(number);
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Cell>> {
        self.lock().by_id.get(id).map(|entry| Arc::clone(&entry.cell))
    }

    pub(super) fn remove(&self, id: &str) {
        self.lock().by_id.remove(id);
    }

    pub(super) fn is_watched(&self, id: &str) {
        if let Some(entry) = self.lock().by_id.get_mut(id) {
            entry.idle_since = None;
        }
    }

    /// The cell is left alone. Where more are than may be, the one that was for the longest time is freed.
    pub(super) fn is_idle(&self, id: &str) {
        let freed = {
            let mut registered = self.lock();
            let now = registered.left_alone + 1;
            let Some(entry) = registered.by_id.get_mut(id) else { return };
            entry.idle_since = Some(now);
            registered.left_alone = now;
            registered.take_one_too_many()
        };
        if let Some(cell) = freed {
            self.free(cell);
        }
    }

    fn free(&self, cell: Arc<Cell>) {
        let runtime = cell.runtime.clone();
        self.freeing.spawn_on(async move { drop(cell.terminate().await) }, &runtime);
    }

    /// Takes all cells out; no further one is registered.
    pub(super) fn close(&self) -> Vec<Arc<Cell>> {
        let mut registered = self.lock();
        registered.shuts_down = true;
        std::mem::take(&mut registered.by_id).into_values().map(|entry| entry.cell).collect()
    }

    /// Waits until the cells that were freed have stopped.
    pub(super) async fn freed(&self) {
        self.freeing.close();
        self.freeing.wait().await;
    }

    pub(super) fn len(&self) -> usize {
        self.lock().by_id.len()
    }

    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    fn take_one_too_many(&mut self) -> Option<Arc<Cell>> {
        let idle = self.by_id.values().filter(|entry| entry.idle_since.is_some()).count();
        if idle > MAX_IDLE_CELLS { self.take_oldest_idle() } else { None }
    }

    fn take_oldest_idle(&mut self) -> Option<Arc<Cell>> {
        let idle = self.by_id.iter().filter_map(|(id, entry)| Some((entry.idle_since?, id)));
        let oldest = idle.min()?.1.clone();
        self.by_id.remove(&oldest).map(|entry| entry.cell)
    }
}
