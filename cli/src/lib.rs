//! The program tenon: arguments, configuration, wiring and output.
