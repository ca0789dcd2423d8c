//! The claims of the articles as data.

use driver::claims::{Catalogue, catalogue};

/// Every claim of the articles, in their order: none may be lost, none be there twice.
#[test]
fn the_claims_can_be_read() {
    catalogue().unwrap();
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
        ("T1.1", "T2.1"),
        ("title", "titel"),
        ("[runs.one]", "[runs.one"),
        ("\nexperiment", "\nscale = \"1/3\"\nexperiment"),
    ];
    let errors: Vec<_> = cases.iter().map(|(good, bad)| error(good, bad)).collect();
    expect_test::expect![[r#"
        t1.toml:17: measure = { metric = "speed", run = "one" }: unknown variant `speed`, expected one of `number`, `rate`, `time`, `column`, `total`, `crossing`, `period`, `phase`, `folded`, `size`, `ratio`, `difference`, `sum`
        t1.toml:12: T1.1: run = "two": no such run; there are: one
        t1.toml:17: measure = { metric = "rate", run = "one", too = 1 }: unknown field `too`, expected one of `run`, `from`, `to`
        t1.toml:15: kind = "guess": unknown variant `guess`, expected one of `calibration`, `prediction`, `theory`, `input`, `not-testable`
        t1.toml:12: T1.1: expected published, the number that was measured
        t1.toml:16: published = "36": invalid type: string "36", expected f64
        t1.toml:12: T2.1: expected an id such as T1.1
        t1.toml:3: titel = "t": unknown field `titel`, expected one of `id`, `title`, `author`, `date`, `url`
        t1.toml:8: [runs.one: unclosed table, expected `]`
        t1.toml:10: runs.one: --scale: "1/3": split waves depend on log2 of the rows, so other scales than powers of two would compare different phases"#]].assert_eq(&errors.join("\n"));
}
