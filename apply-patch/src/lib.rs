//! The patch format of the model: grammar, parser, matching, plan, commit and the tool.
