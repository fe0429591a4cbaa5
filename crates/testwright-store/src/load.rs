//! What earlier runs left, read back in the numbers of today's operations.

use std::collections::{HashMap, HashSet};

use rusqlite::Row;
use testwright_model::OpId;
use testwright_model::operation::Operations;
use testwright_model::sequence::{Sequence, Step, ValueId};

use crate::keys::{Renumbering, operation_keys, type_keys};
use crate::store::numbers;
use crate::{Finding, Kept, Store, StoreError, Stored, Totals};

impl Store {
    /// Reads all; at most `most` sequences of the pool, the latest run's first. Sequences with operations that are not usable
    /// today are left out and counted; they stay in the file.
    ///
    /// The order is that of runs and jobs, whoever wrote first.
    pub fn load(
        &self,
        operations: &Operations,
        usable: impl Fn(OpId) -> bool,
        most: usize,
    ) -> Result<Stored, StoreError> {
        let fail = |error: rusqlite::Error| self.fail(&error);
        let from_file = self.numbers_of_today(operations, usable).map_err(fail)?;
        let mut stored = self.totals()?;
        let mut seen = HashSet::new();
        for (finding, steps) in
            self.rows("SELECT * FROM finding ORDER BY first_seen_execution, id", finding)?
        {
            let Some(sequence) = from_file.apply(&self.steps(&steps)?) else {
                stored.lost += 1;
                continue;
            };
            if seen.insert(("failure", steps)) {
                stored.failures.push(sequence.clone());
            }
            stored.findings.push(Finding { sequence, ..finding });
        }
        let latest_pool_first = "SELECT kind, steps, offered FROM sequence
             ORDER BY CASE kind WHEN 'pool' THEN -run ELSE run END, job, id";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        for (kind, steps, offered) in self.rows(latest_pool_first, row)? {
            let (kind, steps, offered): (String, String, Option<String>) = (kind, steps, offered);
            let kind = match kind.as_str() {
                "corpus" => "corpus",
                "failure" => "failure",
                "pool" if stored.pool.len() < most => "pool",
                _ => continue,
            };
            if !seen.insert((kind, steps.clone())) {
                continue;
            }
            let Some(sequence) = from_file.apply(&self.steps(&steps)?) else {
                stored.lost += 1;
                continue;
            };
            match kind {
                "corpus" => stored.corpus.push(sequence),
                "failure" => stored.failures.push(sequence),
                _ => {
                    let values: Vec<ValueId> = self.json(offered.as_deref().unwrap_or("[]"))?;
                    stored.pool.push(Kept { sequence, values });
                }
            }
        }
        Ok(stored)
    }

    fn totals(&self) -> Result<Stored, StoreError> {
        self.ask(
            "SELECT executions, calls, seconds, last_new_s, last_new_execution, runs FROM campaign",
            |row| {
                let count = |column: usize| row.get(column).map(|number: i64| number.max(0).cast_unsigned());
                Ok(Stored {
                    totals: Totals { executions: count(0)?, calls: count(1)?, seconds: row.get(2)? },
                    last_new: (row.get(3)?, count(4)?),
                    runs: count(5)?,
                    ..Stored::default()
                })
            },
        )
    }

    fn numbers_of_today(
        &self,
        operations: &Operations,
        usable: impl Fn(OpId) -> bool,
    ) -> rusqlite::Result<Renumbering> {
        let calls = numbers(&self.connection, "operation")?;
        let types = numbers(&self.connection, "type")?;
        let today = |keys: Vec<String>, stored: &HashMap<String, u32>| -> Vec<(u32, u32)> {
            (0..).zip(keys).filter_map(|(number, key)| Some((*stored.get(&key)?, number))).collect()
        };
        Ok(Renumbering {
            operations: today(operation_keys(operations), &calls)
                .into_iter()
                .filter(|(_, number)| usable(OpId(*number)))
                .collect(),
            types: today(type_keys(operations), &types).into_iter().collect(),
        })
    }

    fn rows<T>(
        &self,
        question: &str,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let all =
            || self.connection.prepare(question)?.query_map([], row)?.collect::<rusqlite::Result<Vec<T>>>();
        all().map_err(|error| self.fail(&error))
    }

    fn steps(&self, text: &str) -> Result<Sequence, StoreError> {
        let steps: Vec<Step> = self.json(text)?;
        Ok(Sequence { steps })
    }

    fn json<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text)
            .map_err(|error| StoreError::Damaged { path: self.path.clone(), words: error.to_string() })
    }
}

/// A finding without its sequence, and the text of that.
fn finding(row: &Row<'_>) -> rusqlite::Result<(Finding, String)> {
    let file: Option<String> = row.get("file")?;
    let line: Option<u32> = row.get("line")?;
    let execution: i64 = row.get("first_seen_execution")?;
    let finding = Finding {
        id: row.get("id")?,
        tier: row.get("tier")?,
        class: row.get("class")?,
        operation: row.get("operation")?,
        message: row.get("message")?,
        location: file.zip(line),
        first_seen_s: row.get("first_seen_s")?,
        first_seen_execution: execution.max(0).cast_unsigned(),
        sequence: Sequence::default(),
    };
    Ok((finding, row.get("steps")?))
}
