//! Runs side by side, and each with the charts that tell why its curve is what it is.

use std::fmt::Write;

use cost_model::Cause;
use maud::{Markup, html};

use super::Page;
use crate::report::table::{by_share, top_two};
use crate::report::text::{bytes, count, duration, grouped, percent, rate, trimmed};
use crate::report::{Manifest, RunResult};
use crate::scorecard::Article;

/// The place of a chart; the script draws it there.
pub(super) fn chart(number: usize, title: &str, class: &str) -> Markup {
    html! {
        figure .chart .(class) data-chart=(number) { figcaption { (title) } }
    }
}

/// The id of a run's section: its name, with what does not belong in a link as its code.
pub(super) fn id(name: &str) -> String {
    let mut id = "run-".to_owned();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            id.push(c);
        } else {
            let _ = write!(id, ":{:x}", u32::from(c));
        }
    }
    id
}

impl<'a> Page<'a> {
    /// The runs of an article beside each other, and the sections of those that had none yet.
    pub(super) fn runs_of_article(&mut self, article: &Article, names: &[&'a str]) -> Markup {
        let runs: Vec<_> =
            names.iter().filter_map(|name| Some((*name, self.runs.get(*name)?))).collect();
        if runs.is_empty() {
            return html! {};
        }
        html! {
            h3 { "Runs of " (article.id) ", side by side" }
            (side_by_side(&runs))
            (self.details(&runs))
        }
    }

    /// The runs that no article uses; none if there is none.
    pub(super) fn other_runs(&mut self) -> Option<Markup> {
        let of_articles = std::mem::take(&mut self.shown);
        let runs: Vec<_> = self
            .runs
            .iter()
            .map(|(name, run)| (name.as_str(), run))
            .filter(|(name, _)| !of_articles.contains(name))
            .collect();
        let title = if of_articles.is_empty() { "Runs" } else { "Other runs" };
        (!runs.is_empty()).then(|| {
            html! {
                section #runs {
                    h2 { (title) }
                    (side_by_side(&runs))
                    (self.details(&runs))
                }
            }
        })
    }

    fn details(&mut self, runs: &[(&'a str, &'a RunResult)]) -> Markup {
        let alone = self.runs.len() == 1;
        let sections: Vec<_> = runs
            .iter()
            .filter(|(name, _)| self.shown.insert(name))
            .map(|(name, run)| {
                let panels: Vec<_> = self.charts.add_panels(name, run);
                let titled = panels.iter().map(|&n| (n, self.charts.title(n)));
                details(name, run, titled, alone)
            })
            .collect();
        html! { @for section in sections { (section) } }
    }
}

/// A line per run: how fast, and where the time of a row goes.
fn side_by_side(runs: &[(&str, &RunResult)]) -> Markup {
    let causes = Cause::ALL.iter().enumerate().filter(|(_, cause)| {
        runs.iter().any(|(_, run)| run.totals.time.get(cause.name()).is_some_and(|s| 0.001 <= *s))
    });
    html! {
        div .wide {
            table .runs {
                thead { tr {
                    th scope="col" { "run" }
                    th scope="col" .number { "rows" }
                    th scope="col" .number { "rows/s" }
                    th scope="col" .number { "client time/row" }
                    th scope="col" { "where it goes" }
                    th scope="col" .number { "reads/row" }
                    th scope="col" .number { "writes/row" }
                    th scope="col" .number { "hit ratio" }
                    th scope="col" .number { "stalls" }
                } }
                tbody { @for (name, run) in runs { (line(name, run)) } }
            }
        }
        p .key {
            @for (number, cause) in causes {
                span { i .{ "area k" (number) } {} (cause.name()) }
            }
        }
    }
}

fn line(name: &str, run: &RunResult) -> Markup {
    let totals = &run.totals;
    let row_s = totals.client_s / totals.rows.max(1) as f64;
    html! {
        tr {
            th scope="row" { a href={ "#" (id(name)) } title=(run.manifest.title) { (name) } }
            td .number { (count(totals.rows_full_scale)) }
            td .number { (rate(totals.rows_per_s_mean)) }
            td .number { (duration(row_s)) }
            td {
                span .bar title=(top_two(&totals.time)) aria-hidden="true" {
                    @for (number, cause) in Cause::ALL.iter().enumerate() {
                        @if let Some(share) = totals.time.get(cause.name()) {
                            i .{ "area k" (number) } style=(format!("width:{:.2}%", 100.0 * share)) {}
                        }
                    }
                }
                span .small { (top_two(&totals.time)) }
            }
            td .number { (trimmed(totals.reads_per_row_mean, 3)) }
            td .number { (trimmed(totals.writes_per_row_mean, 3)) }
            td .number { (format!("{:.4}", totals.hit_ratio_mean)) }
            td .number {
                @if totals.stalls.count == 0 { "0" } @else {
                    (grouped(totals.stalls.count)) " (to " (duration(totals.stalls.longest_ms / 1e3)) ")"
                }
            }
        }
    }
}

fn details<'t>(
    name: &str,
    run: &RunResult,
    panels: impl Iterator<Item = (usize, &'t str)>,
    open: bool,
) -> Markup {
    let Manifest { title, question, machine, scale, seed, notes, .. } = &run.manifest;
    html! {
        details .run #(id(name)) open[open] {
            summary { b { (name) } " " span .soft { (title) } }
            @if !question.is_empty() { p { (question) } }
            p .soft {
                (machine) ". Scale " (scale) ", seed " (seed) "; pages, entries and bytes are of \
                 the run at this scale."
            }
            @for note in notes { p .warning { (note) } }
            div .panels { @for (number, title) in panels { (chart(number, title, "panel")) } }
            (totals(run))
            (manifest(&run.manifest))
        }
    }
}

fn totals(run: &RunResult) -> Markup {
    let totals = &run.totals;
    let row_us = 1e6 * totals.client_s / totals.rows.max(1) as f64;
    html! {
        details {
            summary { "Totals" }
            div .wide {
                table {
                    thead { tr {
                        th scope="col" { "time of a client" }
                        th scope="col" .number { "us/row" }
                        th scope="col" .number { "share" }
                    } }
                    tbody { @for (cause, share) in by_share(&totals.time) { tr {
                        th scope="row" { (cause) }
                        td .number { (rate(share * row_us)) }
                        td .number { (percent(share)) }
                    } } }
                }
                table {
                    thead { tr {
                        th scope="col" { "I/O by purpose" }
                        th scope="col" .number { "requests" }
                        th scope="col" .number { "pages" }
                        th scope="col" .number { "data" }
                    } }
                    tbody { @for (purpose, io) in &totals.io { tr {
                        th scope="row" { (purpose) }
                        td .number { (grouped(io.requests)) }
                        td .number { (grouped(io.pages)) }
                        td .number { (bytes(io.bytes)) }
                    } } }
                }
            }
        }
    }
}

/// Everything that is needed to run it again.
fn manifest(manifest: &Manifest) -> Markup {
    let assumed = manifest.values.iter().filter(|value| value.assumed.is_some()).count();
    html! {
        details {
            summary { "Manifest: " (manifest.values.len()) " values, " (assumed) " of them assumed" }
            p .soft {
                "iisim " (manifest.iisim_version) ", scenario " code { (manifest.name) }
                ", fingerprint " code { (manifest.scenario_hash) } "."
            }
            div .wide {
                table .values {
                    thead { tr {
                        th scope="col" { "key" }
                        th scope="col" { "value" }
                        th scope="col" { "set by" }
                        th scope="col" { "source, or why it was assumed" }
                    } }
                    tbody { @for value in &manifest.values { tr {
                        th scope="row" { code { (value.key) } }
                        td { (value.value) }
                        td { (value.origin) }
                        td {
                            @if let Some(source) = &value.source { (source) }
                            @if let Some(reason) = &value.assumed { b { "assumed" } ": " (reason) }
                        }
                    } } }
                }
            }
            details {
                summary { "Text of the scenario" }
                pre { (manifest.scenario) }
            }
        }
    }
}
