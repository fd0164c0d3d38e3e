//! One round of questions: who is asked, what clients and the operator hear of it, and what a failure stands for.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tenon_protocol::CallId;
use tenon_tools::{Clock, Event, EventSink, HookEntry, HookEntryKind, HookEventName, HookRunStatus, Host};

use super::actions::Action;
use super::handler::{Handler, Ran, Subject};
use super::spill::Spill;
use super::summary::ShownRun;

/// What the questions need of the session.
#[derive(Clone)]
pub(crate) struct HookServices {
    pub(crate) events: Arc<dyn EventSink>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) spill: Spill,
}

impl HookServices {
    /// Those of a session.
    pub(crate) fn new(host: &Host, spill: Spill) -> Self {
        Self { events: Arc::clone(&host.events), clock: Arc::clone(&host.clock), spill }
    }
}

/// What is asked about.
#[derive(Clone, Copy)]
pub(super) struct Occasion<'a> {
    pub(super) event: HookEventName,
    pub(super) subject: Subject<'a>,
    pub(super) turn_id: Option<&'a str>,
    pub(super) call: Option<&'a CallId>,
}

/// A hook that is being asked.
pub(super) struct Asked<'a> {
    pub(super) handler: &'a dyn Handler,
    shown: Option<ShownRun>,
}

/// How one of them has answered.
pub(super) struct Answered<'a, A> {
    asked: Asked<'a>,
    ran: Ran<A>,
    took: Duration,
    /// Which one it was to answer, from 0.
    finished: usize,
}

/// What counts of an answer.
pub(super) struct Counted<A> {
    pub(super) action: A,
    /// Which one it was to answer, from 0.
    pub(super) finished: usize,
    /// Under which id clients know the run, where they do.
    pub(super) run_id: Option<String>,
}

/// Picks those who are asked, and tells clients of all of them before the first one runs.
pub(super) fn begin<'a>(
    handlers: &'a [Box<dyn Handler>],
    services: &HookServices,
    occasion: Occasion<'_>,
    wanted: impl Fn(&dyn Handler) -> bool,
) -> Vec<Asked<'a>> {
    let asked = handlers.iter().map(AsRef::as_ref);
    let asked = asked.filter(|handler| handler.wants(occasion.event, occasion.subject) && wanted(*handler));
    asked
        .map(|handler| {
            let HookServices { events, clock, spill: _ } = services;
            let shown = handler
                .configured()
                .map(|hook| ShownRun::begin(hook, occasion.turn_id, occasion.call, events, clock));
            Asked { handler, shown }
        })
        .collect()
}

/// Asks all at the same time. The answers come in configured order.
pub(super) async fn all_at_once<'a, A, F>(
    asked: Vec<Asked<'a>>,
    ask: impl Fn(&'a dyn Handler) -> F,
) -> Vec<Answered<'a, A>>
where
    F: Future<Output = Ran<A>>,
{
    let mut running: FuturesUnordered<_> = asked
        .into_iter()
        .enumerate()
        .map(|(place, asked)| {
            let answer = ask(asked.handler);
            async move { (place, asked, answer.await) }
        })
        .collect();
    let mut answers = Vec::with_capacity(running.len());
    while let Some((place, asked, ran)) = running.next().await {
        answers.push((place, asked.answered(ran, answers.len())));
    }
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

impl<'a> Asked<'a> {
    /// It has answered, as the nth one.
    pub(super) fn answered<A>(self, ran: Ran<A>, finished: usize) -> Answered<'a, A> {
        let took = self.shown.as_ref().map(ShownRun::elapsed).unwrap_or_default();
        Answered { asked: self, ran, took, finished }
    }
}

impl<A: Action> Answered<'_, A> {
    /// Whether it has failed and that is an objection.
    pub(super) fn objects_by_failure(&self) -> bool {
        self.ran.failure.is_some() && self.asked.handler.contract().is_closed()
    }

    /// Whether the hook is extended.
    pub(super) fn is_extended(&self) -> bool {
        self.asked.handler.contract().extended
    }

    /// What counts of it. The operator and clients are told of the run; what the failure of a closed hook stands for
    /// is `objection`.
    pub(super) fn counted(
        self,
        event: HookEventName,
        services: &HookServices,
        objection: impl FnOnce(&str) -> A,
    ) -> Counted<A> {
        let closed = self.objects_by_failure();
        let Self { asked: Asked { handler, shown }, ran, took, finished } = self;
        let Ran { action, failure, status, warnings } = ran;
        let (event, name) = (event.name(), handler.name());
        for warning in &warnings {
            services.warn(format!("{event} hook {name}: {warning}"));
        }
        if let Some(why) = &failure {
            let meaning = if closed { "an objection" } else { "no objection" };
            services.warn(format!("{event} hook {name} failed, which counts as {meaning}: {why}"));
        }
        let run_id = shown.as_ref().map(|shown| shown.id().to_owned());
        if let Some(shown) = shown {
            let status = match failure {
                Some(_) => HookRunStatus::Failed,
                None => status.unwrap_or_else(|| action.status()),
            };
            shown.end(status, took, entries(warnings, &action, failure.clone()));
        }
        let action = match failure {
            Some(why) if closed => objection(&why),
            Some(_) | None => action,
        };
        Counted { action, finished, run_id }
    }
}

impl HookServices {
    fn warn(&self, message: String) {
        self.events.emit(Event::Warning { message });
    }
}

fn entries<A: Action>(warnings: Vec<String>, action: &A, failure: Option<String>) -> Vec<HookEntry> {
    let warnings = warnings.into_iter().map(|text| HookEntry { kind: HookEntryKind::Warning, text });
    let failure = failure.map(|text| HookEntry { kind: HookEntryKind::Error, text });
    warnings.chain(action.entries()).chain(failure).collect()
}
