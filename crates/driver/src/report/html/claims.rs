//! The scorecard: in figures, as a table, and with a card for every claim.

use maud::{Markup, html};

use super::{Page, runs};
use crate::report::text::{number, stated};
use crate::scorecard::{Article, Kind, Row, Scorecard, Verdict};

/// The widths of the verdicts, as shares of the published value.
const REPRODUCED: f64 = 0.10;
const CLOSE: f64 = 0.25;

/// Whether a claim belongs to an article: `S4.3` to `S4`.
pub(super) fn is_of(row: &Row, article: &Article) -> bool {
    row.id.strip_prefix(&article.id).is_some_and(|rest| rest.starts_with('.'))
}

pub(super) fn heading(article: &Article) -> Markup {
    html! {
        h2 { (article.id) ": " (article.title) }
        p .soft {
            (article.author) ", " (article.date)
            @if !article.url.is_empty() {
                ". " a href=(article.url) rel="noreferrer" { "The article" }
            }
        }
    }
}

/// Tiles and table.
pub(super) fn scorecard(scorecard: &Scorecard) -> Markup {
    html! {
        section #scorecard {
            h2 { "Scorecard" }
            (tiles(&scorecard.rows))
            (filters(scorecard))
            div .wide {
                table .score #score {
                    thead { tr {
                        @for (key, label) in
                            [("id", "id"), ("", "claim"), ("published", "published"),
                             ("simulated", "simulated"), ("distance", "simulated / published"),
                             ("verdict", "verdict")]
                        {
                            th scope="col" { @if key.is_empty() { (label) } @else {
                                button type="button" data-sort=(key) { (label) }
                            } }
                        }
                    } }
                    tbody { @for (place, row) in scorecard.rows.iter().enumerate() {
                        (line(place, row, &scorecard.articles))
                    } }
                }
            }
            p .soft #matches role="status" {}
        }
    }
}

fn tiles(rows: &[Row]) -> Markup {
    let with = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let of = |kind: Kind| rows.iter().filter(|row| row.kind == kind).count();
    let [reproduced, close, off] = [Verdict::Reproduced, Verdict::Close, Verdict::Off].map(with);
    let judged = reproduced + close + off;
    let [confirmed, refuted, open] =
        [Verdict::Confirmed, Verdict::Refuted, Verdict::Open].map(with);
    html! {
        div .tiles {
            div .tile {
                h3 { "Measured numbers" }
                p .big { (reproduced) " of " (judged) }
                p { "within 10 %; " (reproduced + close) " within 25 %" }
                (share_bar(&[(Verdict::Reproduced, reproduced), (Verdict::Close, close), (Verdict::Off, off)]))
            }
            div .tile {
                h3 { "Theories" }
                p .big { (confirmed) " confirmed" }
                p { (refuted) " refuted, " (open) " open" }
                (share_bar(&[(Verdict::Confirmed, confirmed), (Verdict::Refuted, refuted), (Verdict::Open, open)]))
            }
            div .tile {
                h3 { "Not judged" }
                p .big { (with(Verdict::NotYet)) " not yet" }
                p {
                    (of(Kind::Input)) " are inputs, " (of(Kind::NotTestable))
                    " nothing that storage decides"
                }
            }
            div .tile {
                h3 { "Calibrations" }
                p .big { (of(Kind::Calibration)) }
                p { "at most one a machine; none counts as a success" }
            }
        }
    }
}

fn share_bar(parts: &[(Verdict, usize)]) -> Markup {
    let all = parts.iter().map(|(_, n)| n).sum::<usize>().max(1);
    html! {
        span .bar aria-hidden="true" {
            @for (verdict, n) in parts {
                i .{ "verdict " (name(*verdict)) } title={ (n) " " (label(*verdict)) }
                    style=(format!("width:{:.2}%", 100.0 * *n as f64 / all as f64)) {}
            }
        }
    }
}

/// What the script filters by; every verdict that occurs, every article.
fn filters(scorecard: &Scorecard) -> Markup {
    let verdicts = VERDICTS.iter().filter(|v| scorecard.rows.iter().any(|row| row.verdict == **v));
    html! {
        form .filters #filters aria-label="Which claims are shown" {
            label { "Article "
                select name="article" {
                    option value="" { "all" }
                    @for article in &scorecard.articles {
                        option value=(article.id) { (article.id) ": " (article.title) }
                    }
                }
            }
            label { "Find " input name="words" type="search" placeholder="who or what"; }
            fieldset {
                legend .unseen { "Verdicts" }
                @for verdict in verdicts {
                    label .chip {
                        input type="checkbox" name="verdict" value=(name(*verdict)) checked;
                        (badge(*verdict))
                    }
                }
            }
        }
    }
}

fn line(place: usize, row: &Row, articles: &[Article]) -> Markup {
    let article = articles.iter().find(|article| is_of(row, article));
    let verdict_rank = VERDICTS.iter().position(|verdict| *verdict == row.verdict);
    let distance = row.ratio.filter(|ratio| 0.0 < *ratio).map(|ratio| libm::log(ratio).abs());
    html! {
        tr data-verdict=(name(row.verdict)) data-article=[article.map(|a| &a.id)]
            data-id=(place) data-rank=[verdict_rank]
            data-published=[row.published.map(|published| published.ends()[0])]
            data-simulated=[row.simulated] data-distance=[distance]
        {
            td .id { a href={ "#" (row.id) } { (row.id) } }
            td .claim { q { (row.quote) } " " span .soft { (row.who) } }
            td .number data-label="published" { (with_unit(row.published.map(stated), &row.unit)) }
            td .number data-label="simulated" { (with_unit(row.simulated.map(number), &row.unit)) }
            td .ratio { @if let Some(ratio) = row.ratio { (ratio_bar(ratio)) } }
            td { (badge(row.verdict)) }
        }
    }
}

/// A number with its unit, such as `4,500 rows/s`; a dash if there is none.
fn with_unit(number: Option<String>, unit: &str) -> Markup {
    let Some(number) = number else { return html! { span .soft { "–" } } };
    html! { (number) @if !unit.is_empty() { " " span .unit { (unit) } } }
}

/// The ratio as a dot around 1, on a logarithmic axis from 1/4 to 4, with the bands of the
/// verdicts.
fn ratio_bar(ratio: f64) -> Markup {
    const WIDTH: f64 = 96.0;
    let place = |ratio: f64| (0.5 + libm::log2(ratio) / 4.0) * WIDTH;
    let band = |share: f64| {
        let (left, right) = (place(1.0 - share), place(1.0 + share));
        (format!("{left:.1}"), format!("{:.1}", right - left))
    };
    let (wide, narrow) = (band(CLOSE), band(REPRODUCED));
    let at = if 0.0 < ratio { place(ratio).clamp(4.0, WIDTH - 4.0) } else { 4.0 };
    let beyond = if 4.0 < ratio {
        "▸"
    } else if ratio < 0.25 {
        "◂"
    } else {
        ""
    };
    html! {
        span .times { (format!("{ratio:.2}")) " ×" (beyond) }
        svg .dot viewBox=(format!("0 0 {WIDTH} 14")) width=(WIDTH) height="14" aria-hidden="true" {
            rect .close x=(wide.0) width=(wide.1) y="0" height="14" {}
            rect .reproduced x=(narrow.0) width=(narrow.1) y="0" height="14" {}
            line x1="0" x2=(WIDTH) y1="7" y2="7" {}
            line x1=(WIDTH / 2.0) x2=(WIDTH / 2.0) y1="0" y2="14" {}
            circle cx=(format!("{at:.1}")) cy="7" r="4" {}
        }
    }
}

/// A card for each claim of an article that is judged, and a line for each that is not.
pub(super) fn cards(page: &Page, article: &Article) -> Markup {
    let rows: Vec<_> = page.scorecard.rows.iter().filter(|row| is_of(row, article)).collect();
    let judged = |kinds: &[Kind]| -> Vec<&Row> {
        rows.iter().copied().filter(|r| kinds.contains(&r.kind) && is_judged(r)).collect()
    };
    let unjudged: Vec<_> = rows.iter().filter(|row| !is_judged(row)).collect();
    html! {
        (group(page, "Measured numbers", &judged(&[Kind::Prediction, Kind::Calibration])))
        (group(page, "Theories", &judged(&[Kind::Theory])))
        @if !unjudged.is_empty() {
            h3 { "Not judged" }
            div .wide {
                table .unjudged { tbody { @for row in unjudged { tr #(row.id) {
                    td .id { (row.id) }
                    td { q { (row.quote) } " " span .soft { (row.who) } }
                    td { (badge(row.verdict)) " " span .soft { (kind(row.kind)) } }
                    td { (row.evidence) @if !row.note.is_empty() { " " (row.note) } }
                } } } }
            }
        }
    }
}

fn is_judged(row: &Row) -> bool {
    !matches!(row.verdict, Verdict::None | Verdict::NotYet)
}

fn group(page: &Page, title: &str, rows: &[&Row]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h3 { (title) }
            div .cards { @for row in rows { (card(page, row)) } }
        }
    }
}

fn card(page: &Page, row: &Row) -> Markup {
    html! {
        article .{ "card " (name(row.verdict)) } #(row.id) {
            header { span .id { (row.id) } (badge(row.verdict)) }
            p .quote { q { (row.quote) } }
            p .soft { (row.who) @if row.kind == Kind::Calibration { ", calibration" } }
            @if row.published.is_some() || row.simulated.is_some() {
                dl {
                    dt { "published" } dd { (with_unit(row.published.map(stated), &row.unit)) }
                    dt { "simulated" } dd { (with_unit(row.simulated.map(number), &row.unit)) }
                    @if let Some(ratio) = row.ratio { dt { "ratio" } dd { (ratio_bar(ratio)) } }
                }
            }
            @if !row.measure.is_empty() { p .small { b { "Measured: " } (row.measure) } }
            @if !row.evidence.is_empty() { p .small { b { "Evidence: " } (row.evidence) } }
            @if !row.note.is_empty() { p .small .note { b { "Why: " } (row.note) } }
            @if !row.runs.is_empty() {
                p .small .soft {
                    "From " @for (number, run) in row.runs.iter().enumerate() {
                        @if 0 < number { ", " }
                        @if page.runs.contains_key(run) {
                            a href={ "#" (runs::id(run)) } { (run) }
                        } @else { (run) }
                    }
                }
            }
        }
    }
}

const VERDICTS: [Verdict; 9] = [
    Verdict::Reproduced,
    Verdict::Close,
    Verdict::Off,
    Verdict::Confirmed,
    Verdict::Refuted,
    Verdict::Open,
    Verdict::Calibration,
    Verdict::NotYet,
    Verdict::None,
];

/// Sign and words, so that no verdict depends on its colour.
fn badge(verdict: Verdict) -> Markup {
    let sign = match verdict {
        Verdict::Reproduced | Verdict::Confirmed => "✓",
        Verdict::Close => "≈",
        Verdict::Off | Verdict::Refuted => "✗",
        Verdict::Open => "?",
        Verdict::Calibration => "◇",
        Verdict::NotYet => "…",
        Verdict::None => "–",
    };
    html! { span .{ "badge verdict " (name(verdict)) } { (sign) " " (label(verdict)) } }
}

fn label(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Close => "close",
        Verdict::Off => "off",
        Verdict::Confirmed => "confirmed",
        Verdict::Refuted => "refuted",
        Verdict::Open => "open",
        Verdict::Calibration => "calibration",
        Verdict::NotYet => "not yet",
        Verdict::None => "nothing to judge",
    }
}

/// The verdict's name in the style sheet.
fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotYet => "not-yet",
        Verdict::None => "none",
        judged => label(judged),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Calibration => "calibration",
        Kind::Prediction => "measured number",
        Kind::Theory => "theory",
        Kind::Input => "input",
        Kind::NotTestable => "nothing that storage decides",
    }
}
