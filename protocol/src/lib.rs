//! What a model says and hears: response items, payloads, events, and a decoder without I/O.
