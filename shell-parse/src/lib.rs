//! Plain words, command lists and heredocs of bash; says 'not plain' for the rest.
