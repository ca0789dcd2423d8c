//! The scorecard as a person reads it in the terminal, in at most 100 columns.

use std::io::{self, Write};

use super::text::{number, stated, wrap, write_hanging};
use crate::scorecard::{Article, Kind, Row, Scorecard, Stated, Verdict};

/// Columns of a quote.
const QUOTE: usize = 41;

/// Up to so many claims are shown with what their verdicts rest on.
const EXPLAINED_MAX: usize = 5;

/// Writes all claims by article, and what they come to.
///
/// # Errors
/// Those of `out`.
pub fn write(scorecard: &Scorecard, out: &mut dyn Write) -> io::Result<()> {
    let Scorecard { iisim_version, scale, articles, rows, .. } = scorecard;
    writeln!(out, "Claims of the articles, scale {scale}, iisim {iisim_version}")?;
    for article in articles {
        let mut of_article = rows.iter().filter(|row| is_of(row, article)).peekable();
        if of_article.peek().is_some() {
            write_article(article, out)?;
            of_article.try_for_each(|row| write_row(row, out))?;
        }
    }
    if rows.len() <= EXPLAINED_MAX {
        rows.iter().try_for_each(|row| write_evidence(row, out))?;
    }
    writeln!(out)?;
    write_summary(rows, out)
}

fn is_of(row: &Row, article: &Article) -> bool {
    row.id.split_once('.').is_some_and(|(id, _)| id == article.id)
}

fn write_article(article: &Article, out: &mut dyn Write) -> io::Result<()> {
    let Article { id, title, author, date, .. } = article;
    writeln!(out)?;
    write_hanging(&format!("{id}  "), &format!("{title} ({author}, {date})"), out)?;
    writeln!(
        out,
        "{:<9}{:<QUOTE$} {:>17} {:>10} {:>6}  verdict",
        "", "claim", "published", "simulated", "ratio"
    )
}

fn write_row(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let quote = wrap(&row.quote, QUOTE);
    let published = row.published.map_or(String::new(), |value| with_unit(value, &row.unit));
    let simulated = row.simulated.map_or(String::new(), number);
    let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
    let (first, rest) = quote.split_first().map_or(("", &[][..]), |(q, rest)| (q.as_str(), rest));
    writeln!(
        out,
        "{:<9}{first:<QUOTE$} {published:>17} {simulated:>10} {ratio:>6}  {}",
        row.id,
        row.verdict.word()
    )?;
    rest.iter().try_for_each(|line| writeln!(out, "{:<9}{line}", ""))
}

fn write_evidence(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}  {}", row.id, row.verdict.word())?;
    let said = format!("\"{}\" ({})", row.quote, row.who);
    let runs = row.runs.join(", ");
    let parts =
        [("said", &said), ("evidence", &row.evidence), ("runs", &runs), ("note", &row.note)];
    for (name, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        write_hanging(&format!("  {name:<10}"), text, out)?;
    }
    Ok(())
}

fn write_summary(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let of = |kind: Kind, verdict: Verdict| {
        rows.iter().filter(|row| row.kind == kind && row.verdict == verdict).count()
    };
    let numbers = |verdict| of(Kind::Prediction, verdict);
    let theories = |verdict| of(Kind::Theory, verdict);
    let [reproduced, close, off] = [Verdict::Reproduced, Verdict::Close, Verdict::Off].map(numbers);
    let judged = reproduced + close + off;
    let waiting = numbers(Verdict::NotYet) + numbers(Verdict::Open);
    let text = format!(
        "{reproduced} of {judged} within 10 %, {} within 25 %, {off} further off{}",
        reproduced + close,
        not_yet(waiting)
    );
    write_hanging("predictions   ", &text, out)?;
    let [confirmed, refuted, open] =
        [Verdict::Confirmed, Verdict::Refuted, Verdict::Open].map(theories);
    let text = format!(
        "{confirmed} confirmed, {refuted} refuted, {open} open{}",
        not_yet(theories(Verdict::NotYet))
    );
    write_hanging("theories      ", &text, out)?;
    let calibrations = rows.iter().filter(|row| row.kind == Kind::Calibration).map(|row| {
        let ratio = row.ratio.map_or_else(|| row.verdict.word().to_owned(), |r| format!("{r:.2}"));
        format!("{} {ratio}", row.id)
    });
    let calibrations: Vec<_> = calibrations.collect();
    if !calibrations.is_empty() {
        let text = format!("{} (fitted, and so no success)", calibrations.join(", "));
        write_hanging("calibrations  ", &text, out)?;
    }
    Ok(())
}

fn not_yet(waiting: usize) -> String {
    if waiting == 0 { String::new() } else { format!("; {waiting} not yet judged") }
}

fn with_unit(value: Stated, unit: &str) -> String {
    format!("{} {unit}", stated(value)).trim_end().to_owned()
}

impl Verdict {
    /// As people read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Close => "close",
            Self::Off => "off",
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Open => "open",
            Self::Calibration => "calibration",
            Self::None => "-",
            Self::NotYet => "not yet",
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(id: &str, kind: Kind, verdict: Verdict, values: Option<(f64, f64)>) -> Row {
        Row {
            id: id.to_owned(),
            who: "somebody".to_owned(),
            quote: "a saying that is so long that it does not fit into one line".to_owned(),
            kind,
            measure: "rows/s of one".to_owned(),
            unit: "rows/s".to_owned(),
            published: values.map(|(published, _)| Stated::Number(published)),
            simulated: values.map(|(_, simulated)| simulated),
            ratio: values.map(|(published, simulated)| simulated / published),
            verdict,
            evidence: "rows/s of one 4,321".to_owned(),
            runs: vec!["one".to_owned()],
            note: String::new(),
        }
    }

    fn table(rows: Vec<Row>) -> String {
        let article = |id: &str| Article {
            id: id.to_owned(),
            title: "A benchmark".to_owned(),
            author: "somebody".to_owned(),
            date: "2011".to_owned(),
            url: String::new(),
            figures: Vec::new(),
        };
        let scorecard = Scorecard {
            schema: 1,
            iisim_version: "0.1.0".to_owned(),
            scale: "1/128".to_owned(),
            articles: vec![article("T1"), article("T10")],
            rows,
        };
        let mut text = Vec::new();
        write(&scorecard, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_table_by_article_and_what_it_comes_to() {
        let rows = vec![
            row("T1.1", Kind::Calibration, Verdict::Calibration, Some((25_000.0, 25_100.0))),
            row("T1.2", Kind::Prediction, Verdict::Reproduced, Some((4_500.0, 4_321.0))),
            row("T1.3", Kind::Prediction, Verdict::Close, Some((0.95, 1.0))),
            row("T1.4", Kind::Prediction, Verdict::NotYet, None),
            row("T10.1", Kind::Theory, Verdict::Confirmed, Some((1e8, 1.02e8))),
            row("T10.2", Kind::NotTestable, Verdict::None, None),
        ];
        expect![[r"
            Claims of the articles, scale 1/128, iisim 0.1.0

            T1  A benchmark (somebody, 2011)
                     claim                                             published  simulated  ratio  verdict
            T1.1     a saying that is so long that it does not     25,000 rows/s     25,100   1.00  calibration
                     fit into one line
            T1.2     a saying that is so long that it does not      4,500 rows/s      4,321   0.96  reproduced
                     fit into one line
            T1.3     a saying that is so long that it does not       0.95 rows/s          1   1.05  close
                     fit into one line
            T1.4     a saying that is so long that it does not                                      not yet
                     fit into one line

            T10  A benchmark (somebody, 2011)
                     claim                                             published  simulated  ratio  verdict
            T10.1    a saying that is so long that it does not       100M rows/s       102M   1.02  confirmed
                     fit into one line
            T10.2    a saying that is so long that it does not                                      -
                     fit into one line

            predictions   1 of 2 within 10 %, 2 within 25 %, 0 further off; 1 not yet judged
            theories      1 confirmed, 0 refuted, 0 open
            calibrations  T1.1 1.00 (fitted, and so no success)
        "]].assert_eq(&table(rows));
    }

    #[test]
    fn few_claims_are_explained() {
        let rows = vec![row("T1.2", Kind::Prediction, Verdict::Off, Some((4_500.0, 3_000.0)))];
        expect![[r#"
            Claims of the articles, scale 1/128, iisim 0.1.0

            T1  A benchmark (somebody, 2011)
                     claim                                             published  simulated  ratio  verdict
            T1.2     a saying that is so long that it does not      4,500 rows/s      3,000   0.67  off
                     fit into one line

            T1.2  off
              said      "a saying that is so long that it does not fit into one line" (somebody)
              evidence  rows/s of one 4,321
              runs      one

            predictions   0 of 1 within 10 %, 0 within 25 %, 1 further off
            theories      0 confirmed, 0 refuted, 0 open
        "#]].assert_eq(&table(rows));
    }
}
