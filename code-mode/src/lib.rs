//! JavaScript cells that call every allowed tool through the path of a direct call.
