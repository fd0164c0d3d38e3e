//! What the model reads and writes: names, sources, declarations, descriptions, replies.

mod names;
mod pragma;
mod reply;
mod typescript;
