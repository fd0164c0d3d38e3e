//! The commands of a session: which there are, which must go, and the end of them all.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ids::IdSource;
use crate::pump::{Source, pump};
use crate::session::Session;
use crate::spawn::Keeper;

/// How long a command may take to end by itself when it is told to.
pub(crate) const TERM_GRACE: Duration = Duration::from_millis(250);

/// Sessions that are kept before one must go (runtime.md B9.2).
pub(crate) const MAX_SESSIONS: usize = 64;

/// Sessions that are never the one to go: those used last.
const PROTECTED_SESSIONS: usize = 8;

/// Pipes that are still read for the background children of finished commands, which would otherwise die of SIGPIPE.
const MAX_ORPHANED_PIPES: usize = 64;

/// All commands that are not over.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) keeper: Keeper,
    ids: IdSource,
    state: Mutex<State>,
    watchers: TaskTracker,
    pumps: TaskTracker,
    /// Ends with the store, and all reading with it.
    reading: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    reserved: BTreeSet<i32>,
    sessions: BTreeMap<i32, Entry>,
    uses: u64,
    orphaned: VecDeque<CancellationToken>,
}

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    last_used: u64,
}

/// An id that nobody else gets. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Reservation {
    store: Arc<Store>,
    pub(crate) id: i32,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.store.lock().reserved.remove(&self.id);
    }
}

impl Store {
    pub(crate) fn new(ids: IdSource, subreaper: bool) -> Self {
        Self {
            keeper: Keeper::new(subreaper),
            ids,
            state: Mutex::default(),
            watchers: TaskTracker::new(),
            pumps: TaskTracker::new(),
            reading: CancellationToken::new(),
        }
    }

    /// Takes an id out of use.
    pub(crate) fn reserve(self: &Arc<Self>) -> Reservation {
        let mut state = self.lock();
        let taken = state.reserved.iter().chain(state.sessions.keys()).copied().collect();
        let id = self.ids.next(&taken);
        state.reserved.insert(id);
        drop(state);
        Reservation { store: Arc::clone(self), id }
    }

    /// A token that stops the reading of one command's output.
    pub(crate) fn reading(&self) -> CancellationToken {
        self.reading.child_token()
    }

    /// Takes a command that has just been started: reads and watches it from now on, and keeps it in place of
    /// another, should there be too many (runtime.md B9.2).
    pub(crate) fn insert(self: &Arc<Self>, session: &Arc<Session>, source: Source) {
        let evicted = self.lock().insert(session);
        if let Some(evicted) = evicted {
            // Its watcher ends its item.
            drop(self.keeper.end(&evicted.process, Duration::ZERO));
        }
        let output = Arc::clone(&session.output);
        let reading = pump(source, Arc::clone(&output), session.process.exit());
        let stop = session.reading.clone();
        self.pumps.spawn(async move {
            stop.run_until_cancelled(reading).await;
            // Read to its end or not, nothing more will come.
            output.set_flow(|flow| flow.closed = true);
            stop.cancel();
        });
        // The watcher must not keep the store alive: dropping the store ends the processes.
        let store = Arc::downgrade(self);
        let watched = Arc::clone(session);
        self.watchers.spawn(async move {
            let is_unheard = |session: &Session| store.upgrade().is_some_and(|store| store.holds(session));
            let watching = watched.watch(is_unheard);
            tokio::pin!(watching);
            let limit = tokio::select! {
                () = &mut watching => return,
                limit = watched.limit_reached() => limit,
            };
            let ending = store.upgrade().map(|store| store.keeper.end(&watched.process, TERM_GRACE));
            let end = async {
                if let Some(ending) = ending {
                    ending.await;
                }
                limit.end();
            };
            tokio::join!(end, watching);
        });
    }

    /// The command of this id, used now.
    pub(crate) fn get(&self, id: i32) -> Option<Arc<Session>> {
        let mut state = self.lock();
        state.uses += 1;
        let uses = state.uses;
        let entry = state.sessions.get_mut(&id)?;
        entry.last_used = uses;
        Some(Arc::clone(&entry.session))
    }

    /// Whether the command is still here: its end has not been reported, and it has not been put out.
    pub(crate) fn holds(&self, session: &Session) -> bool {
        self.lock().sessions.get(&session.id).is_some_and(|entry| std::ptr::eq(&*entry.session, session))
    }

    /// Lets go of a command whose end has been reported. What its background children print is read and dropped.
    pub(crate) fn remove(&self, session: &Session) {
        let mut state = self.lock();
        if state.sessions.get(&session.id).is_some_and(|entry| std::ptr::eq(&*entry.session, session)) {
            state.sessions.remove(&session.id);
        }
        if !session.output.flow().borrow().closed {
            state.orphaned.retain(|reading| !reading.is_cancelled());
            state.orphaned.push_back(session.reading.clone());
            if state.orphaned.len() > MAX_ORPHANED_PIPES
                && let Some(oldest) = state.orphaned.pop_front()
            {
                oldest.cancel();
            }
        }
        drop(state);
        session.output.discard();
    }

    /// All commands that are kept, by id.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        self.lock().sessions.values().map(|entry| Arc::clone(&entry.session)).collect()
    }

    /// Runs a task that ends by itself, and soon; the end of the store waits for it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.watchers.spawn(task);
    }

    /// Ends all processes, and waits until every item is ended and nothing runs any more.
    pub(crate) async fn shutdown(&self) {
        self.keeper.close().await;
        self.watchers.close();
        self.watchers.wait().await;
        self.reading.cancel();
        self.pumps.close();
        self.pumps.wait().await;
        self.lock().sessions.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // The keeper ends the processes when it is dropped next.
        self.reading.cancel();
    }
}

impl State {
    fn insert(&mut self, session: &Arc<Session>) -> Option<Arc<Session>> {
        let evicted = if self.sessions.len() >= MAX_SESSIONS { self.evict() } else { None };
        self.uses += 1;
        let entry = Entry { session: Arc::clone(session), last_used: self.uses };
        self.sessions.insert(session.id, entry);
        evicted
    }

    /// Takes out the one that is least needed: among all but those used last the one that has ended and was used
    /// least recently, else the least recently used. One that somebody is busy with stays; and while such a one has
    /// ended, no living one goes in its stead.
    fn evict(&mut self) -> Option<Arc<Session>> {
        let mut by_use: Vec<(u64, Arc<Session>)> =
            self.sessions.values().map(|entry| (entry.last_used, Arc::clone(&entry.session))).collect();
        by_use.sort_by_key(|(last_used, _)| *last_used);
        by_use.truncate(by_use.len().saturating_sub(PROTECTED_SESSIONS));
        let (ended, living): (Vec<_>, Vec<_>) = by_use
            .into_iter()
            .map(|(_, session)| session)
            .partition(|session| session.process.exited().is_some());
        let is_idle = |session: &&Arc<Session>| session.interaction.try_lock().is_ok();
        let met_busy = ended.iter().any(|session| !is_idle(&session));
        let chosen = ended.iter().find(is_idle).or_else(|| living.iter().filter(|_| !met_busy).find(is_idle));
        let chosen = chosen.cloned();
        chosen.inspect(|session| drop(self.sessions.remove(&session.id)))
    }
}
