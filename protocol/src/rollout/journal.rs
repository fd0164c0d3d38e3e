//! The journal of calls, ours: what is known of a call when everything else is lost (runtime.md D11.2).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call_id::CallId;
use crate::item::ResponseItem;
use crate::lossy_path::lossy_path;

/// A call is about to have its first side effect. Durable before that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallStarted {
    /// The call's id.
    pub call_id: CallId,
    /// Which call of this id and kind it is, from 0.
    pub occurrence: u32,
    /// The tool's name as the model sees it.
    pub tool: String,
    /// Where the call came from, e.g. `direct` or `code_mode`.
    pub source: String,
    /// What the call would do, in short.
    pub effects: Value,
    /// Why it starts once more, where a runtime before had started it and did not live to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// When: UTC, milliseconds, `Z`.
    pub at: String,
}

/// A fact about a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallProgress {
    /// The call's id.
    pub call_id: CallId,
    /// Which call of this id and kind it is, from 0.
    pub occurrence: u32,
    /// The fact.
    pub fact: CallFact,
}

/// What a running call did so far, one fact at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CallFact {
    /// It started a process.
    Process {
        /// The process.
        pid: u32,
        /// Its group.
        group: u32,
        /// When the kernel says that it started: clock ticks after boot (field 22 of `/proc/PID/stat`), which tells
        /// the process from a later one with the same id. 0 when unknown.
        started_at: u64,
        /// Between which starts of the machine that was: `/proc/sys/kernel/random/boot_id`. Absent when unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot_id: Option<String>,
    },
    /// Somebody was asked whether it may run. Nothing of it had happened then.
    Asked,
    /// It writes a file.
    File {
        /// The file's absolute path; bytes that are no UTF-8 are written as U+FFFD.
        #[serde(serialize_with = "lossy_path")]
        path: PathBuf,
        /// `false` before the write, `true` after it.
        done: bool,
    },
    /// It asked a server.
    Request {
        /// The server's name in the configuration.
        server: String,
        /// The request's id there.
        id: String,
    },
    /// It called another tool.
    Nested {
        /// That tool's name as the model sees it.
        tool: String,
        /// That call's id.
        call_id: CallId,
        /// How that call ended; absent while it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<CallOutcome>,
    },
}

/// How a call ended, with its output. Durable before the next request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call's id.
    pub call_id: CallId,
    /// Which call of this id and kind it is, from 0.
    pub occurrence: u32,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The item for the model, so that a crash before its own line loses nothing.
    pub output: ResponseItem,
    /// The long texts of the output that lie beside the file; empty ones stand in their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<TextAside>,
    /// When: UTC, milliseconds, `Z`.
    pub at: String,
}

/// A text of an output that is not in its line but beside the file, once for all lines that hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextAside {
    /// Which entry of the output's list it belongs in, from 0; absent where the output is one text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<usize>,
    /// Its SHA-256 in small hexadecimal digits.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// There was no room for it: it is known by its hash alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_kept: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It ran and gave its output.
    Completed,
    /// It ran, or could not, and gave an error.
    Failed,
    /// A hook, policy or person refused it; it did not run.
    Blocked,
    /// It was cancelled.
    Aborted,
}
