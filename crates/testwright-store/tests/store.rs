//! The campaign file: what goes in comes out, in other numbers if need be; what is not ours stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use testwright_model::operation::{Flow, Form, Operation, Operations, Origin, Param, Take, TypeId};
use testwright_model::sequence::{Arg, How, Sequence, Step, ValueId};
use testwright_model::{Literal, OpId, Prim, Ty};
use testwright_store::{
    Ending, Facts, Finding, Found, Kept, Saving, Store, StoreError, Stored, Totals, inspect,
};

/// A folder that goes with the test, and the file in it.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("campaign.sqlite");
    Place { _folder: folder, path }
}

fn facts() -> Facts {
    Facts {
        krate: "slab".to_owned(),
        version: "1.0.0".to_owned(),
        features: vec!["default".to_owned(), "std".to_owned()],
        compiler: "rustc".to_owned(),
        tool: "test".to_owned(),
        seed: u64::MAX,
        strategy: "directed".to_owned(),
    }
}

/// Operations `name(usize) -> usize`, numbered in the order of the names, with some types before theirs.
fn operations(names: &[&str], before: &[Prim]) -> Operations {
    let mut operations = Operations::default();
    for prim in before {
        operations.type_id(&Ty::Prim(*prim));
    }
    let ty = operations.type_id(&Ty::Prim(Prim::Usize));
    for name in names {
        operations.operations.push(Operation {
            path: (*name).to_owned(),
            origin: Origin::Subject(0),
            params: vec![Param {
                name: "n".to_owned(),
                take: Take::Value,
                ty,
                needs_static: false,
                open: false,
            }],
            result: ty,
            flow: Flow::default(),
            form: Form { full: format!("{name}({{0}})"), ..Form::default() },
            panics: None,
            grounding: String::new(),
        });
    }
    operations
}

fn calling(operations: &Operations, name: &str, literal: i128) -> Sequence {
    let op = operations.ids().find(|id| operations.get(*id).path == name).expect("such an operation");
    let ty = operations.find_type(&Ty::Prim(Prim::Usize)).expect("usize");
    let mut sequence = Sequence::default();
    let value = sequence.push(Step::Literal { ty, value: Literal::Int(literal) });
    sequence.push(Step::Call { op, args: vec![Arg { value, how: How::Copy }] });
    sequence
}

fn finding(id: &str, sequence: Sequence, first_seen_execution: u64) -> Finding {
    Finding {
        id: id.to_owned(),
        tier: "bug".to_owned(),
        class: "index".to_owned(),
        operation: "b".to_owned(),
        message: "index out of bounds".to_owned(),
        location: Some(("slab/src/lib.rs".to_owned(), 7)),
        first_seen_s: 0.5,
        first_seen_execution,
        sequence,
    }
}

fn load(path: &Path, operations: &Operations) -> Stored {
    let store = Store::open(path, "slab").expect("it opens");
    store.load(operations, |_| true, 100).expect("it loads")
}

#[test]
fn what_goes_in_comes_out() {
    let place = place();
    let operations = operations(&["a", "b"], &[]);
    let extremes = [i128::MIN, -1, 0, i128::MAX];
    let corpus: Vec<Sequence> = extremes.map(|n| calling(&operations, "a", n)).into();
    let mut texts = calling(&operations, "b", 1);
    texts.push(Step::Literal { ty: TypeId(0), value: Literal::Str("\u{0}\"é".to_owned()) });
    texts.push(Step::Literal { ty: TypeId(0), value: Literal::Float(f64::NAN.to_bits()) });
    texts.push(Step::Drop(ValueId(1)));
    let pool = vec![Kept { sequence: texts.clone(), values: vec![ValueId(0), ValueId(2)] }];
    let totals = Totals { executions: 12, calls: 34, seconds: 5.5 };
    {
        let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
        let saving = Saving {
            job: 0,
            corpus: corpus.clone(),
            failures: Some(vec![texts.clone()]),
            pool: Some(pool.clone()),
        };
        store.save(&saving, Totals::default()).expect("it is written");
        let findings = vec![finding("f1", calling(&operations, "b", 9), 3)];
        let ending = Ending { totals, last_new: (1.5, 8), findings, whole: true };
        store.finish(&ending).expect("it is written");
    }
    let stored = load(&place.path, &operations);
    assert_eq!(stored.totals, totals);
    assert_eq!((stored.last_new, stored.runs, stored.lost), ((1.5, 8), 1, 0));
    assert_eq!(stored.corpus, corpus);
    assert_eq!(stored.pool, pool);
    assert_eq!(stored.findings, [finding("f1", calling(&operations, "b", 9), 3)]);
    // The findings' sequences come first.
    assert_eq!(stored.failures, [calling(&operations, "b", 9), texts]);
}

#[test]
fn operations_are_found_again_by_name() {
    let place = place();
    let before = operations(&["a", "b", "c"], &[]);
    let mut store = Store::create(&place.path, &facts(), &before).expect("it is made");
    let corpus = ["a", "b", "c"].map(|name| calling(&before, name, 1)).into();
    store.save(&Saving { corpus, ..Saving::default() }, Totals::default()).expect("it is written");
    drop(store);

    // `b` is gone, `d` is new, and all numbers are others.
    let after = operations(&["d", "c", "a"], &[Prim::Bool, Prim::U8]);
    let expected = ["a", "c"].map(|name| calling(&after, name, 1));
    let mut store = Store::open(&place.path, "slab").expect("it opens");
    let stored = store.load(&after, |_| true, 100).expect("it loads");
    assert_eq!(stored.corpus, expected);
    assert_eq!(stored.lost, 1);
    let c = OpId(1);
    let without_c = store.load(&after, |op| op != c, 100).expect("it loads");
    assert_eq!((without_c.corpus.len(), without_c.lost), (1, 2));

    store.begin_run(&facts(), &after).expect("it is written");
    let corpus = vec![calling(&after, "d", 1), calling(&after, "a", 1)];
    store.save(&Saving { corpus, ..Saving::default() }, Totals::default()).expect("it is written");
    drop(store);
    let stored = load(&place.path, &after);
    assert_eq!(stored.runs, 2);
    assert_eq!(stored.corpus, ["a", "c", "d"].map(|name| calling(&after, name, 1)), "`a` is not there twice");
    // Whoever goes back to the old crate has its sequences again.
    let old = load(&place.path, &before);
    assert_eq!((old.corpus.len(), old.lost), (3, 1));
}

#[test]
fn a_signature_that_changed_is_another_operation() {
    let place = place();
    let mut operations = operations(&["a"], &[]);
    let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
    let corpus = vec![calling(&operations, "a", 1)];
    store.save(&Saving { corpus, ..Saving::default() }, Totals::default()).expect("it is written");
    drop(store);
    operations.operations[0].params[0].take = Take::Mut;
    let stored = load(&place.path, &operations);
    assert_eq!((stored.corpus.len(), stored.lost), (0, 1));
}

#[test]
fn snapshots_replace_those_of_their_job_and_whole_runs_those_of_earlier_ones() {
    let place = place();
    let operations = operations(&["a"], &[]);
    let kept = |n| Kept { sequence: calling(&operations, "a", n), values: Vec::new() };
    let pool = |job, numbers: &[i128]| Saving {
        job,
        pool: Some(numbers.iter().map(|n| kept(*n)).collect()),
        ..Saving::default()
    };
    let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
    for saving in [pool(1, &[10]), pool(0, &[1]), pool(0, &[2, 3])] {
        store.save(&saving, Totals::default()).expect("it is written");
    }
    drop(store);
    assert_eq!(load(&place.path, &operations).pool, [2, 3, 10].map(kept), "by job, not by time");

    let mut store = Store::open(&place.path, "slab").expect("it opens");
    store.begin_run(&facts(), &operations).expect("it is written");
    store.save(&pool(0, &[4]), Totals::default()).expect("it is written");
    store.finish(&Ending::default()).expect("it is written");
    drop(store);
    assert_eq!(
        load(&place.path, &operations).pool,
        [4, 2, 3, 10].map(kept),
        "a run cut short takes nothing away"
    );

    let mut store = Store::open(&place.path, "slab").expect("it opens");
    store.begin_run(&facts(), &operations).expect("it is written");
    store.save(&pool(0, &[5]), Totals::default()).expect("it is written");
    store.finish(&Ending { whole: true, ..Ending::default() }).expect("it is written");
    drop(store);
    assert_eq!(load(&place.path, &operations).pool, [5].map(kept));
}

#[test]
fn a_finding_keeps_the_date_of_its_first_sight() {
    let place = place();
    let operations = operations(&["b"], &[]);
    let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
    for (execution, literal) in [(3, 9), (77, 1)] {
        let findings = vec![finding("f1", calling(&operations, "b", literal), execution)];
        store.finish(&Ending { findings, whole: true, ..Ending::default() }).expect("it is written");
    }
    drop(store);
    let stored = load(&place.path, &operations);
    assert_eq!(stored.findings, [finding("f1", calling(&operations, "b", 1), 3)]);
}

#[test]
fn a_new_campaign_takes_the_place_of_an_old_one() {
    let place = place();
    let operations = operations(&["a"], &[]);
    for literal in [1, 2] {
        let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
        let corpus = vec![calling(&operations, "a", literal)];
        store.save(&Saving { corpus, ..Saving::default() }, Totals::default()).expect("it is written");
    }
    let stored = load(&place.path, &operations);
    assert_eq!((stored.corpus, stored.runs), (vec![calling(&operations, "a", 2)], 1));
}

#[test]
fn files_that_are_not_ours_stay_as_they_are() {
    let operations = operations(&["a"], &[]);
    let other = place();
    rusqlite::Connection::open(&other.path)
        .and_then(|connection| connection.execute_batch("CREATE TABLE accounts (name TEXT)"))
        .expect("somebody's database");
    let text = place();
    fs::write(&text.path, "my notes\n").expect("a file");
    for place in [other, text] {
        let before = fs::read(&place.path).expect("the file");
        let refusals = [
            inspect(&place.path).map(drop),
            Store::open(&place.path, "slab").map(drop),
            Store::create(&place.path, &facts(), &operations).map(drop),
        ];
        for refusal in refusals {
            let error = refusal.expect_err("it is not ours");
            assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");
            assert!(error.to_string().contains("campaign.sqlite"), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
        assert_eq!(fs::read(&place.path).expect("the file"), before);
        assert_eq!(fs::read_dir(place.path.parent().expect("a folder")).expect("a folder").count(), 1);
    }
}

#[test]
fn damage_is_noticed_and_left_alone() {
    let place = place();
    let operations = operations(&["a"], &[]);
    let mut store = Store::create(&place.path, &facts(), &operations).expect("it is made");
    let corpus = (0..2000).map(|n| calling(&operations, "a", n)).collect();
    store.save(&Saving { corpus, ..Saving::default() }, Totals::default()).expect("it is written");
    drop(store);
    let good = fs::read(&place.path).expect("the file");
    let mut overwritten = good.clone();
    overwritten[good.len() / 3..good.len() / 2].fill(0x5a);
    for bad in [overwritten, good[..good.len() / 2].to_vec()] {
        fs::write(&place.path, &bad).expect("damage");
        let refusals = [
            Store::open(&place.path, "slab").map(drop),
            Store::create(&place.path, &facts(), &operations).map(drop),
        ];
        for refusal in refusals {
            let error = refusal.expect_err("it is damaged");
            assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
            assert_eq!(error.exit_code(), 6);
        }
        assert!(fs::read(&place.path).expect("the file") == bad, "the file was changed");
    }
}

#[test]
fn other_crates_other_schemas_and_nothing_at_all() {
    let place = place();
    let operations = operations(&["a"], &[]);
    assert_eq!(inspect(&place.path).expect("no trouble"), Found::Nothing);
    assert!(matches!(Store::open(&place.path, "slab"), Err(StoreError::Missing(_))));
    assert!(!place.path.exists());
    drop(Store::create(&place.path, &facts(), &operations).expect("it is made"));
    assert_eq!(inspect(&place.path).expect("ours"), Found::Campaign);
    assert!(matches!(Store::open(&place.path, "other"), Err(StoreError::OtherCrate { .. })));
    let store = Store::open(&place.path, "slab").expect("it opens");
    assert!(matches!(Store::open(&place.path, "slab"), Err(StoreError::Busy(_))), "one at a time");
    drop(store);
    let mut bytes = fs::read(&place.path).expect("the file");
    bytes[63] = 99;
    fs::write(&place.path, bytes).expect("the file");
    assert!(matches!(inspect(&place.path), Err(StoreError::OtherSchema { schema: 99, .. })));
}
