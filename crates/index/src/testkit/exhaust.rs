//! Every short sequence of operations.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cost_model::{Machine, MachineConfig, SimThread};

use super::check::replay;
use super::keys::TestKeys;
use super::ops::Op;
use crate::IndexEngine;

/// Plays `before` and then every sequence of `length` inserts and deletes of `rows`, each on a
/// fresh engine; shorter sequences are the beginnings of these. Inserts of rows that are there
/// are left out. Returns the number of sequences.
pub fn exhaust<E: IndexEngine>(
    machine: &MachineConfig,
    keys: TestKeys,
    before: &[Op],
    rows: &[u64],
    length: usize,
    build: impl Fn(&mut Machine, &mut SimThread) -> E,
) -> u64 {
    let choices: Vec<_> =
        rows.iter().flat_map(|row| [Op::Insert(*row), Op::Delete(*row)]).collect();
    let start = live_after(before);
    let mut sequences = 0;
    let mut script = Vec::new();
    for number in 0..choices.len().pow(length as u32) {
        script.clear();
        script.extend_from_slice(before);
        let digits = std::iter::successors(Some(number), |rest| Some(rest / choices.len()));
        script.extend(digits.take(length).map(|digit| choices[digit % choices.len()]));
        if repeats_an_insert(&start, &script[before.len()..]) {
            continue;
        }
        sequences += 1;
        let played = catch_unwind(AssertUnwindSafe(|| {
            replay(machine.clone(), keys, std::slice::from_ref(&script), &build);
        }));
        if let Err(reason) = played {
            let text = reason.downcast_ref::<String>().map_or("see above", String::as_str);
            panic!("{text}, with {script:?}");
        }
    }
    sequences
}

fn live_after(ops: &[Op]) -> BTreeSet<u64> {
    let mut live = BTreeSet::new();
    for op in ops {
        match op {
            Op::Insert(row) => drop(live.insert(*row)),
            Op::Delete(row) => drop(live.remove(row)),
            other => panic!("{other:?} in a preparation"),
        }
    }
    live
}

fn repeats_an_insert(start: &BTreeSet<u64>, ops: &[Op]) -> bool {
    let mut live = start.clone();
    ops.iter().any(|op| match op {
        Op::Insert(row) => !live.insert(*row),
        Op::Delete(row) => {
            live.remove(row);
            false
        }
        _ => false,
    })
}
