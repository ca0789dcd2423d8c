//! Recordings give back what was recorded, and files that are none are refused.

use std::io::ErrorKind;
use std::path::Path;

use expect_test::expect;
use index::{IndexId, Key, KeySource, RowId};

use super::{Recorded, record};
use crate::workload::{Domain, IiBench, IiBenchSpec, Profile, write_rows};

const ROWS: u64 = 3_000;

fn published(profile: Profile) -> IiBench {
    IiBench::new(&IiBenchSpec::published(profile, 42, ROWS)).unwrap()
}

fn recording(profile: Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    record(&mut bytes, &published(profile), ROWS).unwrap();
    bytes
}

fn open(directory: &Path, bytes: &[u8], rows: u64) -> Result<Recorded, String> {
    let file = directory.join("rows.bin");
    std::fs::write(&file, bytes).unwrap();
    let prefix = format!("{}/", directory.display());
    Recorded::open(&file, rows).map_err(|error| error.to_string().replace(&prefix, ""))
}

/// The rows in the order of an index, and for each the number of keys below the one that shares
/// its first two columns.
fn order(source: &impl KeySource, index: IndexId) -> Vec<(u64, usize)> {
    let mut rows: Vec<u64> = (0..ROWS).collect();
    rows.sort_by_key(|row| source.key(index, RowId(*row)));
    let keys: Vec<Key> = rows.iter().map(|row| source.key(index, RowId(*row))).collect();
    let below = |row: u64| {
        let bound = source.lower_bound(index, RowId(row), 2);
        keys.partition_point(|key| *key < bound)
    };
    rows.iter().map(|row| (*row, below(*row))).collect()
}

#[test]
fn a_recording_gives_the_rows_and_keys_of_its_source() {
    let directory = tempfile::tempdir().unwrap();
    for profile in Profile::ALL {
        let source = published(profile);
        let replay = open(directory.path(), &recording(profile), ROWS).unwrap();
        // A file does not say how its prices came about, so its keys may have other bits; their
        // order is the same.
        let domain = Domain { price_spread: None, ..source.domain().clone() };
        assert_eq!(*replay.domain(), domain);
        for index in (0..4).map(IndexId) {
            assert_eq!(order(&replay, index), order(&source, index), "{profile:?} {index:?}");
        }
        for row in (0..ROWS).map(RowId) {
            assert_eq!(replay.columns(row), source.columns(row));
            let mut keys = [Key::MAX; 4];
            replay.keys(row, &mut keys);
            for index in (0..4).map(IndexId) {
                assert_eq!(replay.key(index, row), keys[index.index()]);
            }
        }
        let mut texts = [Vec::new(), Vec::new()];
        write_rows(&mut texts[0], &source, 0..ROWS).unwrap();
        write_rows(&mut texts[1], &replay, 0..ROWS + 5).unwrap();
        assert_eq!(texts[0], texts[1]);
    }
}

#[test]
fn a_query_beyond_the_recording_asks_for_values_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let replay = open(directory.path(), &recording(Profile::Python2009), ROWS).unwrap();
    for index in [1, 2, 3].map(IndexId) {
        let beyond = replay.lower_bound(index, RowId(ROWS + 5), 1);
        assert_eq!(beyond, replay.lower_bound(index, RowId(5), 1));
    }
}

/// The messages for a good recording after each of the damages.
fn refusals(damages: &[fn(&mut Vec<u8>)]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let message = |damage: &fn(&mut Vec<u8>)| {
        let mut bytes = recording(Profile::Python2009);
        damage(&mut bytes);
        open(directory.path(), &bytes, ROWS).unwrap_err() + "\n"
    };
    damages.iter().map(message).collect()
}

fn set(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

#[test]
fn damaged_files_are_refused() {
    let messages = refusals(&[
        Vec::clear,
        |bytes| *bytes = b"transactionid,dateandtime\n".into(),
        |bytes| bytes.truncate(5),
        |bytes| bytes.truncate(30),
        |bytes| bytes.truncate(1_000),
        |bytes| bytes.push(0),
        |bytes| set(bytes, 80 + 2, &10_000u16.to_le_bytes()),
    ]);
    expect![[r"
        rows.bin: the file is empty; a recording starts with a header of 80 bytes
        rows.bin: not a recording: it does not start with the word iisimrow
        rows.bin: not a recording: it does not start with the word iisimrow
        rows.bin: 30 bytes long, its header says 80: cut off or damaged
        rows.bin: 1000 bytes long, its header says 33088: cut off or damaged
        rows.bin: 33089 bytes long, its header says 33088: cut off or damaged
        rows.bin: row 0: product is 10000, the header allows 0 to 9999
    "]]
    .assert_eq(&messages);
}

#[test]
fn bad_headers_are_refused() {
    let messages = refusals(&[
        |bytes| set(bytes, 8, &[2]),
        |bytes| set(bytes, 12, &[4]),
        |bytes| set(bytes, 16, &[0; 8]),
        |bytes| set(bytes, 16, &[255; 8]),
        |bytes| set(bytes, 24, &[0; 4]),
        |bytes| set(bytes, 30, &[0]),
        |bytes| set(bytes, 30, &[9]),
        |bytes| set(bytes, 48, &[0; 8]),
        |bytes| set(bytes, 72, &[0; 8]),
        |bytes| set(bytes, 72, &[255; 8]),
    ]);
    expect![[r"
        rows.bin: format version 2; this program reads version 1
        rows.bin: bad header: profile is 4, allowed are 0 to 3
        rows.bin: bad header: rows is 0, allowed are 1 to 2^40
        rows.bin: bad header: rows is 18446744073709551615, allowed are 1 to 2^40
        rows.bin: bad header: price step is 0, allowed are 1 and more
        rows.bin: bad header: width of a column is 0, allowed are 1 to 8 bytes
        rows.bin: bad header: width of a column is 9, allowed are 1 to 8 bytes
        rows.bin: bad header: limit of a column is 0, allowed are 1 to 2^32
        rows.bin: bad header: limit of the batch is 0, allowed are 1 and more
        rows.bin: keys of pdc: price and batch need 81 bits, allowed are 63; fewer rows, customers or prices need less
    "]].assert_eq(&messages);
}

#[test]
fn a_recording_shorter_than_the_run_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = recording(Profile::Python2009);
    let short = open(directory.path(), &bytes, ROWS + 1).unwrap_err();
    assert_eq!(
        short,
        "rows.bin: holds 3000 rows, the workload needs 3001: record more or set fewer"
    );
}

#[test]
fn only_rows_that_the_source_has_are_recorded() {
    let stream = published(Profile::Python2009);
    for rows in [0, ROWS + 1] {
        let error = record(&mut Vec::new(), &stream, rows).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let message = format!("cannot record {rows} rows of a stream: allowed are 1 to 3000");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn files_that_are_none_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = Recorded::open(directory.path(), 1).unwrap_err().to_string();
    assert!(error.ends_with("not a regular file, as a recording is"));
    let missing = directory.path().join("missing.bin");
    let error = Recorded::open(&missing, 1).unwrap_err().to_string();
    assert!(error.contains("missing.bin: cannot read the recording: No such file"), "{error}");
}
