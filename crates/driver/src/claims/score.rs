//! One claim judged: the row of the scorecard.

use super::file::{Claim, Input};
use super::judge::{self, Test};
use super::measure::{NoValue, Runs};
use super::metric::Metric;
use crate::report::text::number;
use crate::scorecard::{Kind, Row, Verdict};

/// What is said of a claim beyond its own words.
struct Judged {
    simulated: Option<f64>,
    verdict: Verdict,
    evidence: String,
}

/// The row of a claim.
pub(super) fn row(claim: &Claim, runs: &Runs) -> Row {
    let Judged { simulated, verdict, evidence } = judge_claim(claim, runs);
    let unit = match claim.tests.first() {
        Some(test) if claim.unit.is_empty() => test.unit.clone(),
        _ => claim.unit.clone(),
    };
    let ratio = simulated.zip(claim.published).map(|(value, published)| published.ratio(value));
    Row {
        id: claim.id.get_ref().clone(),
        who: claim.who.clone(),
        quote: claim.quote.clone(),
        kind: claim.kind,
        measure: measures(claim),
        unit,
        published: claim.published,
        simulated,
        ratio,
        verdict,
        evidence,
        runs: claim.runs(),
        note: claim.note.clone(),
    }
}

/// What is computed, in words.
fn measures(claim: &Claim) -> String {
    let tests = claim.tests.iter().map(|test| format!("{}: {}", test.what, test.measure.words()));
    claim.measure.iter().map(Metric::words).chain(tests).collect::<Vec<_>>().join("; ")
}

fn judge_claim(claim: &Claim, runs: &Runs) -> Judged {
    if let Some(because) = &claim.because {
        let verdict = if claim.kind == Kind::NotTestable { Verdict::None } else { Verdict::NotYet };
        return Judged { simulated: None, verdict, evidence: because.clone() };
    }
    if let Some(input) = &claim.input {
        let evidence = settings(input, runs);
        return Judged { simulated: None, verdict: Verdict::None, evidence };
    }
    match &claim.measure {
        Some(metric) => judge_number(claim, metric, runs),
        None => judge_theory(claim, runs),
    }
}

fn judge_number(claim: &Claim, metric: &Metric, runs: &Runs) -> Judged {
    let mut facts = Vec::new();
    match metric.value(runs, &mut facts) {
        Ok(value) => {
            let ratio = claim.published.map_or(f64::NAN, |published| published.ratio(value));
            let verdict = match claim.kind {
                Kind::Calibration => Verdict::Calibration,
                _ => judge::number(ratio),
            };
            Judged { simulated: Some(value), verdict, evidence: facts.join("; ") }
        }
        Err(missing) => {
            let (verdict, evidence) = without_value(missing);
            Judged { simulated: None, verdict, evidence }
        }
    }
}

fn judge_theory(claim: &Claim, runs: &Runs) -> Judged {
    let mut simulated = None;
    let (mut verdicts, mut evidence) = (Vec::new(), Vec::new());
    for (place, test) in claim.tests.iter().enumerate() {
        let mut facts = Vec::new();
        let (verdict, text) = match test.measure.value(runs, &mut facts) {
            Ok(value) => {
                if place == 0 {
                    simulated = Some(value);
                }
                let verdict = test.verdict(value, claim.published);
                (verdict, in_words(test, value, verdict, &facts))
            }
            Err(missing) => {
                let (verdict, reason) = without_value(missing);
                (verdict, format!("{}: {reason}", test.what))
            }
        };
        verdicts.push(verdict);
        evidence.push(text);
    }
    Judged { simulated, verdict: judge::theory(&verdicts), evidence: evidence.join(". ") }
}

fn in_words(test: &Test, value: f64, verdict: Verdict, facts: &[String]) -> String {
    let Test { what, unit, confirmed_if, refuted_if, .. } = test;
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let verdict = verdict.word();
    // A single fact is the value itself.
    let facts = if facts.len() < 2 { String::new() } else { format!("; {}", facts.join(", ")) };
    format!(
        "{what}: {}{unit}, {verdict} (confirmed if {}, refuted if {}{facts})",
        number(value),
        confirmed_if.text,
        refuted_if.text
    )
}

fn without_value(missing: NoValue) -> (Verdict, String) {
    match missing {
        NoValue::NoRun(reason) => (Verdict::NotYet, reason),
        NoValue::NoData(reason) => (Verdict::Open, reason),
    }
}

/// What the scenario of an input says.
fn settings(input: &Input, runs: &Runs) -> String {
    let Some(result) = runs.results.get(&input.run) else {
        return format!("{} was not run", input.run);
    };
    let value = |key: &String| {
        let found = result.manifest.values.iter().find(|value| value.key == *key);
        format!("{key} = {}", found.map_or("absent", |value| value.value.as_str()))
    };
    let values: Vec<_> = input.keys.iter().map(value).collect();
    format!("{}: {}", input.run, values.join(", "))
}
