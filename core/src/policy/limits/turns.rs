//! What was counted in each turn: a call of an older turn, which a cell in the background still makes, counts for that
//! one.

use std::collections::{HashMap, VecDeque};

use super::repeats::Repeats;

/// Turns that are counted apart. Beyond, the one that has not begun a call for the longest time is forgotten: should it
/// make one after all, its counts begin anew.
pub(super) const MAX_TURNS: usize = 64;

/// The counts of one turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    id: String,
    /// No other turn has it, and none that begins anew.
    number: u64,
    pub(super) calls: u32,
    pub(super) calls_by_tool: HashMap<String, u32>,
    pub(super) repeats: Repeats,
}

impl Turn {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// The turns that are counted, the one that has begun a call last at the end.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turns: VecDeque<Turn>,
    begun: u64,
}

impl Turns {
    /// Begins a call of a turn, the counts of which begin with its first one.
    pub(super) fn begin<T>(&mut self, id: &str, call: impl FnOnce(&mut Turn) -> T) -> T {
        let known = self.turns.iter().position(|turn| turn.id == id);
        let known = known.and_then(|place| self.turns.remove(place));
        let mut turn = known.unwrap_or_else(|| {
            self.begun = self.begun.wrapping_add(1);
            Turn { id: id.to_owned(), number: self.begun, ..Turn::default() }
        });
        let value = call(&mut turn);
        if self.turns.len() >= MAX_TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(turn);
        value
    }

    /// The turn of a call that has begun; none where it is forgotten.
    pub(super) fn numbered(&mut self, number: u64) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|turn| turn.number == number)
    }
}
