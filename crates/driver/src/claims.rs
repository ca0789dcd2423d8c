//! The claims of the articles: what was said, what is measured of which runs to judge it, and the
//! verdict.
//!
//! A claim is data: a file of `sim-configs/claims` for each article holds its quotes, its
//! published numbers, the runs that are needed, and for each claim a [`Metric`] over these runs.
//! Nothing simulated is written there. [`Catalogue::score`] computes values, ratios and verdicts
//! from results, and says why if it cannot.

mod columns;
mod error;
mod file;
mod judge;
mod measure;
mod metric;
mod score;
mod series;
mod waves;

pub use error::ClaimError;
pub use metric::{Limit, Metric, Span, Take, TimeUnit};

use std::collections::{BTreeMap, BTreeSet};

use crate::report::{RunResult, VERSION};
use crate::scenario::{self, Problem, Scale, Scenario, ScenarioError};
use crate::scorecard::{Article, Figure, SCHEMA, Scorecard};

use file::{Claim, File, Header};
use measure::Runs;

/// Every claim of the articles that was chosen, and the runs that judge them.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    articles: Vec<Article>,
    claims: Vec<Claim>,
    runs: BTreeMap<String, Planned>,
}

/// A run that claims rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRun {
    /// What the scorecard calls it; no other run of the catalogue has this name.
    pub name: String,
    /// The experiment, as [`Scenario::load`] takes it.
    pub scenario: String,
    /// What is set over it, `key=value`.
    pub sets: Vec<String>,
    /// The smallest scale that the experiment bears, or that its claims need.
    pub scale: Option<Scale>,
}

impl NamedRun {
    /// The scale of this run when the others run at `wanted`: not below its own.
    pub fn scale_for(&self, wanted: Scale) -> Scale {
        match self.scale {
            Some(own) if own.halvings() < wanted.halvings() => own,
            _ => wanted,
        }
    }
}

/// A run and what is known of it before it starts.
#[derive(Clone, Debug)]
struct Planned {
    run: NamedRun,
    /// Rows that it inserts at full scale, or why it cannot run.
    rows: Result<f64, String>,
}

/// The claims inside the binary.
///
/// # Errors
/// A file of claims that cannot be understood, with its line.
pub fn catalogue() -> Result<Catalogue, ClaimError> {
    Catalogue::parse(&scenario::claim_files())
}

impl Catalogue {
    /// The claims of these files, each a name and a text, in the order of the articles.
    ///
    /// # Errors
    /// A file that cannot be understood, with its line.
    pub fn parse(files: &[(String, &str)]) -> Result<Self, ClaimError> {
        let mut catalogue = Self::default();
        for (name, text) in files {
            catalogue.add(name, text)?;
        }
        catalogue.check_runs()?;
        Ok(catalogue)
    }

    fn add(&mut self, name: &str, text: &str) -> Result<(), ClaimError> {
        let File { article, figures, runs, claims } = file::read(name, text)?;
        for claim in &claims {
            let id = claim.id.get_ref();
            if self.claims.iter().chain(&claims).filter(|other| other.id.get_ref() == id).count()
                != 1
            {
                let message = format!("id = \"{id}\": given twice");
                return Err(ClaimError::at(name, text, claim.id.span(), message));
            }
        }
        for (run, described) in runs {
            let refuse = |message| ClaimError::at(name, text, described.experiment.span(), message);
            let planned = Planned::new(&run, &described).map_err(refuse)?;
            if self.runs.contains_key(&run) {
                return Err(refuse(format!("runs.{run}: another article has a run of this name")));
            }
            self.runs.insert(run, planned);
        }
        let Header { id, title, author, date, url } = article;
        self.articles.push(Article { id, title, author, date, url, figures });
        self.claims.extend(claims);
        Ok(())
    }

    /// Whether the runs exist that claims and figures name; a file may use the runs of another.
    fn check_runs(&self) -> Result<(), ClaimError> {
        let of_claims = self.claims.iter().flat_map(|claim| {
            claim.runs().into_iter().map(|run| (claim.id.get_ref().as_str(), run))
        });
        let of_figures = self.figures().flat_map(|figure| {
            figure.series.iter().map(|series| (figure.title.as_str(), series.run.clone()))
        });
        match of_claims.chain(of_figures).find(|(_, run)| !self.runs.contains_key(run)) {
            Some((place, run)) => {
                let known: Vec<_> = self.runs.keys().map(String::as_str).collect();
                let message =
                    format!("run = \"{run}\": no such run; there are: {}", known.join(", "));
                Err(ClaimError::new(place, message))
            }
            None => Ok(()),
        }
    }

    fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.articles.iter().flat_map(|article| &article.figures)
    }

    /// The claims of one article (`S4`) or one claim alone (`S4.3`).
    ///
    /// # Errors
    /// A name that neither an article nor a claim has.
    pub fn chosen(mut self, only: &str) -> Result<Self, ClaimError> {
        self.claims.retain(|claim| is_chosen(only, claim.id.get_ref()));
        if self.claims.is_empty() {
            let known: Vec<_> = self.articles.iter().map(|article| article.id.as_str()).collect();
            let message = format!(
                "no such claim; expected an article ({}) or a claim of one, such as S4.3",
                known.join(", ")
            );
            return Err(ClaimError::new(&format!("--only {only}"), message));
        }
        let of_claim = |article: &Article| {
            self.claims.iter().any(|claim| is_chosen(&article.id, claim.id.get_ref()))
        };
        self.articles.retain(of_claim);
        // The figures of an article need more runs than one claim of it.
        for article in self.articles.iter_mut().filter(|article| article.id != only) {
            article.figures.clear();
        }
        Ok(self)
    }

    /// The runs that the claims and the figures need, each once, by name. Runs that cannot be
    /// computed yet are left out.
    pub fn runs(&self) -> Vec<NamedRun> {
        let planned = self.planned().into_iter().filter(|planned| planned.rows.is_ok());
        planned.map(|planned| planned.run.clone()).collect()
    }

    /// Those that cannot be computed yet, and why.
    pub fn missing(&self) -> Vec<(&str, &str)> {
        let missing = self.planned().into_iter().filter_map(|planned| {
            Some((planned.run.name.as_str(), planned.rows.as_ref().err()?.as_str()))
        });
        missing.collect()
    }

    fn planned(&self) -> Vec<&Planned> {
        let mut names: BTreeSet<_> = self.claims.iter().flat_map(Claim::runs).collect();
        let series = self.figures().flat_map(|figure| &figure.series);
        names.extend(series.map(|series| series.run.clone()));
        names.iter().filter_map(|name| self.runs.get(name)).collect()
    }

    /// What the results of the runs, by their names, say of the claims; `scale` is that of the
    /// runs that have no scale of their own.
    pub fn score(&self, results: &BTreeMap<String, RunResult>, scale: Scale) -> Scorecard {
        let runs = Runs { planned: &self.runs, results };
        let rows = self.claims.iter().map(|claim| score::row(claim, &runs)).collect();
        Scorecard {
            schema: SCHEMA,
            iisim_version: VERSION.to_owned(),
            scale: scale.to_string(),
            articles: self.articles.clone(),
            rows,
        }
    }
}

/// Whether a claim is `only`, a part of it (`S0.5-low`) or belongs to the article `only`.
fn is_chosen(only: &str, id: &str) -> bool {
    id.strip_prefix(only).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

impl Planned {
    /// A run as a file of claims describes it. That its experiment does not exist yet is no
    /// error: its claims say so.
    fn new(name: &str, described: &file::Run) -> Result<Self, String> {
        let scale = described.scale.as_ref().map(|scale| scale.get_ref().parse::<Scale>());
        let scale = scale.transpose().map_err(|error| format!("runs.{name}: {error}"))?;
        let file::Run { experiment, set, .. } = described.clone();
        let scenario = experiment.into_inner();
        let loaded = Scenario::load(&scenario, &set, None);
        let reason = |error: ScenarioError| match error.problem() {
            Problem::UnknownName { .. } => format!("there is no experiment {scenario} yet"),
            _ => error.to_string(),
        };
        let rows = loaded.map_err(reason).map(|scenario| scenario.workload.rows as f64);
        Ok(Self { run: NamedRun { name: name.to_owned(), scenario, sets: set, scale }, rows })
    }
}
