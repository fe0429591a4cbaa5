//! `Iterator` and the traits that build on it. Endless iterators are followed for a while only; clones that take from their
//! source, as those of an iterator behind an `Rc` do, say nothing.

use super::{Law, MOVED};

const ITERATOR: &str = "std::iter::Iterator";
const BOTH_ENDS: &str = "std::iter::DoubleEndedIterator";
const CLONE: &str = "std::clone::Clone";

pub const LAWS: &[Law] = &[
    Law {
        class: "law:Iterator.size_hint",
        title: "keeps_its_size_hint",
        blames: ("Iterator", "size_hint"),
        needs: &[ITERATOR],
        written: &[ITERATOR],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let (least, most) = items.size_hint();
            let count = items.take(1000).count();
            assert!(count == 1000 || least <= count, "`size_hint` is true: {least} at least, {count} there");
            assert!(most.is_none_or(|most| count <= most), "`size_hint` is true: {most:?} at most, {count} there");
        }"#,
        says: "`size_hint` is true: ",
        source: "std::iter::Iterator::size_hint: \"the exact lower and upper bounds\"; a wrong one is a bug",
        ..Law::NONE
    },
    Law {
        class: "law:ExactSizeIterator.len",
        title: "has_as_many_items_as_its_len",
        blames: ("ExactSizeIterator", "len"),
        needs: &["std::iter::ExactSizeIterator"],
        written: &[ITERATOR],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let len = ExactSizeIterator::len(&items);
            let count = items.take(1000).count();
            assert!(count == 1000 || count == len, "an iterator has `len` items: {len}, not {count}");
        }"#,
        says: "an iterator has `len` items: ",
        source: "std::iter::ExactSizeIterator: \"size_hint must return the exact size of the iterator\"",
        ..Law::NONE
    },
    Law {
        class: "law:FusedIterator.stays_none",
        title: "stays_none",
        blames: ("FusedIterator", "next"),
        needs: &["std::iter::FusedIterator"],
        written: &[ITERATOR],
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            let ended = items.by_ref().take(1000).count() < 1000;
            assert!(!ended || items.next().is_none(), "a fused iterator that has ended stays so");
        }"#,
        says: "a fused iterator that has ended stays so",
        source: "std::iter::FusedIterator: \"calling next on a fused iterator that has returned None once is guaranteed to return None again\"",
        ..Law::NONE
    },
    Law {
        class: "law:DoubleEndedIterator.ends_meet",
        title: "meets_in_the_middle",
        blames: ("DoubleEndedIterator", "next_back"),
        needs: &[BOTH_ENDS, CLONE],
        written: &[BOTH_ENDS, ITERATOR],
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            let all = items.clone().take(1000).count();
            let shares = items.clone().take(1000).count() != all;
            let mut count = 0;
            while count < 1000 && items.next().is_some() {
                count += 1 + usize::from(items.next_back().is_some());
            }
            assert!(shares || all == 1000 || count == all, "both ends of an iterator meet: {all} items from the front, {count} from both ends");
        }"#,
        says: "both ends of an iterator meet: ",
        source: "std::iter::DoubleEndedIterator: \"both back and forth work on the same range, and do not cross\"",
        ..Law::NONE
    },
    Law {
        class: "law:DoubleEndedIterator.reverse",
        title: "gives_the_same_items_backwards",
        blames: ("DoubleEndedIterator", "next_back"),
        needs: &[BOTH_ENDS, CLONE],
        written: &[BOTH_ENDS, ITERATOR],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let mut forth: Vec<String> = items.clone().take(1000).map(|item| format!("{item:?}")).collect();
            let shares = items.clone().take(1000).count() != forth.len();
            let back: Vec<String> = items.rev().take(1000).map(|item| format!("{item:?}")).collect();
            forth.reverse();
            assert!(shares || forth.len() == 1000 || back == forth, "an iterator gives the same items backwards: {back:?}, not {forth:?}");
        }"#,
        says: "an iterator gives the same items backwards: ",
        source: "std::iter::DoubleEndedIterator: \"items are the same from both ends\"",
        ..Law::NONE
    },
    Law {
        class: "law:Iterator.nth",
        title: "has_nth_like_next",
        blames: ("Iterator", "nth"),
        needs: &[ITERATOR, CLONE],
        written: &[ITERATOR],
        overrides: &["nth"],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let mut steps = items.clone();
            for n in 0..8 {
                let item = format!("{:?}", steps.next());
                let nth = format!("{:?}", items.clone().nth(n));
                assert!(shares || nth == item, "`nth` skips what `next` gives: {nth}, not {item}");
                if item == "None" {
                    break;
                }
            }
        }"#,
        says: "`nth` skips what `next` gives: ",
        source: "std::iter::Iterator::nth: \"returns the nth element\", counted by `next`",
        ..Law::NONE
    },
    Law {
        class: "law:Iterator.count_last",
        title: "has_count_and_last_like_next",
        blames: ("Iterator", "count"),
        needs: &[ITERATOR, CLONE],
        written: &[ITERATOR],
        overrides: &["count", "last"],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let (mut steps, mut number, mut latest) = (items.clone(), 0, None);
            while let Some(item) = steps.next().filter(|_| number < 1000) {
                (number, latest) = (number + 1, Some(item));
            }
            if number < 1000 && !shares {
                assert_eq!(items.clone().count(), number, "`count` and `last` agree with `next`");
                assert_eq!(format!("{:?}", items.last()), format!("{latest:?}"), "`count` and `last` agree with `next`");
            }
        }"#,
        says: "`count` and `last` agree with `next`",
        source: "std::iter::Iterator::count and last: what `next` gives until `None`",
        ..Law::NONE
    },
    Law {
        class: "law:Iterator.fold",
        title: "has_fold_like_next",
        blames: ("Iterator", "fold"),
        needs: &[ITERATOR, CLONE],
        written: &[ITERATOR],
        overrides: &["fold"],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let mut steps = items.clone();
            let stepped: Vec<String> = std::iter::from_fn(|| steps.next()).take(1000).map(|item| format!("{item:?}")).collect();
            if stepped.len() < 1000 && !shares {
                let folded = items.fold(Vec::new(), |mut all: Vec<String>, item| {
                    all.push(format!("{item:?}"));
                    all
                });
                assert!(folded == stepped, "`fold` goes through what `next` gives: {folded:?}, not {stepped:?}");
            }
        }"#,
        says: "`fold` goes through what `next` gives: ",
        source: "std::iter::Iterator::fold: \"folds every element\", as `next` gives them",
        ..Law::NONE
    },
    Law {
        class: "law:DoubleEndedIterator.rfold",
        title: "has_rfold_like_next_back",
        blames: ("DoubleEndedIterator", "rfold"),
        needs: &[BOTH_ENDS, CLONE],
        written: &[BOTH_ENDS],
        overrides: &["rfold"],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let mut steps = items.clone();
            let stepped: Vec<String> = std::iter::from_fn(|| steps.next_back()).take(1000).map(|item| format!("{item:?}")).collect();
            if stepped.len() < 1000 && !shares {
                let folded = items.rfold(Vec::new(), |mut all: Vec<String>, item| {
                    all.push(format!("{item:?}"));
                    all
                });
                assert!(folded == stepped, "`rfold` goes through what `next_back` gives: {folded:?}, not {stepped:?}");
            }
        }"#,
        says: "`rfold` goes through what `next_back` gives: ",
        source: "std::iter::DoubleEndedIterator::rfold: \"starting from the back\"",
        ..Law::NONE
    },
    Law {
        class: "law:DoubleEndedIterator.nth_back",
        title: "has_nth_back_like_next_back",
        blames: ("DoubleEndedIterator", "nth_back"),
        needs: &[BOTH_ENDS, CLONE],
        written: &[BOTH_ENDS],
        overrides: &["nth_back"],
        takes: MOVED,
        code: r#"{
            let items = {0};
            let first = items.clone().take(1000).count();
            let shares = first == 1000 || items.clone().take(1000).count() != first;
            let mut steps = items.clone();
            for n in 0..8 {
                let item = format!("{:?}", steps.next_back());
                let nth = format!("{:?}", items.clone().nth_back(n));
                assert!(shares || nth == item, "`nth_back` skips what `next_back` gives: {nth}, not {item}");
                if item == "None" {
                    break;
                }
            }
        }"#,
        says: "`nth_back` skips what `next_back` gives: ",
        source: "std::iter::DoubleEndedIterator::nth_back: \"the nth element from the end\"",
        ..Law::NONE
    },
    Law {
        class: "law:DoubleEndedIterator.either_end",
        title: "gives_the_same_items_from_either_end",
        blames: ("DoubleEndedIterator", "next_back"),
        needs: &[BOTH_ENDS, CLONE],
        written: &[BOTH_ENDS, ITERATOR],
        takes: MOVED,
        code: r#"{
            let mut items = {0};
            let forth: Vec<String> = items.clone().take(1000).map(|item| format!("{item:?}")).collect();
            let shares = items.clone().take(1000).count() != forth.len();
            let (mut front, mut back) = (Vec::new(), Vec::new());
            while let Some(item) = items.next().filter(|_| front.len() < 1000) {
                front.push(format!("{item:?}"));
                back.extend(items.next_back().map(|item| format!("{item:?}")));
            }
            front.extend(back.into_iter().rev());
            assert!(shares || forth.len() == 1000 || front == forth, "an iterator gives the same items from either end: {front:?}, not {forth:?}");
        }"#,
        says: "an iterator gives the same items from either end: ",
        source: "std::iter::DoubleEndedIterator: \"both back and forth work on the same range\"",
        ..Law::NONE
    },
];
