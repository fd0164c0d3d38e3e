//! Cells by id, and who waits for them.
