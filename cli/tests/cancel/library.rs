//! A session of the library's: one of its calls is cancelled, or its turn.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_apply_patch::ApplyPatchTool;
use tenon_code_mode::{CodeMode, CodeModeLayer, DirectTools, NestedTools, with_code_mode};
use tenon_core::{INTERRUPT_MARKER, Session, SessionBuilder, SessionHandle, SessionOptions, TurnEnd};
use tenon_exec::{ExecConfig, ExecService};
use tenon_mcp_client::{McpServers, ServerConfig, StdioConfig, TransportConfig};
use tenon_protocol::{CallId, ResponseItem};
use tenon_tools::{Event, EventSink, LifecycleOutcome, ScriptedModel, ScriptedTurn};
use tokio_util::sync::CancellationToken;

use crate::ONE;
use crate::scripted::guard;
use crate::scripted::place::Place;
use crate::scripted::point::{Point, Whole, part};
use crate::scripted::promises::{Told, complaints, output_of};
use crate::scripted::random::Random;
use crate::scripted::script;

/// How long after a call was recorded it is cancelled, at most.
const LATEST: Duration = Duration::from_millis(120);
/// How often it is looked whether the point has come.
const LOOK: Duration = Duration::from_micros(500);
/// How often a call is cancelled until somebody hears it, before it counts as over.
const TRIES: usize = 400;
/// One in so many points cancels the turn.
const TURN: u64 = 4;
/// What the user says while the turn runs.
const STEERED: &str = "and one more thing";

/// What the user says to begin the second turn.
const GO_ON: &str = "go on";

/// What is cancelled, and when.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Cancel {
    /// A call, so long after it was recorded.
    Call(String, Duration),
    /// The turn, at the point.
    Turn(Point),
}

/// What the tools of a session come from.
struct Services {
    exec: ExecService,
    mcp: Arc<McpServers>,
    scripts: CodeMode,
}

/// Keeps all that happens.
#[derive(Default)]
struct Events(Mutex<Vec<Event>>);

impl EventSink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().expect("no panic").push(event);
    }
}

/// What the process of a point has to say.
#[derive(Serialize, Deserialize)]
struct Played {
    cancelled: Cancel,
    wrong: Vec<String>,
    /// What was recorded when the first turn had ended.
    recorded: Vec<Value>,
    /// What the model was shown next.
    shown: Vec<Value>,
}

/// Plays one point in a process of its own, so that nobody but the session waits for its children: what was done, and
/// what is wrong.
pub(crate) fn play(place: &Place, whole: Whole, random: &Random) -> (String, Result<(), String>) {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    let asked = format!("{} {} {}", random.state(), whole.time.as_micros(), whole.bytes);
    command
        .args(["--exact", ONE, "--ignored", "--nocapture"])
        .env("TENON_CANCEL_PLACE", place.root())
        .env("TENON_CANCEL_ONE", asked)
        .env("TMPDIR", place.temporary());
    place.listen_to(&mut command);
    let played = guard::run(place, command, None).and_then(|status| {
        let text = std::fs::read_to_string(result_of(place)).unwrap_or_default();
        serde_json::from_str::<Played>(&text).map_err(|_| format!("{status}: {}", place.stderr()))
    });
    match played {
        Ok(played) => (format!("{:?} by the library", played.cancelled), judged(place, played)),
        Err(complaint) => ("a cancel by the library".to_owned(), Err(complaint)),
    }
}

fn judged(place: &Place, played: Played) -> Result<(), String> {
    let Played { cancelled, mut wrong, recorded, shown } = played;
    let may_say = match cancelled {
        Cancel::Turn(_) => Told::AFTER_A_CANCEL,
        Cancel::Call(..) => Told::BESIDE_A_CANCEL,
    };
    wrong.extend(complaints(place, &recorded, may_say));
    wrong.extend(complaints(place, &shown, may_say));
    crate::settled(&wrong)
}

fn result_of(place: &Place) -> PathBuf {
    place.root().join("played.json")
}

/// Plays the point that is asked for here, and writes down what came of it.
pub(crate) fn play_here() {
    let text = |name: &str| std::env::var(name).ok();
    let (Some(root), Some(one)) = (text("TENON_CANCEL_PLACE"), text("TENON_CANCEL_ONE")) else { return };
    let place = Place::at(root.into());
    let asked: Vec<u64> = one.split(' ').map(|number| number.parse().expect("a number")).collect();
    let mut random = Random::at(asked[0]);
    let time = Duration::from_micros(asked[1]);
    let whole = Whole { time, resume_time: time, bytes: asked[2] };
    let call = script::DIRECT[usize::try_from(random.below(10)).expect("small")];
    let cancel = match random.below(TURN) {
        0 => Cancel::Turn(Point::of(whole, &mut random)),
        _ => Cancel::Call(call.to_owned(), part(LATEST, &mut random)),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let played = runtime.expect("a runtime").block_on(hit(&place, cancel));
    let text = serde_json::to_string(&played).expect("JSON");
    std::fs::write(result_of(&place), text).expect("written");
}

async fn hit(place: &Place, cancel: Cancel) -> Played {
    let events = Arc::new(Events::default());
    let model = Arc::new(ScriptedModel::new(answers(place)));
    let (mut session, services) = session(place, &model, &events).await;
    let (cancellation, handle) = (CancellationToken::new(), session.handle());
    let over = CancellationToken::new();
    let canceller = canceller(place, &cancel, handle, cancellation.clone(), over.clone());
    let turn = async {
        let end = session.run_turn("begin", &cancellation).await;
        over.cancel();
        end
    };
    let (end, ()) = tokio::join!(turn, canceller);
    let recorded = place.recorded_items();
    // The turn is over, and the model has not been asked again: whatever is wrong now, nobody mends it.
    let again = session.run_turn(GO_ON, &CancellationToken::new()).await;
    services.scripts.shutdown().await;
    tokio::join!(services.exec.shutdown(), services.mcp.shutdown());
    session.shutdown().await;
    let shown = model.prompts().pop().map(|prompt| values(&prompt.input)).unwrap_or_default();
    let mut wrong = ends(&cancel, &end, &again, &recorded, &shown);
    wrong.extend(only_one(&cancel, &recorded));
    wrong.extend(events_told(&events, &end, &recorded));
    Played { cancelled: cancel, wrong, recorded, shown }
}

/// Cancels what is to be cancelled, unless the turn is over first.
async fn canceller(
    place: &Place,
    cancel: &Cancel,
    handle: SessionHandle,
    cancellation: CancellationToken,
    over: CancellationToken,
) {
    let begun = Instant::now();
    let cancelling = async {
        match cancel {
            Cancel::Turn(point) => {
                while !point.has_come(place, begun) {
                    tokio::time::sleep(LOOK).await;
                }
                handle.steer(STEERED);
                cancellation.cancel();
            }
            Cancel::Call(id, late) => {
                let is_recorded = || place.recorded_items().iter().any(|item| item["call_id"] == *id);
                while !is_recorded() {
                    tokio::time::sleep(LOOK).await;
                }
                tokio::time::sleep(*late).await;
                for _ in 0..TRIES {
                    if handle.cancel_call(&CallId::from(id.as_str())) {
                        return;
                    }
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    };
    // The turn may be over before.
    let _ = over.run_until_cancelled(cancelling).await;
}

/// How the turns ended, and what the next request holds.
fn ends(cancel: &Cancel, end: &TurnEnd, again: &TurnEnd, recorded: &[Value], shown: &[Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    let (interrupted, completed) = (*end == TurnEnd::Interrupted, matches!(end, TurnEnd::Completed { .. }));
    let fits = match cancel {
        Cancel::Turn(_) => interrupted || completed,
        // The turn goes on without the call.
        Cancel::Call(..) => completed,
    };
    if !fits || !matches!(again, TurnEnd::Completed { .. }) {
        wrong.push(format!("the turns ended with {end:?} and {again:?}"));
    }
    let says =
        |items: &[Value], text: &str| items.iter().filter(|item| item["content"][0]["text"] == text).count();
    let markers = (says(recorded, INTERRUPT_MARKER), says(shown, INTERRUPT_MARKER));
    if markers != (usize::from(interrupted), usize::from(interrupted)) {
        wrong.push(format!("{end:?}, and {markers:?} markers are recorded and shown"));
    }
    if interrupted && says(shown, STEERED) != 1 {
        wrong.push(format!("what the user had said is shown {} times", says(shown, STEERED)));
    }
    wrong
}

/// Of single calls none but the one that was cancelled is aborted; patches that build on it may be refused.
fn only_one(cancel: &Cancel, recorded: &[Value]) -> Vec<String> {
    let Cancel::Call(cancelled, _) = cancel else { return Vec::new() };
    let others = script::DIRECT.iter().filter(|id| **id != *cancelled);
    let wrong = others.filter_map(|id| {
        let text = output_of(recorded, id)?;
        let right = match Told::by(&text) {
            Told::Done => true,
            Told::Refused => id.starts_with('p'),
            Told::Aborted | Told::NotRun | Told::OutcomeUnknown | Told::Other => false,
        };
        // A script that fails says so itself: its patch may not have fitted.
        let failed = *id == "e1" && cancelled.starts_with('p') && text.contains("Script failed");
        (!right && !failed).then(|| format!("{cancelled} was cancelled, and {id} tells {text:?}"))
    });
    wrong.collect()
}

/// Each call's end is told once, and a turn that was cut short names the calls that were.
fn events_told(events: &Events, end: &TurnEnd, recorded: &[Value]) -> Vec<String> {
    let events = events.0.lock().expect("no panic");
    let mut ended: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let mut named = Vec::new();
    for event in events.iter() {
        if let Event::CallEnded { call_id, outcome, .. } = event {
            let told = ended.entry(call_id.to_string()).or_default();
            told.0 += 1;
            told.1 |= *outcome == LifecycleOutcome::Aborted;
        } else if let Event::TurnAborted { aborted_calls, .. } = event {
            named.extend(aborted_calls.iter().map(ToString::to_string));
        }
    }
    let mut wrong = Vec::new();
    for id in script::DIRECT {
        let Some(text) = output_of(recorded, id) else { continue };
        let aborted = Told::by(&text) == Told::Aborted;
        let told = ended.get(id).copied().unwrap_or_default();
        if told != (1, aborted) {
            wrong.push(format!("{id} tells {text:?}, and its end was told as {told:?}"));
        }
        if *end == TurnEnd::Interrupted && named.iter().any(|named| named == id) != aborted {
            wrong.push(format!("{id} tells {text:?}, and the turn names {named:?}"));
        }
    }
    wrong
        .extend(ended.iter().filter(|(_, told)| told.0 != 1).map(|told| format!("ends were told: {told:?}")));
    wrong
}

/// The script, and nothing more once the user has gone on.
fn answers(place: &Place) -> Vec<ScriptedTurn> {
    let turn = |items: Vec<Value>| {
        ScriptedTurn::computed(move |prompt| {
            if values(&prompt.input).iter().any(|item| item["content"][0]["text"] == GO_ON) {
                return ScriptedTurn::message("done");
            }
            let item = |item: &Value| ResponseItem::parse(&item.to_string()).expect("an item");
            ScriptedTurn::items(items.iter().map(item))
        })
    };
    script::answers(&place.effects()).into_iter().map(turn).collect()
}

fn values(items: &[Arc<ResponseItem>]) -> Vec<Value> {
    items.iter().map(|item| serde_json::to_value(item).expect("JSON")).collect()
}

/// A session with all tools, the server that counts among them.
async fn session(place: &Place, model: &Arc<ScriptedModel>, events: &Arc<Events>) -> (Session, Services) {
    let environment: BTreeMap<_, _> = [
        ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
        ("HOME".into(), place.home().into()),
        ("TMPDIR".into(), place.temporary().into()),
    ]
    .into();
    let exec = ExecService::new(ExecConfig::new(environment.clone()));
    let mcp = Arc::new(McpServers::builder(place.work()).server(server(place, environment)).start());
    mcp.settled().await;
    let nested = NestedTools::default();
    let scripts = CodeMode::new(nested.clone());
    let mut tools = exec.tools();
    tools.push(Arc::new(ApplyPatchTool::default()));
    let session = SessionBuilder::new(SessionOptions::new("a-model", place.work()), Arc::clone(model) as _)
        .tools(with_code_mode(&scripts, tools))
        .source(Arc::clone(&mcp) as _)
        .layer(Arc::new(CodeModeLayer::new(DirectTools::Shown, nested)))
        .interceptor(Arc::new(ApplyPatchTool::default()))
        .between_turns(exec.between_turns())
        .events(Arc::clone(events) as _)
        .rollout_in(place.home())
        .build()
        .await
        .expect("a session");
    (session, Services { exec, mcp, scripts })
}

fn server(place: &Place, environment: BTreeMap<std::ffi::OsString, std::ffi::OsString>) -> ServerConfig {
    let program = StdioConfig {
        command: "python3".into(),
        args: vec![place.server().into(), place.effects().into()],
        environment,
        cwd: None,
    };
    ServerConfig::new("counter", TransportConfig::Stdio(program))
}
