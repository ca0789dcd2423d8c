//! `docs/theories.md` says what the committed scorecard says, and of every theory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use driver::claims::catalogue;
use driver::report::text::{number, stated};
use driver::scenario::Scale;
use driver::scorecard::{Kind, Row, Scorecard};

const BEGIN: &str = "<!-- claims ";
const END: &str = "<!-- end -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn scorecard() -> Scorecard {
    let text = fs::read_to_string(root().join("docs/results/scorecard.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The blocks between the markers, `<!-- claims S4.3 S4.11 -->`, hold what the scorecard says of
/// these claims; `UPDATE_EXPECT=1` rewrites them.
#[test]
fn the_page_says_what_the_scorecard_says() {
    let path = root().join("docs/theories.md");
    let page = fs::read_to_string(&path).unwrap();
    let scorecard = scorecard();
    let rows: BTreeMap<_, _> = scorecard.rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut current = String::new();
    let mut rest = page.as_str();
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (ids, after) = block.split_once(" -->").unwrap();
        let (_, after) = after.split_once(END).unwrap();
        let said = ids.split(' ').map(|id| said(rows[id])).collect::<String>();
        current.extend([before, BEGIN, ids, " -->\n\n", &said, "\n", END]);
        rest = after;
    }
    current += rest;
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &current).unwrap();
    } else {
        assert!(page == current, "docs/theories.md is stale: run with UPDATE_EXPECT=1");
    }
}

/// What was said and what the simulation says of it.
fn said(row: &Row) -> String {
    let Row { id, who, quote, evidence, .. } = row;
    let ratio = match (row.published, row.simulated) {
        (Some(published), Some(simulated)) => {
            let (published, simulated) = (stated(published), number(simulated));
            format!(": published {published}, simulated {simulated} {}", row.unit)
        }
        _ => String::new(),
    };
    let verdict = row.verdict.word();
    let ratio = ratio.trim_end();
    format!("- **{id}**, {who}: \"{quote}\". **{verdict}**{ratio}.\n  {evidence}.\n")
}

#[test]
fn every_theory_is_on_the_page_once() {
    let page = fs::read_to_string(root().join("docs/theories.md")).unwrap();
    let blocks = page.split(BEGIN).skip(1).filter_map(|block| block.split(" -->").next());
    let mut shown: Vec<_> = blocks.flat_map(|ids| ids.split(' ')).collect();
    shown.sort_unstable();
    let theories = scorecard().rows.into_iter().filter(|row| row.kind == Kind::Theory);
    for theory in theories {
        let times = shown.iter().filter(|id| **id == theory.id).count();
        assert_eq!(times, 1, "{} on docs/theories.md", theory.id);
    }
    let once = shown.windows(2).all(|pair| pair[0] != pair[1]);
    assert!(once, "a claim is on docs/theories.md twice");
}

/// The committed scorecard judges the claims as they are now.
#[test]
fn the_committed_scorecard_has_the_claims_of_today() {
    let today = catalogue().unwrap().score(&BTreeMap::new(), Scale::new(7));
    let claims = |scorecard: Scorecard| {
        let claim = |row: Row| {
            (
                row.id,
                row.quote,
                row.kind,
                row.published.map(|published| published.to_string()),
                row.measure,
            )
        };
        scorecard.rows.into_iter().map(claim).collect::<Vec<_>>()
    };
    assert_eq!(claims(scorecard()), claims(today));
}
