//! From the jobs to the campaign file: each job has a [`Saver`], one thread writes what they send.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use testwright_model::sequence::Sequence;
use testwright_store::{Kept, Saving, Store, StoreError, Totals};

use crate::search::Learned;

/// Sequences of the pools that are kept, all jobs together.
pub const POOL_SAMPLE: usize = 4000;
/// New sequences are handed over after so long.
const PAUSE: Duration = Duration::from_secs(2);
/// The pool is written whole each time, so more and more rarely: after so long first, and at last after so long.
const POOL_PAUSES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

/// What a job has handed over already.
#[derive(Debug)]
pub struct Saver {
    sender: Sender<Saving>,
    job: usize,
    corpus: usize,
    /// How many failures, and how many steps they have: a shorter way to a failure replaces the longer one.
    failures: (usize, usize),
    last: Instant,
    last_pool: Instant,
    pool_pause: Duration,
}

impl Saver {
    pub fn new(sender: Sender<Saving>, job: usize) -> Self {
        let now = Instant::now();
        Saver {
            sender,
            job,
            corpus: 0,
            failures: (0, 0),
            last: now,
            last_pool: now,
            pool_pause: POOL_PAUSES.0,
        }
    }

    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= PAUSE
    }

    pub fn pool_is_due(&self) -> bool {
        self.last_pool.elapsed() >= self.pool_pause
    }

    /// Sends what the writer does not have yet.
    pub fn save(&mut self, learned: &Learned, pool: Option<Vec<Kept>>) {
        self.last = Instant::now();
        if pool.is_some() {
            self.last_pool = self.last;
            self.pool_pause = (self.pool_pause * 2).min(POOL_PAUSES.1);
        }
        let failing = || learned.failures.values().map(|seen| &seen.sequence);
        let failures = (learned.failures.len(), failing().map(Sequence::len).sum());
        let saving = Saving {
            job: self.job,
            corpus: learned.corpus.get(self.corpus..).unwrap_or_default().to_vec(),
            failures: (failures != self.failures).then(|| failing().cloned().collect()),
            pool,
        };
        self.corpus = learned.corpus.len();
        self.failures = failures;
        // Without a writer nothing is kept, which the campaign says at its end.
        let _ = self.sender.send(saving);
    }
}

/// Writes until all jobs have ended. The first error ends the writing, not the search.
pub fn write_all(
    mut store: Store,
    receiver: &Receiver<Saving>,
    totals: impl Fn() -> Totals,
) -> Result<Store, StoreError> {
    let mut result = Ok(());
    for saving in receiver {
        if result.is_ok() {
            result = store.save(&saving, totals());
        }
    }
    result.map(|()| store)
}
