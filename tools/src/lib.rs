//! What a tool is: payloads, outputs, specs, executors, and what a handler may see and do.
