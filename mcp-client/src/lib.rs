//! Connections to MCP servers, their catalogue, and the tools found there.
