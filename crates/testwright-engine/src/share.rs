//! Work on many things, shared by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::EngineError;

/// Does `work` for each number below `number`, with something of its own for each thread; the results are in order.
///
/// The first error of a thread ends that thread's part, and is returned when all have ended.
pub fn share<S, T: Send>(
    jobs: usize,
    number: usize,
    own: impl Fn(usize) -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, EngineError> + Sync,
) -> Result<Vec<T>, EngineError> {
    let next = AtomicUsize::new(0);
    let part = |job: usize| {
        let mut own = own(job);
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= number {
                return Ok(done);
            }
            done.push((index, work(&mut own, index)?));
        }
    };
    let part = &part;
    let mut all = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs.max(1)).map(|job| scope.spawn(move || part(job))).collect();
        let mut all = Vec::with_capacity(number);
        for handle in handles {
            let done: Result<Vec<_>, EngineError> =
                handle.join().map_err(|_| EngineError::Internal("a thread panicked".to_owned()))?;
            all.extend(done?);
        }
        Ok::<_, EngineError>(all)
    })?;
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::share;
    use crate::EngineError;

    #[test]
    fn results_are_in_order_and_each_thread_has_its_own() {
        let done = share(
            3,
            100,
            |job| (job, 0),
            |own, index| {
                own.1 += 1;
                Ok((index, own.0))
            },
        );
        let done = done.expect("no error");
        assert!(done.iter().map(|(index, _)| *index).eq(0..100));
        assert!(done.iter().all(|(_, job)| *job < 3));
    }

    #[test]
    fn an_error_is_returned() {
        let failing = |(): &mut (), index| match index {
            7 => Err(EngineError::Internal("seven".to_owned())),
            _ => Ok(index),
        };
        assert!(share(2, 20, |_| (), failing).is_err());
    }
}
