//! The database: begun anew or opened again, and written to, one transaction for each thing handed over.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, ValueId};

use crate::file::{APPLICATION, Found, SCHEMA, inspect};
use crate::keys::{Renumbering, operation_keys, type_keys};
use crate::{Ending, Facts, Saving, StoreError, Totals};

const TABLES: &str = "
CREATE TABLE campaign (
    -- one row
    id INTEGER PRIMARY KEY CHECK (id = 1),
    crate TEXT NOT NULL,
    version TEXT NOT NULL,
    features TEXT NOT NULL,
    compiler TEXT NOT NULL,
    tool TEXT NOT NULL,
    seed TEXT NOT NULL,
    strategy TEXT NOT NULL,
    -- all runs together
    executions INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    last_new_s REAL NOT NULL DEFAULT 0,
    last_new_execution INTEGER NOT NULL DEFAULT 0,
    runs INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE operation (number INTEGER PRIMARY KEY, path TEXT NOT NULL, key TEXT NOT NULL UNIQUE);
CREATE TABLE type (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE sequence (
    id INTEGER PRIMARY KEY,
    -- corpus, pool or failure
    kind TEXT NOT NULL,
    run INTEGER NOT NULL,
    job INTEGER NOT NULL,
    -- a digest of the steps
    digest INTEGER NOT NULL,
    -- JSON; numbers of operations and types are those of the tables above
    steps TEXT NOT NULL,
    -- for the pool: which values are offered
    offered TEXT
);
CREATE INDEX sequence_digest ON sequence (digest);
CREATE TABLE finding (
    id TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    class TEXT NOT NULL,
    operation TEXT NOT NULL,
    message TEXT NOT NULL,
    file TEXT,
    line INTEGER,
    first_seen_s REAL NOT NULL,
    first_seen_execution INTEGER NOT NULL,
    steps TEXT NOT NULL,
    -- whether the last whole run reported it
    reported INTEGER NOT NULL
);
";

/// How long another program that has the file open is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// An open campaign file, which nobody else can open until it is dropped.
#[derive(Debug)]
pub struct Store {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    /// From the numbers of today's operations to the file's.
    to_file: Renumbering,
    /// The number of this run, counted from 1.
    run: u64,
}

impl Store {
    /// Begins a campaign; one of ours that lies there is replaced, any other file refused.
    pub fn create(path: &Path, facts: &Facts, operations: &Operations) -> Result<Store, StoreError> {
        let found = inspect(path)?;
        let mut store = Store::connect(path)?;
        if found == Found::Campaign {
            store.check()?;
        }
        store.transaction(|transaction| {
            // Within one transaction, so that the old campaign is there until the new one is.
            for table in ["campaign", "operation", "type", "sequence", "finding"] {
                transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
            }
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", SCHEMA)?;
            transaction.execute(
                "INSERT INTO campaign (id, crate, version, features, compiler, tool, seed, strategy)
                     VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                fact_row(facts),
            )?;
            Ok(())
        })?;
        store.run = 1;
        store.number(operations)?;
        Ok(store)
    }

    /// Opens a campaign of this crate; nothing is changed in it yet.
    pub fn open(path: &Path, krate: &str) -> Result<Store, StoreError> {
        if inspect(path)? == Found::Nothing {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let store = Store::connect(path)?;
        store.check()?;
        let stored: String = store.ask("SELECT crate FROM campaign", |row| row.get(0))?;
        if stored != krate {
            return Err(StoreError::OtherCrate { path: store.path, stored, wanted: krate.to_owned() });
        }
        Ok(store)
    }

    /// Counts another run, made with these facts, and takes today's operations to those that are known.
    pub fn begin_run(&mut self, facts: &Facts, operations: &Operations) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE campaign SET runs = runs + 1, crate = ?1, version = ?2, features = ?3, compiler = ?4,
                 tool = ?5, seed = ?6, strategy = ?7",
                fact_row(facts),
            )
        })?;
        let runs: i64 = self.ask("SELECT runs FROM campaign", |row| row.get(0))?;
        self.run = runs.cast_unsigned();
        self.number(operations)
    }

    /// Writes what a job hands over, and how much was done until now.
    pub fn save(&mut self, saving: &Saving, totals: Totals) -> Result<(), StoreError> {
        let rows = Rows { to_file: &self.to_file, run: signed(self.run), job: signed(saving.job as u64) };
        let save = |transaction: &Transaction<'_>| {
            for sequence in &saving.corpus {
                rows.insert_new(transaction, "corpus", sequence)?;
            }
            if let Some(failures) = &saving.failures {
                rows.clear(transaction, "failure")?;
                for sequence in failures {
                    rows.insert_new(transaction, "failure", sequence)?;
                }
            }
            if let Some(pool) = &saving.pool {
                rows.clear(transaction, "pool")?;
                for kept in pool {
                    rows.insert(transaction, "pool", &kept.sequence, Some(&kept.values))?;
                }
            }
            write_totals(transaction, totals)
        };
        in_transaction(&mut self.connection, &self.path, save)
    }

    /// Writes how the run ended.
    pub fn finish(&mut self, ending: &Ending) -> Result<(), StoreError> {
        let run = signed(self.run);
        let to_file = &self.to_file;
        in_transaction(&mut self.connection, &self.path, |transaction| {
            write_totals(transaction, ending.totals)?;
            transaction.execute(
                "UPDATE campaign SET last_new_s = ?1, last_new_execution = ?2",
                params![ending.last_new.0, signed(ending.last_new.1)],
            )?;
            if ending.whole {
                // What is still worth keeping of it is in this run's sample.
                transaction.execute("DELETE FROM sequence WHERE kind = 'pool' AND run < ?1", [run])?;
                transaction.execute("UPDATE finding SET reported = 0", [])?;
            }
            for finding in &ending.findings {
                let Some(steps) = steps_text(to_file, &finding.sequence) else { continue };
                let (file, line) = finding.location.clone().unzip();
                transaction.execute(
                    "INSERT INTO finding (id, tier, class, operation, message, file, line, first_seen_s,
                                          first_seen_execution, steps, reported)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)
                     ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, class = excluded.class,
                         operation = excluded.operation, message = excluded.message, file = excluded.file,
                         line = excluded.line, steps = excluded.steps, reported = 1",
                    params![
                        finding.id,
                        finding.tier,
                        finding.class,
                        finding.operation,
                        finding.message,
                        file,
                        line,
                        finding.first_seen_s,
                        signed(finding.first_seen_execution),
                        steps
                    ],
                )?;
            }
            Ok(())
        })
    }

    fn connect(path: &Path) -> Result<Store, StoreError> {
        let fail = |error: rusqlite::Error| StoreError::from_sqlite(path, &error);
        let connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        // Two runs at once would take each other's rows for their own.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(fail)?;
        // A plain journal: one file is all there is between two transactions.
        let set: String = connection
            .pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))
            .map_err(fail)?;
        debug_assert_eq!(set, "delete");
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(fail)?;
        connection.execute_batch("BEGIN IMMEDIATE; COMMIT").map_err(fail)?;
        Ok(Store { path: path.to_owned(), connection, to_file: Renumbering::default(), run: 0 })
    }

    /// Reads every page: damage is to be found before anything is built upon it.
    fn check(&self) -> Result<(), StoreError> {
        let words: String = self.ask("PRAGMA quick_check(1)", |row| row.get(0))?;
        if words == "ok" {
            return Ok(());
        }
        Err(StoreError::Damaged { path: self.path.clone(), words })
    }

    pub(crate) fn ask<T>(
        &self,
        question: &str,
        answer: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.connection.query_row(question, [], answer).map_err(|error| self.fail(&error))
    }

    pub(crate) fn fail(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }

    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        in_transaction(&mut self.connection, &self.path, work)
    }

    /// Finds or makes the file's number for each operation and type of today.
    fn number(&mut self, operations: &Operations) -> Result<(), StoreError> {
        let paths: Vec<&str> =
            operations.operations.iter().map(|operation| operation.path.as_str()).collect();
        let (calls, types) = (operation_keys(operations), type_keys(operations));
        self.to_file = self.transaction(|transaction| {
            let mut insert = transaction
                .prepare("INSERT INTO operation (path, key) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING")?;
            for (path, key) in paths.iter().zip(&calls) {
                insert.execute(params![path, key])?;
            }
            let mut insert =
                transaction.prepare("INSERT INTO type (key) VALUES (?1) ON CONFLICT (key) DO NOTHING")?;
            for key in &types {
                insert.execute([key])?;
            }
            Ok(Renumbering {
                operations: in_order(&calls, &numbers(transaction, "operation")?),
                types: in_order(&types, &numbers(transaction, "type")?),
            })
        })?;
        Ok(())
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    path: &Path,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let run = || {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    };
    run().map_err(|error| StoreError::from_sqlite(path, &error))
}

/// The rows of one job in one run.
struct Rows<'a> {
    to_file: &'a Renumbering,
    run: i64,
    job: i64,
}

impl Rows<'_> {
    fn clear(&self, transaction: &Transaction<'_>, kind: &str) -> rusqlite::Result<usize> {
        transaction
            .prepare_cached("DELETE FROM sequence WHERE kind = ?1 AND run = ?2 AND job = ?3")?
            .execute(params![kind, self.run, self.job])
    }

    /// Inserts unless the job itself or an earlier run has it. Another job of this run may have it too: what is in the file
    /// must not depend on who was first.
    fn insert_new(
        &self,
        transaction: &Transaction<'_>,
        kind: &str,
        sequence: &Sequence,
    ) -> rusqlite::Result<()> {
        let Some(steps) = steps_text(self.to_file, sequence) else { return Ok(()) };
        let known = transaction
            .prepare_cached(
                "SELECT 1 FROM sequence WHERE digest = ?1 AND kind = ?2 AND (run < ?3 OR job = ?4) AND steps = ?5",
            )?
            .exists(params![digest(&steps), kind, self.run, self.job, steps])?;
        if known { Ok(()) } else { self.insert_text(transaction, kind, &steps, None) }
    }

    fn insert(
        &self,
        transaction: &Transaction<'_>,
        kind: &str,
        sequence: &Sequence,
        offered: Option<&[ValueId]>,
    ) -> rusqlite::Result<()> {
        let Some(steps) = steps_text(self.to_file, sequence) else { return Ok(()) };
        let offered = offered.and_then(|offered| serde_json::to_string(offered).ok());
        self.insert_text(transaction, kind, &steps, offered.as_deref())
    }

    fn insert_text(
        &self,
        transaction: &Transaction<'_>,
        kind: &str,
        steps: &str,
        offered: Option<&str>,
    ) -> rusqlite::Result<()> {
        transaction
            .prepare_cached(
                "INSERT INTO sequence (kind, run, job, digest, steps, offered) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![kind, self.run, self.job, digest(steps), steps, offered])
            .map(drop)
    }
}

fn write_totals(transaction: &Transaction<'_>, totals: Totals) -> rusqlite::Result<()> {
    transaction
        .execute(
            "UPDATE campaign SET executions = ?1, calls = ?2, seconds = ?3",
            params![signed(totals.executions), signed(totals.calls), totals.seconds],
        )
        .map(drop)
}

fn fact_row(facts: &Facts) -> [String; 7] {
    [
        facts.krate.clone(),
        facts.version.clone(),
        facts.features.join(","),
        facts.compiler.clone(),
        facts.tool.clone(),
        // As text: a column of integers has no room for half of the seeds.
        facts.seed.to_string(),
        facts.strategy.clone(),
    ]
}

/// The steps in the file's numbers; every operation of today has one.
fn steps_text(to_file: &Renumbering, sequence: &Sequence) -> Option<String> {
    serde_json::to_string(&to_file.apply(sequence)?.steps).ok()
}

/// Each key of the table with its number.
pub(crate) fn numbers(connection: &Connection, table: &str) -> rusqlite::Result<HashMap<String, u32>> {
    connection
        .prepare(&format!("SELECT key, number FROM {table}"))?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn in_order(keys: &[String], numbers: &HashMap<String, u32>) -> HashMap<u32, u32> {
    (0..).zip(keys).filter_map(|(index, key)| Some((index, *numbers.get(key)?))).collect()
}

/// Numbers that count things fit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// FNV-1a.
fn digest(text: &str) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash.cast_signed()
}
