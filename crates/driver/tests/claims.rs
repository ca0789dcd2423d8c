//! The claims of the articles as data.

use std::collections::BTreeMap;

use driver::claims::{Catalogue, catalogue};
use driver::report::{ChangeBuffer, Manifest, PageCounts, Point, RunResult, Totals};
use driver::scenario::{Scale, Scenario};
use driver::scorecard::Verdict;
use expect_test::expect;

/// Every claim of the articles, in their order: none may be lost, none be there twice. A claim of
/// two numbers is two.
#[test]
fn every_claim_of_the_articles_is_there_once() {
    let articles = [("S0", 49), ("S1", 9), ("S2", 16), ("S3", 16), ("S4", 14)];
    let ids = articles
        .iter()
        .flat_map(|(article, claims)| (1..=*claims).map(move |claim| format!("{article}.{claim}")));
    let expected: Vec<_> = ids
        .flat_map(|id| match id.as_str() {
            "S0.5" => vec!["S0.5-low".to_owned(), "S0.5-high".to_owned()],
            _ => vec![id],
        })
        .collect();
    let scorecard = catalogue().unwrap().score(&BTreeMap::new(), Scale::new(7));
    let ids: Vec<_> = scorecard.rows.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids, expected);
}

/// Runs whose experiments or settings do not exist: a misspelt one would hide here.
#[test]
fn the_runs_that_cannot_be_computed_yet_are_known() {
    let catalogue = catalogue().unwrap();
    let missing: Vec<_> =
        catalogue.missing().iter().map(|(run, reason)| format!("{run}: {reason}")).collect();
    expect![""].assert_eq(&missing.join("\n"));
}

/// Without results nothing is judged and nothing invented.
#[test]
fn without_runs_nothing_is_judged() {
    let scorecard = catalogue().unwrap().score(&BTreeMap::new(), Scale::new(7));
    for row in scorecard.rows {
        assert_eq!((row.simulated, row.ratio), (None, None), "{}", row.id);
        assert!(matches!(row.verdict, Verdict::NotYet | Verdict::None), "{}", row.id);
        assert!(!row.evidence.is_empty(), "{}", row.id);
    }
}

#[test]
fn one_article_or_one_claim_can_be_chosen() {
    let names = |only: &str| {
        let runs = catalogue().unwrap().chosen(only).unwrap().runs();
        runs.into_iter().map(|run| run.name).collect::<Vec<_>>()
    };
    assert_eq!(names("S4.10"), ["s4-off"]);
    assert_eq!(names("S4.3"), ["s4-off", "s4-on"]);
    assert!(names("S4").contains(&"s4-myisam".to_owned()));
    let error = catalogue().unwrap().chosen("S9").unwrap_err().to_string();
    expect!["--only S9: no such claim; expected an article (S0, S1, S2, S3, S4) or a claim of one, such as S4.3"].assert_eq(&error);
}

/// A run at its own scale is never smaller than that, and larger if all runs are.
#[test]
fn a_run_with_a_scale_of_its_own_does_not_shrink_below_it() {
    let runs = catalogue().unwrap().runs();
    let of = |name: &str| runs.iter().find(|run| run.name == name).unwrap();
    assert_eq!(of("s1-myisam").scale_for(Scale::new(7)), Scale::FULL);
    assert_eq!(of("s2-fractal-insert").scale_for(Scale::new(7)), Scale::new(4));
    assert_eq!(of("s2-fractal-insert").scale_for(Scale::new(2)), Scale::new(2));
    assert_eq!(of("s4-off").scale_for(Scale::new(7)), Scale::new(7));
}

const FILE: &str = "\
[article]
id = \"T1\"
title = \"t\"
author = \"a\"
date = \"2026\"
url = \"\"

[runs.one]
experiment = \"s4-insert-buffer-on\"

[[claim]]
id = \"T1.1\"
who = \"a\"
quote = \"q\"
kind = \"prediction\"
published = 36
measure = { metric = \"rate\", run = \"one\" }
";

/// What is said of the file when `good` stands as `bad` in it.
fn error(good: &str, bad: &str) -> String {
    assert!(FILE.contains(good), "{good}");
    let text = FILE.replace(good, bad);
    match Catalogue::parse(&[("t1.toml".to_owned(), &text)]) {
        Ok(_) => panic!("{bad} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_file_line_key_value_and_what_is_allowed() {
    Catalogue::parse(&[("t1.toml".to_owned(), FILE)]).unwrap();
    let cases = [
        ("\"rate\"", "\"speed\""),
        ("run = \"one\"", "run = \"two\""),
        ("run = \"one\"", "run = \"one\", too = 1"),
        ("\"prediction\"", "\"guess\""),
        ("published = 36", ""),
        ("published = 36", "published = \"36\""),
        ("published = 36", "published = [36, 3]"),
        ("T1.1", "T2.1"),
        ("title", "titel"),
        ("[runs.one]", "[runs.one"),
        ("\"rate\"", "\"column\", column = \"speed\""),
        ("\nexperiment", "\nscale = \"1/3\"\nexperiment"),
    ];
    let errors: Vec<_> = cases.iter().map(|(good, bad)| error(good, bad)).collect();
    expect![[r#"
        t1.toml:17: measure = { metric = "speed", run = "one" }: unknown variant `speed`, expected one of `number`, `rate`, `time`, `column`, `total`, `crossing`, `period`, `phase`, `folded`, `size`, `ratio`, `difference`
        T1.1: run = "two": no such run; there are: one
        t1.toml:17: measure = { metric = "rate", run = "one", too = 1 }: unknown field `too`, expected one of `run`, `from`, `to`
        t1.toml:15: kind = "guess": unknown variant `guess`, expected one of `calibration`, `prediction`, `theory`, `input`, `not-testable`
        t1.toml:12: T1.1: expected published, the number that was measured
        t1.toml:16: published = "36": expected a number, or two as in [2, 3]
        t1.toml:12: T1.1: published: expected a number above 0, or two, the smaller first
        t1.toml:12: T2.1: expected an id such as T1.1
        t1.toml:3: titel = "t": unknown field `titel`, expected one of `id`, `title`, `author`, `date`, `url`
        t1.toml:8: [runs.one: unclosed table, expected `]`
        t1.toml:12: T1.1: "speed": expected a name of docs/reports.md
        t1.toml:10: runs.one: --scale: "1/3": expected 1 over a power of two, such as 1/128: at other scales the waves of page splits would not be those of the full run"#]].assert_eq(&errors.join("\n"));
}

/// A run of the experiment at 1/128 whose rate falls from 2,000 to 1,000 rows/s in the middle.
fn two_rates() -> RunResult {
    let scenario = Scenario::load("s4-insert-buffer-on", &[], Some(Scale::new(7))).unwrap();
    let point = |rows_full_scale: u64, virtual_s_full_scale: f64, rows_per_s: f64| Point {
        rows: rows_full_scale / 128,
        rows_full_scale,
        virtual_s_full_scale,
        rows_per_s,
        reads_per_row: 1_000.0 / rows_per_s,
        time: BTreeMap::from([("read".to_owned(), 0.25), ("flush".to_owned(), 0.5)]),
        pages: BTreeMap::from([("pdc".to_owned(), PageCounts { leaf: 8_000, internal: 192 })]),
        change_buffer: Some(ChangeBuffer { merges: 3_906, ..ChangeBuffer::default() }),
        ..Point::default()
    };
    RunResult {
        schema: 1,
        queries: Vec::new(),
        manifest: Manifest {
            name: scenario.name,
            title: String::new(),
            question: String::new(),
            machine: String::new(),
            scenario: String::new(),
            scenario_hash: String::new(),
            seed: 42,
            scale: "1/128".to_owned(),
            iisim_version: String::new(),
            values: Vec::new(),
            notes: Vec::new(),
        },
        points: vec![
            point(500_000_000, 250_000.0, 2_000.0),
            point(1_000_000_000, 750_000.0, 1_000.0),
        ],
        totals: Totals {
            rows: 1_000_000_000 / 128,
            rows_full_scale: 1_000_000_000,
            time: BTreeMap::from([("log".to_owned(), 0.125)]),
            ..Totals::default()
        },
    }
}

/// What a metric of that run comes to, or why it comes to nothing.
fn measured(metric: &str) -> String {
    let text = FILE.replace("{ metric = \"rate\", run = \"one\" }", metric);
    let catalogue = Catalogue::parse(&[("t1.toml".to_owned(), &text)]).unwrap();
    let results = BTreeMap::from([("one".to_owned(), two_rates())]);
    let row = catalogue.score(&results, Scale::new(7)).rows.remove(0);
    let value = row.simulated.map_or_else(String::new, |value| format!("{value:.6}, "));
    format!("{value}{:?}: {}", row.verdict, row.evidence)
}

#[test]
fn metrics_of_a_run_whose_rate_halves() {
    let metrics = [
        r#"{ metric = "rate", run = "one" }"#,
        r#"{ metric = "rate", run = "one", from = 400_000_000, to = 600_000_000 }"#,
        r#"{ metric = "time", run = "one", from = 250_000_000, to = 500_000_000, unit = "h" }"#,
        r#"{ metric = "column", run = "one", column = "reads_per_row" }"#,
        r#"{ metric = "column", run = "one", column = "time.flush+read", to = 10_000_000 }"#,
        r#"{ metric = "column", run = "one", column = "seconds_per_row.flush" }"#,
        r#"{ metric = "column", run = "one", column = "rows_per_s", take = "min" }"#,
        r#"{ metric = "column", run = "one", column = "rows_per_s", take = "spread" }"#,
        r#"{ metric = "column", run = "one", column = "change_buffer.merges", take = "per_row" }"#,
        r#"{ metric = "crossing", run = "one", column = "rows_per_s", limit = { below_peak = 0.75 } }"#,
        r#"{ metric = "size", run = "one" }"#,
        r#"{ metric = "total", run = "one", name = "time.log" }"#,
        r#"{ metric = "difference", of = { metric = "rate", run = "one", to = 500_000_000 }, minus = { metric = "number", value = 500 } }"#,
        r#"{ metric = "folded", run = "one", column = "rows_per_s", period = 500_000_000, part = [0.0, 0.1] }"#,
        // What is not there.
        r#"{ metric = "rate", run = "one", to = 2_000_000_000 }"#,
        r#"{ metric = "total", run = "one", name = "reads_per_query_mean" }"#,
    ];
    let values: Vec<_> = metrics.iter().map(|metric| measured(metric)).collect();
    expect![[r"
        1333.333333, Off: rows/s of one 1,333
        1333.333333, Off: rows/s of one from 400M to 600M 1,333
        34.722222, Reproduced: time of one from 250M to 500M 34.7 h
        0.750000, Off: mean reads_per_row of one 0.75
        0.750000, Off: mean time.flush+read of one up to 10M 0.75
        0.000375, Off: mean seconds_per_row.flush of one 375 us
        1000.000000, Off: lowest rows_per_s of one (windows of 1M) 1,000
        0.333333, Off: relative spread of rows_per_s of one (windows of 1M) 0.333
        0.001000, Off: per row change_buffer.merges of one 0.001
        500000000.000000, Off: rows at which rows_per_s of one is first below 0.75 of its peak 500M
        Open: no size of one
        0.125000, Off: total time.log of one 0.125
        1500.000000, Off: rows/s of one up to 500M 2,000
        1500.000000, Off: rows_per_s of one from 0 % to 10 % of every 500M rows 1,500
        Open: one ended at 1B of 2B rows
        Open: no total reads_per_query_mean of one"]]
    .assert_eq(&values.join("\n"));
}

#[test]
fn theories_are_confirmed_by_all_tests_and_refuted_by_one() {
    let told = |confirmed: &str, refuted: &str| {
        format!(
            "[[claim.test]]\nwhat = \"rate\"\nunit = \"rows/s\"\nconfirmed_if = \"{confirmed}\"\n\
             refuted_if = \"{refuted}\"\nmeasure = {{ metric = \"rate\", run = \"one\" }}\n"
        )
    };
    let verdict = |tests: &[String]| {
        let text =
            FILE.replace("prediction", "theory").replace("published = 36", "published = 1_200");
        let text = text.replace("measure = { metric = \"rate\", run = \"one\" }", &tests.concat());
        let catalogue = Catalogue::parse(&[("t1.toml".to_owned(), &text)]).unwrap();
        let results = BTreeMap::from([("one".to_owned(), two_rates())]);
        catalogue.score(&results, Scale::new(7)).rows.remove(0)
    };
    let [yes, no, open] = [(">= 1_000", "< 500"), ("< 500", ">= 1_000"), ("> 2_000", "< 500")]
        .map(|(confirmed, refuted)| told(&confirmed.replace('_', ""), &refuted.replace('_', "")));
    let near = told("within 25 %", "beyond 25 %");
    assert_eq!(verdict(&[yes.clone(), near]).verdict, Verdict::Confirmed);
    assert_eq!(verdict(&[yes.clone(), open.clone()]).verdict, Verdict::Open);
    assert_eq!(verdict(&[yes.clone(), open, no]).verdict, Verdict::Refuted);
    let row = verdict(&[yes]);
    assert_eq!(
        row.evidence,
        "rate: 1,333 rows/s, confirmed (confirmed if >= 1000, refuted if < 500)"
    );
    assert!((row.ratio.unwrap() - 1.111).abs() < 0.001);
}

#[test]
fn numbers_are_reproduced_within_a_tenth_and_close_within_a_quarter() {
    let verdict = |published: &str| {
        let text = FILE.replace("published = 36", &format!("published = {published}"));
        let catalogue = Catalogue::parse(&[("t1.toml".to_owned(), &text)]).unwrap();
        let results = BTreeMap::from([("one".to_owned(), two_rates())]);
        catalogue.score(&results, Scale::new(7)).rows.remove(0).verdict
    };
    let verdicts = ["1_215", "1_210", "1_070", "1_060", "1_475", "1_775", "1_780"].map(verdict);
    assert_eq!(verdicts[..2], [Verdict::Reproduced, Verdict::Close]);
    assert_eq!(verdicts[2..4], [Verdict::Close, Verdict::Off]);
    assert_eq!(verdicts[4..], [Verdict::Reproduced, Verdict::Close, Verdict::Off]);
    let verdicts =
        ["[1_000, 2_000]", "[500, 1_070]", "[500, 1_060]", "[1_780, 2_000]"].map(verdict);
    assert_eq!(verdicts[..2], [Verdict::Reproduced, Verdict::Close]);
    assert_eq!(verdicts[2..], [Verdict::Off, Verdict::Off]);
}
