//! The HTML report, from results and claims made by hand: whole, harmless, and without a request.
//! What a browser makes of it was looked at; nothing here needs one.

use std::collections::{BTreeMap, BTreeSet};

use driver::report::RunResult;
use driver::report::html::html;
use driver::scorecard::{
    Article, Figure, Kind, Published, Row, SCHEMA, Scorecard, Series, Stated, Verdict,
};
use serde_json::Value;

const URL: &str = "https://www.example.org/insert-buffer?a=1&b=2";

/// Runs with every optional part, and with text that has to be escaped.
fn runs() -> BTreeMap<String, RunResult> {
    let read = |json: &str| serde_json::from_str(json).expect("a result");
    let mut hostile: RunResult = read(include_str!("report_formats/everything.json"));
    "</script><script>alert(1)</script> & \"quoted\"".clone_into(&mut hostile.manifest.scenario);
    BTreeMap::from([
        ("s4_off".to_owned(), read(include_str!("report_formats/run.json"))),
        ("what </script> if".to_owned(), hostile),
        ("unused".to_owned(), read(include_str!("report_formats/empty.json"))),
    ])
}

/// A row of each kind and verdict, and a figure with a run that was not simulated.
fn scorecard() -> Scorecard {
    let article = |id: &str, url: &str, figures| Article {
        id: id.to_owned(),
        title: "Insert <Buffer>".to_owned(),
        author: "Mark Callaghan".to_owned(),
        date: "2011-02".to_owned(),
        url: url.to_owned(),
        figures,
    };
    let series = |run: &str, label: &str| Series { run: run.to_owned(), label: label.to_owned() };
    let figure = |y: &str, log, published| Figure {
        title: "Rows per second".to_owned(),
        y: y.to_owned(),
        y_label: "rows/s".to_owned(),
        log,
        series: vec![series("s4_off", "off"), series("s4_absent", "never run")],
        published,
    };
    let mark = Published { rows: 596e6, value: 125.0, label: "S4.10: </script>".to_owned() };
    let figures =
        vec![figure("rows_per_s", true, vec![mark]), figure("io.leaf_read.pages", false, vec![])];
    Scorecard {
        schema: SCHEMA,
        iisim_version: "0.0.0".to_owned(),
        scale: "1/128".to_owned(),
        articles: vec![article("S4", URL, figures), article("S40", "", Vec::new())],
        rows: rows(),
    }
}

fn rows() -> Vec<Row> {
    let row = |id: &str, kind, verdict, published, simulated: Option<f64>| Row {
        id: id.to_owned(),
        who: "O'Callaghan & \"friends\"".to_owned(),
        quote: "<b>36x</b> faster".to_owned(),
        kind,
        measure: "rate at 596M rows".to_owned(),
        unit: "rows/s".to_owned(),
        published,
        simulated,
        ratio: simulated.zip(published).map(|(s, p)| p.ratio(s)),
        verdict,
        evidence: format!("evidence of {id}"),
        runs: vec!["s4_off".to_owned(), "what </script> if".to_owned()],
        note: "a note".to_owned(),
    };
    vec![
        row(
            "S4.1",
            Kind::Calibration,
            Verdict::Calibration,
            Some(Stated::Number(85.0)),
            Some(85.0),
        ),
        row(
            "S4.2",
            Kind::Prediction,
            Verdict::Reproduced,
            Some(Stated::Number(125.0)),
            Some(131.0),
        ),
        row("S4.3", Kind::Prediction, Verdict::Close, Some(Stated::Number(2_500.0)), Some(2_000.0)),
        row("S4.4", Kind::Prediction, Verdict::Off, Some(Stated::Number(1e9)), Some(9e9)),
        row("S4.5", Kind::Theory, Verdict::Confirmed, None, Some(1.5)),
        row("S4.6", Kind::Theory, Verdict::Refuted, None, None),
        row("S4.7", Kind::Theory, Verdict::Open, None, None),
        row("S4.8", Kind::Input, Verdict::None, Some(Stated::Number(16.0)), None),
        row("S4.9", Kind::NotTestable, Verdict::None, None, None),
        row("S40.1", Kind::Prediction, Verdict::NotYet, Some(Stated::Number(9_439.316)), None),
    ]
}

/// Pages of claims with runs, of claims without runs, of runs alone, and of nothing.
fn pages() -> [String; 4] {
    let nothing = Scorecard::without_claims();
    let none = BTreeMap::new();
    [
        html(&scorecard(), &runs()),
        html(&scorecard(), &none),
        html(&nothing, &runs()),
        html(&nothing, &none),
    ]
}

/// The tags of a page with their text, scripts and styles left out.
fn tags(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let length = rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..start + length];
        assert!(!tag.contains('<'), "{tag}");
        tags.push(tag);
        rest = &rest[start + length + 1..];
        let name = tag.split(' ').next().unwrap_or_default();
        if matches!(name, "script" | "style") {
            let end = format!("</{name}>");
            rest = &rest[rest.find(&end).expect("it ends")..];
        }
    }
    tags
}

/// The values of an attribute, in the order of the page.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let start = format!(" {attribute}=\"");
    let after = |tag: &'p str| tag.split_once(&start)?.1.split('"').next();
    tags(page).into_iter().filter_map(after).collect()
}

fn data(page: &str) -> Value {
    let (_, rest) =
        page.split_once("<script id=\"data\" type=\"application/json\">").expect("data");
    let (json, _) = rest.split_once("</script>").expect("it ends");
    serde_json::from_str(json).expect("valid JSON")
}

#[test]
fn every_element_is_closed_where_it_was_opened() {
    for page in pages() {
        let mut open = Vec::new();
        for tag in tags(&page).into_iter().skip(1) {
            let name = tag.split(' ').next().unwrap_or_default();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if matches!(name, "meta" | "input") => {}
                None => open.push(name),
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }
}

#[test]
fn every_chart_has_its_data_and_its_place() {
    for page in pages() {
        let data = data(&page);
        let charts = data["charts"].as_array().expect("a list");
        let places: Vec<usize> =
            values(&page, "data-chart").iter().map(|n| n.parse().expect("a number")).collect();
        let unique: BTreeSet<_> = places.iter().copied().collect();
        assert_eq!(unique, (0..charts.len()).collect());
        assert_eq!(places.len(), charts.len());
        for curve in charts.iter().flat_map(|chart| chart["curves"].as_array().expect("a list")) {
            let x = &data["x"][curve["x"].as_u64().expect("a number") as usize];
            let (xs, ys) = (x.as_array().expect("x"), curve["y"].as_array().expect("y"));
            assert_eq!(xs.len(), ys.len());
        }
    }
}

#[test]
fn a_figure_has_the_curves_that_were_run_and_the_published_points() {
    let page = html(&scorecard(), &runs());
    let figure = &data(&page)["charts"][0];
    assert_eq!(figure["log"], true);
    assert_eq!(figure["curves"].as_array().map(Vec::len), Some(1));
    assert_eq!(figure["curves"][0]["label"], "off");
    let last = runs()["s4_off"].points.last().expect("a point").rows_per_s;
    let drawn = figure["curves"][0]["y"].as_array().and_then(|y| y.last()?.as_f64());
    assert!((drawn.expect("a value") / last - 1.0).abs() < 1e-4);
    assert_eq!(figure["marks"][0]["label"], "S4.10: </script>");
    assert!(page.contains("Not simulated for this report: never run."));
}

#[test]
fn the_time_of_a_row_is_the_time_of_its_clients() {
    let runs = runs();
    let page = html(&Scorecard::without_claims(), &runs);
    let data = data(&page);
    let charts = data["charts"].as_array().expect("a list");
    let chart = charts.iter().find(|chart| {
        chart["group"] == "run s4_off" && chart["y_label"] == "us/row" && chart["form"] == "stack"
    });
    let curves = chart.expect("a chart")["curves"].as_array().expect("a list");
    let run = &runs["s4_off"];
    for (i, point) in run.points.iter().enumerate() {
        let sum: f64 = curves.iter().filter_map(|curve| curve["y"][i].as_f64()).sum();
        // One client.
        assert!((sum * point.rows_per_s / 1e6 - 1.0).abs() < 1e-3, "{sum} at point {i}");
    }
}

#[test]
fn no_text_becomes_markup() {
    for page in pages() {
        assert!(!page.contains("<b>36x"));
        assert!(!page.contains("alert(1)</script>"));
        assert!(!page.contains("S4.10: </script>"));
        assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    }
    let page = html(&scorecard(), &runs());
    assert!(page.contains("&lt;b&gt;36x&lt;/b&gt; faster"));
    assert!(
        page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quoted")
    );
}

#[test]
fn links_lead_somewhere_and_ids_are_unique() {
    for page in pages() {
        let ids = values(&page, "id");
        let unique: BTreeSet<_> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for target in values(&page, "href").into_iter().filter_map(|href| href.strip_prefix('#')) {
            assert!(unique.contains(target), "{target}");
        }
    }
}

#[test]
fn nothing_is_fetched() {
    let article = URL.replace('&', "&amp;");
    for page in pages() {
        assert!(page.contains("content=\"default-src 'none'; "));
        let other = page.replace(&article, "").replace("http://www.w3.org/2000/svg", "");
        // The policy is a `http-equiv`.
        let other = other.replace("http-equiv", "");
        for way in ["http", "//www", "@import", "fetch(", "XMLHttpRequest", "import(", "WebSocket"]
        {
            assert!(!other.contains(way), "{way}");
        }
        for attribute in ["src", "srcset", "action", "data", "poster"] {
            assert_eq!(values(&page, attribute), Vec::<&str>::new());
        }
        assert!(tags(&page).iter().all(|tag| !tag.starts_with("link")));
        let urls = page.split("url(").skip(1);
        assert!(urls.clone().all(|rest| rest.starts_with('#')), "only parts of the page");
    }
}

#[test]
fn every_claim_stands_in_the_table_and_below_its_article() {
    let page = html(&scorecard(), &runs());
    for Row { id, .. } in rows() {
        assert!(page.contains(&format!("<a href=\"#{id}\">{id}</a>")), "{id} in the table");
        assert!(values(&page, "id").contains(&id.as_str()), "{id} below its article");
        assert!(page.contains(&format!("evidence of {id}")));
    }
    // Two of three measured numbers are within 25 %, one of them within 10 %.
    assert!(page.contains("1 of 3"), "reproduced of those judged");
    assert!(page.contains("within 10 %; 2 within 25 %"));
}

#[test]
fn the_same_results_give_the_same_bytes() {
    assert_eq!(pages(), pages());
}
