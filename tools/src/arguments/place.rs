//! Where in the arguments something stands.

use std::cell::{Cell, RefCell};
use std::fmt;

/// A value's place, as a way back to the root.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Root,
    Member {
        parent: &'a Place<'a>,
        name: &'a str,
    },
    Element {
        parent: &'a Place<'a>,
        index: usize,
    },
    /// The name of a member of `parent`, which is heard when it is read.
    Key {
        parent: &'a Place<'a>,
        heard: &'a RefCell<String>,
    },
}

/// `plan[1].status`; the root has no text.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member { parent: Self::Root, name } => f.write_str(name),
            Self::Member { parent, name } => write!(f, "{parent}.{name}"),
            Self::Element { parent, index } => write!(f, "{parent}[{index}]"),
            Self::Key { parent, heard: _ } => parent.fmt(f),
        }
    }
}

/// The first failure: its place, and the variants that would have been right there. Failures are told from the inside
/// out, so the first is the deepest.
#[derive(Default)]
pub(super) struct Trail {
    path: RefCell<Option<String>>,
    variants: Cell<&'static [&'static str]>,
}

impl Trail {
    /// Passes a result on, and keeps the place where it failed.
    pub(super) fn note<T, E>(&self, place: Place<'_>, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.path.borrow_mut().get_or_insert_with(|| place.to_string());
        }
        result
    }

    /// Passes the result of reading an enum on, and keeps what could have stood there where it failed itself.
    pub(super) fn note_enum<T, E>(
        &self,
        variants: &'static [&'static str],
        result: Result<T, E>,
    ) -> Result<T, E> {
        if result.is_err() && self.path.borrow().is_none() {
            self.variants.set(variants);
        }
        result
    }

    /// The variants that would have been right; empty where it was no enum that failed.
    pub(super) fn variants(&self) -> &'static [&'static str] {
        self.variants.get()
    }

    /// None for the root.
    pub(super) fn into_path(self) -> Option<String> {
        self.path.into_inner().filter(|path| !path.is_empty())
    }
}
