//! The key streams against the values that the measured servers were fed with, and against the
//! order in which a server sorts the same rows.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

use driver::workload::{
    Draws, IiBench, IiBenchSpec, Micro, MicroOrder, MicroSpec, Profile, Purchases, SpecError,
    Stream, StreamError, StreamSpec, below, hash, record, write_rows,
};
use expect_test::expect;
use index::{IndexId, Key, KeySource, RowId};

const SEED: u64 = 42;
const SECONDARY: [IndexId; 3] = [IndexId(1), IndexId(2), IndexId(3)];
const PDC: IndexId = IndexId(3);

fn published(profile: Profile, rows: u64) -> IiBench {
    IiBench::new(&IiBenchSpec::published(profile, SEED, rows)).unwrap()
}

fn rows(stream: &IiBench) -> impl Iterator<Item = RowId> {
    (0..stream.domain().rows).map(RowId)
}

mod against_published_values {
    use super::*;

    #[test]
    fn hashes_and_unrounded_prices_of_the_first_rows() {
        let lines = include_str!("data/purchases_seed_42_hashes.csv").lines().skip(1);
        let unrounded = published(Profile::Unrounded, 10);
        let mut checked = 0;
        for (line, row) in lines.zip(rows(&unrounded)) {
            let fields: Vec<&str> = line.split(',').collect();
            for column in 0..4 {
                let expected = u64::from_str_radix(fields[1 + column], 16).unwrap();
                assert_eq!(hash(SEED, row, column as u64), expected, "{row:?} column {column}");
            }
            let price: f64 = fields[5].parse().unwrap();
            assert_eq!(unrounded.columns(row).price, (price as f32).to_bits(), "{row:?}");
            checked += 1;
        }
        assert_eq!(checked, 10);
    }

    #[test]
    fn text_of_the_first_rows() {
        let expected = include_str!("data/purchases_seed_42.csv");
        let mut text = Vec::new();
        write_rows(&mut text, &published(Profile::Python2009, 1_000_000), 0..10).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn sums_of_the_first_one_and_five_million_rows() {
        let stream = published(Profile::Python2009, 5_000_000);
        let mut sums = [0u64; 4];
        for row in rows(&stream) {
            let columns = stream.columns(row);
            assert_eq!(columns.batch, row.0 / 1_000);
            let values = [columns.cash_register, columns.customer, columns.product, columns.price];
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += u64::from(value);
            }
            if row.0 + 1 == 1_000_000 {
                assert_eq!(sums, [498_956_969, 50_020_096_631, 5_001_330_963, 50_270_292_763]);
            }
        }
        assert_eq!(sums, [2_496_769_141, 249_949_375_890, 24_999_045_946, 251_199_392_661]);
    }

    #[test]
    fn micro_orders() {
        let micro = |order| Micro::new(&MicroSpec { order, seed: SEED, rows: 1_000_000 }).unwrap();
        let [sequential, random, descending, nearly_sorted] = MicroOrder::ALL.map(micro);
        for i in (0..1_000_000).step_by(997) {
            let row = RowId(i);
            assert_eq!(sequential.k(row), i);
            assert_eq!(random.k(row), hash(SEED, row, 0) >> 1);
            assert_eq!(descending.k(row), (1 << 40) - i);
            let near = i * 1_000 + u64::from(below(hash(SEED, row, 0), 1_000_000));
            assert_eq!(nearly_sorted.k(row), near);
        }
    }
}

mod order {
    use super::*;

    /// The columns of a row in an index as a server compares them, computed from the definition
    /// of the benchmark: prices as floats, rounded by printing them.
    fn tuple(spec: &IiBenchSpec, index: IndexId, row: RowId) -> Vec<f64> {
        let drawn = |column, n| f64::from(below(hash(spec.seed, row, column), n));
        let unit = (hash(spec.seed, row, 3) >> 11) as f64 / (1u64 << 53) as f64;
        let register = drawn(0, spec.cash_registers);
        let product = drawn(1, spec.products);
        let customer = drawn(2, spec.customers);
        let batch = (row.0 / spec.rows_per_statement) as f64;
        let money = (unit * f64::from(spec.max_price) + customer) / 100.0;
        let price = match spec.profile {
            Profile::Python2009 | Profile::Layout2017 => format!("{money:.2}").parse().unwrap(),
            Profile::Unrounded => money as f32,
            Profile::Layout2023 => below(hash(spec.seed, row, 3), spec.max_price) as f32,
        };
        let (price, id) = (f64::from(price), row.0 as f64);
        match (index.0, spec.profile) {
            (0, _) => vec![id],
            (1, Profile::Layout2023) => vec![product, customer, price, id],
            (1, _) => vec![price, customer, id],
            (2, Profile::Layout2023) => vec![register, customer, price, id],
            (2, _) => vec![register, price, customer, id],
            _ => vec![price, batch, customer, id],
        }
    }

    /// The published sizes, and sizes so small that rows agree in most columns.
    fn specs(profile: Profile) -> [IiBenchSpec; 3] {
        let large = IiBenchSpec::published(profile, SEED, 1_000_000_000);
        let small = IiBenchSpec {
            rows: 999,
            rows_per_statement: 7,
            cash_registers: 3,
            products: 2,
            customers: 4,
            max_price: 2,
            ..large.clone()
        };
        let single = IiBenchSpec { cash_registers: 1, products: 1, customers: 1, ..small.clone() };
        [large, small, single]
    }

    fn pairs(spec: &IiBenchSpec) -> impl Iterator<Item = (RowId, RowId)> {
        let row = |i, column, rows| RowId(hash(1, RowId(i), column) % rows);
        let rows = spec.rows;
        (0..20_000).map(move |i| (row(i, 0, rows), row(i, 1, rows)))
    }

    #[test]
    fn keys_sort_as_the_rows_do() {
        for spec in Profile::ALL.into_iter().flat_map(specs) {
            let stream = IiBench::new(&spec).unwrap();
            for (a, b) in pairs(&spec) {
                for index in [IndexId::PRIMARY].into_iter().chain(SECONDARY) {
                    let keys = stream.key(index, a).cmp(&stream.key(index, b));
                    let tuples = tuple(&spec, index, a).partial_cmp(&tuple(&spec, index, b));
                    assert_eq!(Some(keys), tuples, "{spec:?} {index:?} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn lower_bounds_lie_before_equal_values_and_after_smaller_ones() {
        for spec in Profile::ALL.into_iter().flat_map(specs) {
            let stream = IiBench::new(&spec).unwrap();
            for (a, b) in pairs(&spec).take(4_000) {
                for index in [IndexId::PRIMARY].into_iter().chain(SECONDARY) {
                    let (from, other) = (tuple(&spec, index, a), tuple(&spec, index, b));
                    for columns in 0..=from.len() {
                        let bound = stream.lower_bound(index, a, columns as u32);
                        let after = bound <= stream.key(index, b);
                        let expected = from[..columns] <= other[..columns];
                        assert_eq!(after, expected, "{spec:?} {index:?} {a:?} {b:?} {columns}");
                        assert!(bound <= stream.key(index, a));
                    }
                }
            }
        }
    }

    #[test]
    fn a_query_may_take_its_constants_from_a_row_beyond_the_stream() {
        let spec = IiBenchSpec::published(Profile::Python2009, SEED, 100_000);
        let stream = IiBench::new(&spec).unwrap();
        for i in 0..2_000 {
            let (query, row) = (RowId(1_000_000_000 + i), RowId(i * 7));
            for (index, columns) in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1)] {
                let index = IndexId(index);
                let after = stream.lower_bound(index, query, columns) <= stream.key(index, row);
                let columns = columns as usize;
                let (from, other) = (tuple(&spec, index, query), tuple(&spec, index, row));
                assert_eq!(after, from[..columns] <= other[..columns], "{index:?} {query:?}");
            }
            let end = stream.lower_bound(IndexId::PRIMARY, query, 1);
            assert!(stream.key(IndexId::PRIMARY, RowId(99_999)) < end);
        }
    }

    #[test]
    fn keys_at_once_equal_keys_one_by_one() {
        for spec in Profile::ALL.into_iter().flat_map(specs) {
            let stream = IiBench::new(&spec).unwrap();
            for (row, _) in pairs(&spec).take(1_000) {
                for count in 1..=4 {
                    let mut keys = vec![Key::MAX; count];
                    stream.keys(row, &mut keys);
                    for (index, key) in keys.into_iter().enumerate() {
                        assert_eq!(key, stream.key(IndexId(index as u16), row));
                    }
                }
            }
        }
    }

    #[test]
    fn micro_keys_sort_by_number_and_row() {
        for order in MicroOrder::ALL {
            let micro = Micro::new(&MicroSpec { order, seed: SEED, rows: 1_000_000 }).unwrap();
            let k = IndexId(1);
            for i in 0..20_000 {
                let [a, b] = [0, 1].map(|column| RowId(hash(2, RowId(i), column) % 1_000_000));
                let by_k = (micro.k(a), a).cmp(&(micro.k(b), b));
                assert_eq!(micro.key(k, a).cmp(&micro.key(k, b)), by_k, "{order:?} {a:?} {b:?}");
                assert_eq!(
                    micro.key(IndexId::PRIMARY, a).cmp(&micro.key(IndexId::PRIMARY, b)),
                    a.cmp(&b)
                );
                let after = micro.lower_bound(k, a, 1) <= micro.key(k, b);
                assert_eq!(after, micro.k(a) <= micro.k(b), "{order:?} {a:?} {b:?}");
            }
        }
    }
}

mod locality {
    use super::*;

    fn distinct_prices(stream: &IiBench) -> usize {
        rows(stream).map(|row| stream.columns(row).price).collect::<HashSet<_>>().len()
    }

    #[test]
    fn rounded_prices_are_about_a_hundred_thousand() {
        let count = distinct_prices(&published(Profile::Python2009, 5_000_000));
        assert!((100_440..=100_501).contains(&count), "{count} prices");
        assert_eq!(distinct_prices(&published(Profile::Layout2023, 1_000_000)), 500);
        let count = distinct_prices(&published(Profile::Unrounded, 1_000_000));
        assert!(900_000 < count, "{count} prices");
    }

    #[test]
    fn a_wider_price_step_keeps_the_rows_per_price() {
        for step in [2, 16, 128, 1_024] {
            let spec = IiBenchSpec {
                price_step: step,
                ..IiBenchSpec::published(Profile::Layout2017, SEED, 2_000_000)
            };
            let count = distinct_prices(&IiBench::new(&spec).unwrap());
            let expected = 100_500.0 / f64::from(step);
            let deviation = (count as f64 - expected).abs();
            assert!(deviation <= 2.0 + expected / 500.0, "{count} prices at step {step}");
        }
    }

    #[test]
    fn pdc_appends_at_the_end_of_each_price() {
        for price_step in [1, 128] {
            let spec = IiBenchSpec {
                price_step,
                ..IiBenchSpec::published(Profile::Python2009, SEED, 1_000_000)
            };
            let stream = IiBench::new(&spec).unwrap();
            let mut last = vec![None; stream.domain().limits.price as usize];
            let mut appended = 0;
            for row in rows(&stream) {
                let (key, columns) = (stream.key(PDC, row), stream.columns(row));
                if let Some((last_key, last_batch)) = last[columns.price as usize] {
                    // Rows of one statement share their time and sort by customer.
                    if last_batch < columns.batch {
                        assert!(last_key < key, "{row:?}");
                        appended += 1;
                    }
                }
                last[columns.price as usize] = Some((key, columns.batch));
            }
            assert!(500_000 < appended, "{appended} rows followed another of their price");
        }
    }

    #[test]
    fn the_top_word_tells_keys_apart_and_uses_its_range() {
        for (profile, rows_total) in
            Profile::ALL.into_iter().flat_map(|profile| [(profile, 1_000_000), (profile, 1 << 32)])
        {
            let stream = published(profile, rows_total);
            for index in SECONDARY {
                let of = |i: u64| stream.key(index, RowId(i * (rows_total / 1_000_000))).prefix();
                let mut prefixes: Vec<u64> = (0..1_000_000).map(of).collect();
                prefixes.sort_unstable();
                assert!(1 << 62 < prefixes[999_999], "{profile:?} {index:?} starts with zeros");
                prefixes.dedup();
                let distinct = prefixes.len();
                assert!(999_000 < distinct, "{profile:?} {rows_total} {index:?}: {distinct}");
            }
        }
    }
}

mod specs {
    use super::*;

    /// The messages for a stream of the published sizes after each of the changes.
    fn refusals(changes: &[fn(&mut IiBenchSpec)]) -> String {
        let message = |change: &fn(&mut IiBenchSpec)| {
            let mut spec = IiBenchSpec::published(Profile::Python2009, SEED, 1_000_000);
            change(&mut spec);
            let error = StreamSpec::IiBench(spec).open().unwrap_err();
            assert!(matches!(error, StreamError::Spec(_)));
            format!("{error}\n")
        };
        changes.iter().map(message).collect()
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let messages = refusals(&[
            |spec| spec.rows = 0,
            |spec| spec.rows = (1 << 40) + 1,
            |spec| spec.rows_per_statement = 0,
            |spec| spec.cash_registers = 0,
            |spec| spec.products = 0,
            |spec| spec.customers = 0,
            |spec| spec.max_price = 1_001,
            |spec| spec.price_step = 2_048,
            |spec| spec.price_step = 96,
        ]);
        expect![[r"
            rows = 0: allowed are 1 to 2^40
            rows = 1099511627777: allowed are 1 to 2^40
            rows_per_statement = 0: allowed are 1 to 2^20
            cash_registers = 0: allowed are 1 to 2^30
            products = 0: allowed are 1 to 2^30
            customers = 0: allowed are 1 to 2^30
            max_price = 1001: allowed are 1 to 1000
            price_step = 2048: allowed are powers of two from 1 to 1024
            price_step = 96: allowed are powers of two from 1 to 1024
        "]]
        .assert_eq(&messages);
        let micro = Micro::new(&MicroSpec { order: MicroOrder::Random, seed: SEED, rows: 0 });
        let allowed = "1 to 2^40";
        assert_eq!(micro.unwrap_err(), SpecError::OutOfRange { name: "rows", value: 0, allowed });
    }

    #[test]
    fn keys_that_do_not_fit_are_refused() {
        let messages = refusals(&[
            |spec| {
                spec.profile = Profile::Unrounded;
                spec.rows = 1 << 34;
                spec.rows_per_statement = 1;
            },
            |spec| {
                spec.customers = 1 << 30;
                spec.rows = 1 << 36;
            },
            |spec| {
                spec.customers = 1 << 30;
                spec.cash_registers = 1 << 30;
            },
        ]);
        expect![[r"
            keys of pdc: price and batch need 65 bits, allowed are 63; fewer rows, customers or prices need less
            keys of pdc: customer and row need 67 bits, allowed are 63; fewer rows, customers or prices need less
            keys of registersegment: register, customer and price need 70 bits, allowed are 63; fewer rows, customers or prices need less
        "]].assert_eq(&messages);
    }

    #[test]
    fn the_largest_numbers_allowed_go_through() {
        let spec = IiBenchSpec {
            max_price: 1_000,
            price_step: 1_024,
            ..IiBenchSpec::published(Profile::Python2009, SEED, 1 << 40)
        };
        let stream = IiBench::new(&spec).unwrap();
        let last = RowId((1 << 40) - 1);
        assert_eq!(stream.columns(last).batch, last.0 / 1_000);
        assert_eq!(stream.lower_bound(PDC, last, 4), stream.key(PDC, last));
        assert!(stream.lower_bound(PDC, last, 3) < stream.key(PDC, last));
    }

    #[test]
    fn each_kind_of_stream_opens() {
        let spec = IiBenchSpec::published(Profile::Layout2023, SEED, 100);
        let iibench = StreamSpec::IiBench(spec).open().unwrap();
        assert!(matches!(iibench, Stream::IiBench(stream) if stream.domain().rows == 100));
        let spec = MicroSpec { order: MicroOrder::Descending, seed: 1, rows: 7 };
        let micro = StreamSpec::Micro(spec).open().unwrap();
        assert!(matches!(micro, Stream::Micro(stream) if stream.rows() == 7));
        let directory = tempfile::tempdir().unwrap();
        let spec = StreamSpec::Recorded { file: directory.path().join("rows.bin"), rows: 50 };
        assert!(matches!(spec.open(), Err(StreamError::Recorded(_))));
        let source = published(Profile::Unrounded, 60);
        let mut file = std::fs::File::create(directory.path().join("rows.bin")).unwrap();
        record(&mut file, &source, 50).unwrap();
        let recorded = spec.open().unwrap();
        assert!(matches!(recorded, Stream::Recorded(stream) if stream.domain().rows == 50));
    }
}

mod text {
    use super::*;

    fn lines(stream: &impl driver::workload::PrintRow, range: std::ops::Range<u64>) -> String {
        let mut text = Vec::new();
        write_rows(&mut text, stream, range).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The first rows of the measured runs of a fractal tree library.
    #[test]
    fn columns_may_be_drawn_by_remainders() {
        let spec = IiBenchSpec {
            draws: Draws::Remainder,
            ..IiBenchSpec::published(Profile::Unrounded, SEED, 10)
        };
        expect![[r"
            transactionid,dateandtime,cashregisterid,customerid,productid,price
            1,2013-01-01 00:00:00,413,63858,2291,640.30096
            2,2013-01-01 00:00:00,5,94207,8974,944.535
        "]]
        .assert_eq(&lines(&IiBench::new(&spec).unwrap(), 0..2));
    }

    #[test]
    fn prices_print_as_each_version_sends_them() {
        let price = |stream: &IiBench| {
            let text = lines(stream, 0..1);
            text.trim_end().rsplit(',').next().unwrap().to_owned()
        };
        assert_eq!(price(&published(Profile::Layout2017, 10)), "280.32");
        assert_eq!(price(&published(Profile::Unrounded, 10)), "280.32095");
        assert_eq!(price(&published(Profile::Layout2023, 10)), "172");
        let spec = IiBenchSpec {
            price_step: 128,
            ..IiBenchSpec::published(Profile::Python2009, SEED, 10)
        };
        assert_eq!(price(&IiBench::new(&spec).unwrap()), "280.32");
    }

    #[test]
    fn each_statement_is_a_second_later() {
        let text = lines(&published(Profile::Python2009, 100_000_000), 86_399_999..86_400_001);
        expect![[r"
            transactionid,dateandtime,cashregisterid,customerid,productid,price
            86400000,2013-01-01 23:59:59,889,71425,2382,716.90
            86400001,2013-01-02 00:00:00,699,69669,8397,701.67
        "]]
        .assert_eq(&text);
    }

    #[test]
    fn rows_beyond_the_stream_are_not_printed() {
        let spec = MicroSpec { order: MicroOrder::Descending, seed: 1, rows: 2 };
        expect![[r"
            id,k
            1,1099511627776
            2,1099511627775
        "]]
        .assert_eq(&lines(&Micro::new(&spec).unwrap(), 0..100));
    }

    #[test]
    fn what_is_printed_can_be_listed() {
        for profile in Profile::ALL {
            let stream = published(profile, 3_000);
            let listed = Purchases::listed(lines(&stream, 0..3_000).as_bytes(), profile).unwrap();
            assert_eq!(listed.domain().rows, 3_000);
            for row in (0..3_000).map(RowId) {
                assert_eq!(listed.columns(row), stream.columns(row), "{profile:?} {row:?}");
            }
        }
    }

    #[test]
    fn a_list_with_a_bad_line_is_refused() {
        const NAMES: &str = "transactionid,dateandtime,cashregisterid,customerid,productid,price\n";
        let first = "1,2013-01-01 00:00:01,741,27860,1599,280.32\n";
        let mut messages = String::new();
        for (rows, profile) in [
            ("", Profile::Python2009),
            ("1,2013-01-01 00:00:01,741\n", Profile::Python2009),
            ("2,2013-01-01 00:00:01,741,27860,1599,280.32\n", Profile::Python2009),
            (&format!("{first}2,2013-01-01 00:00:00,741,27860,1599,280.32\n"), Profile::Python2009),
            ("1,2013-01-01 00:00:01,-1,27860,1599,280.32\n", Profile::Python2009),
            ("1,2013-01-01 00:00:01,741,27860,1599,280.3\n", Profile::Layout2017),
            ("1,2013-01-01 00:00:01,741,27860,1599,NaN\n", Profile::Unrounded),
            ("1,2013-01-01 00:00:01,741,27860,1599,280.32\n", Profile::Layout2023),
        ] {
            let list = format!("{NAMES}{rows}");
            let error = Purchases::listed(list.as_bytes(), profile).unwrap_err();
            let _ = writeln!(messages, "{error}");
        }
        let error = Purchases::listed("id,k\n".as_bytes(), Profile::Python2009).unwrap_err();
        let _ = writeln!(messages, "{error}");
        expect![[r#"
            line 1: no row follows the names of the columns
            line 2: 3 values, expected one for each of transactionid,dateandtime,cashregisterid,customerid,productid,price
            line 2: transactionid = "2": expected 1: it counts the rows
            line 3: dateandtime = "2013-01-01 00:00:00": expected 2013-01-01 00:00:01 or later, as in the row before
            line 2: cashregisterid = "-1": expected a whole number below 2^32
            line 2: price = "280.3": expected money with two decimals
            line 2: price = "NaN": expected a number of at least 0
            line 2: price = "280.32": expected a whole number below 2^32
            line 1: "id,k": expected the names of the columns, transactionid,dateandtime,cashregisterid,customerid,productid,price
        "#]].assert_eq(&messages);
    }

    /// Accepts some bytes, then fails.
    struct Closing(usize, ErrorKind);

    impl Write for Closing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 < bytes.len() {
                return Err(self.1.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_ends_quietly_and_a_full_disk_does_not() {
        let stream = published(Profile::Python2009, 100_000);
        let write = |kind| write_rows(Closing(20_000, kind), &stream, 0..100_000);
        write(ErrorKind::BrokenPipe).unwrap();
        assert_eq!(write(ErrorKind::StorageFull).unwrap_err().kind(), ErrorKind::StorageFull);
        let error = record(&mut Closing(20_000, ErrorKind::StorageFull), &stream, 100_000);
        assert_eq!(error.unwrap_err().to_string(), "no storage space");
    }
}
