//! The report: one file with the scorecard, the curves of every run and what they waited for.
//!
//! It is read offline and years later, so style, script and data are in the page and its policy
//! forbids every request. What is text is written here and readable without the script, which
//! draws the charts and sorts the table. The charts are SVG of the page's own script and not of a
//! chart library, because the same drawing is shown, printed and downloaded; the libraries that
//! were looked at draw on a canvas, which needs a second drawing for two of the three.

mod charts;
mod claims;
mod panels;
mod runs;

use std::collections::{BTreeMap, BTreeSet};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::charts::Charts;
use super::RunResult;
use crate::scorecard::{Article, Scorecard};

/// Nothing is fetched; what the page does is in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The page for a scorecard and the runs it rests on, by the names it uses for them. A scorecard
/// without claims gives a page of the runs alone.
pub fn html(scorecard: &Scorecard, runs: &BTreeMap<String, RunResult>) -> String {
    let mut page = Page { scorecard, runs, charts: Charts::default(), shown: BTreeSet::new() };
    page.document().into_string()
}

/// A page in the making.
struct Page<'a> {
    scorecard: &'a Scorecard,
    runs: &'a BTreeMap<String, RunResult>,
    charts: Charts,
    /// Runs that have their section already.
    shown: BTreeSet<&'a str>,
}

impl<'a> Page<'a> {
    fn document(&mut self) -> Markup {
        let Scorecard { articles, rows, .. } = self.scorecard;
        let title = if rows.is_empty() { "iisim: runs" } else { "iisim: claims and simulation" };
        let sections: Vec<_> = articles.iter().map(|article| self.article(article)).collect();
        let others = self.other_runs();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(include_str!("html/report.css"))) }
                    style { (PreEscaped(include_str!("html/chart.css"))) }
                }
                body {
                    (self.top(others.is_some()))
                    main {
                        (self.introduction(title))
                        @if !rows.is_empty() { (claims::scorecard(self.scorecard)) }
                        @for section in &sections { (section) }
                        @if let Some(others) = &others { (others) }
                    }
                    p #said .unseen aria-live="polite" {}
                    script #data type="application/json" { (PreEscaped(self.charts.json())) }
                    script { (PreEscaped(include_str!("html/axes.js"))) }
                    script { (PreEscaped(include_str!("html/chart.js"))) }
                    script { (PreEscaped(include_str!("html/interact.js"))) }
                    script { (PreEscaped(include_str!("html/report.js"))) }
                }
            }
        }
    }

    fn top(&self, has_runs: bool) -> Markup {
        let Scorecard { articles, rows, .. } = self.scorecard;
        html! {
            header .top {
                nav aria-label="Sections" {
                    a href="#top" { "iisim" }
                    @if !rows.is_empty() { a href="#scorecard" { "Scorecard" } }
                    @for article in articles {
                        a href={ "#" (article.id) } title=(article.title) { (article.id) }
                    }
                    @if has_runs { a href="#runs" { "Runs" } }
                }
                button #theme type="button" title="Light or dark" { "◐" span .unseen { "Light or dark" } }
            }
        }
    }

    fn introduction(&self, title: &str) -> Markup {
        let Scorecard { iisim_version, scale, rows, .. } = self.scorecard;
        html! {
            section #top {
                h1 { (title) }
                @if rows.is_empty() {
                    p .lead {
                        "Simulated runs of the insert benchmark: how fast rows go in, and what \
                         they wait for."
                    }
                } @else {
                    p .lead {
                        "What articles of 2009 to 2012 measured and their readers believed about \
                         inserts into indexed tables, beside what the simulation of the same \
                         machines does. Values, ratios and verdicts are computed from the runs \
                         below."
                    }
                }
                p .soft {
                    "iisim " (iisim_version)
                    @if !rows.is_empty() {
                        ", scale " (scale) "; runs that do not bear it, or whose claims need a \
                         larger one, have their own beside them"
                    }
                    ". All times are virtual. Rows are those of the full scale."
                }
                noscript { p .warning { "The charts and the sorting need JavaScript; the text does not." } }
            }
        }
    }

    fn article(&mut self, article: &'a Article) -> Markup {
        let figures = article.figures.iter().enumerate().map(|(number, figure)| {
            let found: Vec<_> = figure
                .series
                .iter()
                .filter_map(|series| Some((series.label.as_str(), self.runs.get(&series.run)?)))
                .collect();
            let absent: Vec<_> = figure
                .series
                .iter()
                .filter(|series| !self.runs.contains_key(&series.run))
                .collect();
            let name = format!("{} figure {}", article.id, number + 1);
            let chart = self.charts.add_figure(name, figure, &found);
            html! {
                (runs::chart(chart, &figure.title, "figure"))
                @for series in absent {
                    p .soft { "Not simulated for this report: " (series.label) "." }
                }
                @if number == 0 { p .hint { (HINT) } }
            }
        });
        let figures: Vec<_> = figures.collect();
        let rows = self.scorecard.rows.iter().filter(|row| claims::is_of(row, article));
        let series = article.figures.iter().flat_map(|figure| &figure.series).map(|s| &s.run);
        let mut names: Vec<&str> = Vec::new();
        for name in series.chain(rows.flat_map(|row| &row.runs)) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let runs = self.runs_of_article(article, &names);
        html! {
            section #(article.id) .article {
                (claims::heading(article))
                @for figure in figures { (figure) }
                (runs)
                (claims::cards(self, article))
            }
        }
    }
}

const HINT: &str = "Point at a curve for its values, drag to zoom, double-click for the whole; \
                    click a name to hide its curve. With the keyboard: arrows, + and -, 0.";
