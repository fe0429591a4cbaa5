//! Starts a worker's process and hears what it says about itself.

use std::sync::atomic::Ordering;
use std::time::Instant;

use testwright_wire::READY;
use testwright_wire::layout::death;

use crate::process::{Process, Wake};
use crate::shared::Shared;
use crate::{Catalogue, ExecuteError, WorkerPlan};

/// So often may a worker die before it is ready.
const ATTEMPTS: u32 = 5;

/// Starts a process and waits for it to be ready. Deaths before that are tried again, unless the worker gives a reason.
pub(crate) fn start_process(
    plan: &WorkerPlan,
    shared: &Shared,
) -> Result<(Process, Catalogue), ExecuteError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        shared.wipe();
        let process = Process::spawn(plan, shared)?;
        let deadline = Instant::now() + plan.limits.start;
        loop {
            match process.wait(deadline.saturating_duration_since(Instant::now()))? {
                Wake::Said(READY) => return Ok((process, catalogue(plan, shared)?)),
                Wake::Said(other) => {
                    return Err(ExecuteError::Protocol(format!("{other} instead of readiness")));
                }
                Wake::Nothing if Instant::now() < deadline => {}
                Wake::Nothing => {
                    return Err(ExecuteError::NotReady { seconds: plan.limits.start.as_secs() });
                }
                Wake::Gone => break,
            }
        }
        let status = process.bury()?;
        let words = shared.last_words();
        if words.kind == death::START {
            return Err(ExecuteError::Refused { message: words.message });
        }
        if attempts == ATTEMPTS {
            let binary = plan.binary.clone();
            let status = status.to_string();
            return Err(ExecuteError::DiedAtStart { binary, attempts, status, message: words.message });
        }
    }
}

fn catalogue(plan: &WorkerPlan, shared: &Shared) -> Result<Catalogue, ExecuteError> {
    let header = shared.header();
    let types = header.types.load(Ordering::Acquire);
    if types > plan.rooms.types {
        let room = plan.rooms.types.into();
        return Err(ExecuteError::NoRoom { what: "types:", needed: types.into(), room });
    }
    let counters_total = header.counters.load(Ordering::Relaxed);
    Ok(Catalogue {
        types: shared.types(types),
        operations: header.operations.load(Ordering::Relaxed),
        counters: u32::try_from(counters_total).unwrap_or(u32::MAX).min(plan.rooms.counters),
        counters_total,
        guards: header.guards.load(Ordering::Relaxed),
        steady: header.steady.load(Ordering::Relaxed),
    })
}
