//! Scenario runner, scripted model server, fixtures and tests over the whole of Tenon.
