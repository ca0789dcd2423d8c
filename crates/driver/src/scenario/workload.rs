//! The workload: the key stream, how clients send it, what is deleted and queried beside it.

use index::IndexShape;

use super::kind::{Kind, Value, Word};
use super::param::{Is, Param, When};
use super::values::{Choice, Values, words};
use crate::workload::{
    Draws, IiBenchSpec, MICRO_ROW_BYTES, MicroOrder, MicroSpec, Profile, RowLayout, StreamSpec,
    shapes,
};

/// The workload of a scenario. Rows are at the scale of the run, rates are not scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The keys.
    pub stream: StreamSpec,
    /// Rows inserted.
    pub rows: u64,
    /// Rows of a partition of the table; `None` for a table in one piece.
    pub partition_rows: Option<u64>,
    /// Secondary indexes that are maintained.
    pub secondary_indexes: u32,
    /// The number of the index that is maintained alone, without the clustered one.
    pub only_index: Option<u16>,
    /// Widths of the columns where they are not those of the profile.
    pub widths: ColumnWidths,
    /// Rows of an insert statement.
    pub rows_per_statement: u64,
    /// Rows between two commits.
    pub rows_per_commit: u64,
    /// Connections that insert.
    pub clients: u32,
    /// Rows inserted per second by all clients together; `None` for as many as possible.
    pub insert_rate_limit: Option<u64>,
    /// What is deleted, if anything.
    pub window: Option<Window>,
    /// What is queried, if anything.
    pub queries: Option<Queries>,
}

impl Workload {
    /// Connections of all kinds: those that insert, that which deletes, those that query.
    pub fn connections(&self) -> u32 {
        let separate = |window: Window| window.connection == DeleteConnection::Separate;
        let deleters = u32::from(self.window.is_some_and(separate));
        self.clients + deleters + self.queries.map_or(0, |queries| queries.clients)
    }

    /// The number in the table of the index that comes first.
    pub fn first_index(&self) -> u16 {
        self.only_index.unwrap_or(0)
    }

    /// Indexes of the table.
    pub fn indexes(&self) -> u32 {
        self.secondary_indexes + u32::from(self.only_index.is_none())
    }

    /// The indexes of a table of purchases of this version.
    pub fn shapes(&self, profile: Profile) -> Vec<IndexShape> {
        let layout = self.widths.layout(profile);
        match self.only_index.map(usize::from) {
            Some(only) => shapes(profile, layout, only).split_off(only),
            None => shapes(profile, layout, self.secondary_indexes as usize),
        }
    }

    /// Range partitions that the rows fill; one without partitions.
    pub fn partitions(&self) -> u64 {
        self.partition_rows.map_or(1, |rows| self.rows.div_ceil(rows))
    }
}

/// Widths of rows and of the columns of purchases, in bytes, where a scenario sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnWidths {
    /// Of the primary key.
    pub key_bytes: Option<u32>,
    /// Of `dateandtime`.
    pub datetime_bytes: Option<u32>,
    /// Of `price`.
    pub price_bytes: Option<u32>,
    /// Of `data`; 0 for a table without it.
    pub data_bytes: Option<u32>,
    /// Of a row of a micro table.
    pub row_bytes: Option<u32>,
}

/// A table of constant size: its oldest rows are deleted as new ones come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows kept.
    pub rows: u64,
    /// Who deletes.
    pub connection: DeleteConnection,
    /// Whether the oldest partition is dropped, instead of deleting its rows.
    pub drops_partitions: bool,
}

/// Who deletes the oldest rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteConnection {
    /// The client that inserted, after its statement.
    Same,
    /// A client of its own at the same statement rate.
    Separate,
}

/// Queries beside the inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queries {
    /// Which index they read.
    pub kind: QueryKind,
    /// Connections that query, each in an endless loop.
    pub clients: u32,
    /// What range scans ask for; `None` for equality look-ups of one row.
    pub range: Option<RangeQuery>,
    /// Queries per second of all clients together; `None` for as many as possible.
    pub rate_limit: Option<u64>,
    /// Rows inserted before the first query.
    pub start_after_rows: u64,
    /// Leaves that the optimiser looks at most to estimate a range; 0: it does not estimate.
    pub estimate_leaves: u32,
    /// Queries that follow the load, instead of queries beside it.
    pub after_load: Option<AfterLoad>,
}

/// What range scans ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeQuery {
    /// Rows at most.
    pub limit: u32,
    /// Which columns are bounded.
    pub predicate: Predicate,
}

/// Queries after the load: one client sends them, all rounds of one kind, then those of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterLoad {
    /// Whether the engine has nothing in memory when they begin.
    pub cold: bool,
    /// Queries of each kind in a round.
    pub queries: u64,
    /// Rounds of each kind.
    pub rounds: u32,
}

/// Which columns a range query bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// All columns of the index, in their order.
    AllColumns,
    /// The first column.
    FirstColumn,
    /// The price; columns before it have to be equal.
    Price,
}

/// Which index a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// The first secondary index.
    Market,
    /// The second.
    Register,
    /// The third.
    Pdc,
    /// The clustered index.
    Primary,
    /// All that exist, in turn.
    RoundRobin,
    /// After the load: ranges of each secondary index, rows by primary key, entries of the first
    /// secondary index.
    Each,
}

impl QueryKind {
    /// The number of the index in the table, if it is one.
    pub fn index(self) -> Option<u16> {
        match self {
            Self::Primary => Some(0),
            Self::Market => Some(1),
            Self::Register => Some(2),
            Self::Pdc => Some(3),
            Self::RoundRobin | Self::Each => None,
        }
    }
}

words!(Predicate {
    "all-columns" => AllColumns: "The columns together are at least those of a row (OR ladders).";
    "first-column" => FirstColumn: "The first column is at least that of a row.";
    "price" => Price: "The price is at least that of a row, columns before it are equal.";
});

words!(Profile {
    "python-2009" => Python2009: "Python tool of 2009-2012: prices in cents, INT keys.";
    "unrounded" => Unrounded: "Java and C++ tools: prices not rounded, so pdc is random too.";
    "layout-2017" => Layout2017: "Python tool of 2017-2023: BIGINT keys, wider rows, cents.";
    "layout-2023" => Layout2023: "Python tool since December 2023: 500 prices, other indexes.";
});

words!(Draws {
    "multiplied" => Multiplied: "Four random numbers a row, made numbers below n by a multiplication: \
                                 the measured runs of MariaDB and MySQL.";
    "remainder" => Remainder: "Eight, made so by the remainder of a division: the measured runs of a \
                               fractal tree library.";
});

words!(MicroOrder {
    "sequential" => Sequential: "Ascending.";
    "random" => Random: "Uniform.";
    "descending" => Descending: "Descending.";
    "nearly-sorted" => NearlySorted: "Ascending but for the last 1,000 arrivals.";
});

words!(DeleteConnection {
    "same" => Same: "The inserting connection, after its statement.";
    "separate" => Separate: "A connection of its own.";
});

words!(QueryKind {
    "market" => Market: "The index marketsegment.";
    "register" => Register: "The index registersegment.";
    "pdc" => Pdc: "The index pdc.";
    "primary" => Primary: "The clustered index.";
    "round-robin" => RoundRobin: "All indexes that exist, in turn.";
    "each" => Each: "After the load: ranges of each secondary index, then rows by primary key, \
                     then entries of the first secondary index.";
});

const KINDS: &[Word] = &[
    Word { word: "iibench", doc: "The insert benchmark: purchases with random columns." },
    Word { word: "micro", doc: "A table of a primary key and one indexed number." },
    Word { word: "recorded", doc: "Purchases recorded in a file." },
];

/// The words of `workload.queries.kind`: [`QueryKind`] or none.
const QUERY_KINDS: &[Word] = &[
    Word { word: "none", doc: "No queries." },
    QueryKind::WORDS[0],
    QueryKind::WORDS[1],
    QueryKind::WORDS[2],
    QueryKind::WORDS[3],
    QueryKind::WORDS[4],
    QueryKind::WORDS[5],
];

/// The words of `workload.only_index`.
const ONLY_INDEXES: &[Word] = &[
    Word { word: "none", doc: "The clustered index and workload.secondary_indexes others." },
    QueryKind::WORDS[0],
    QueryKind::WORDS[1],
    QueryKind::WORDS[2],
];

const ROWS_MAX: u64 = 1_000_000_000_000;
const ROWS: Kind = Kind::Count("rows", 1, ROWS_MAX);
const IIBENCH: &[When] = &[When::word("workload.kind", &["iibench"])];
const MICRO: &[When] = &[When::word("workload.kind", &["micro"])];
const RECORDED: &[When] = &[When::word("workload.kind", &["recorded"])];
const OF_PURCHASES: When = When::word("workload.kind", &["iibench", "recorded"]);
const PURCHASES: &[When] = &[OF_PURCHASES];
const WITH_QUERIES: When = When::word(
    "workload.queries.kind",
    &["market", "register", "pdc", "primary", "round-robin", "each"],
);
const QUERIES: &[When] = &[OF_PURCHASES, WITH_QUERIES];
const RANGE_QUERIES: &[When] =
    &[OF_PURCHASES, WITH_QUERIES, When { key: "workload.queries.point", is: Is::No }];
const AFTER_LOAD: &[When] =
    &[OF_PURCHASES, WITH_QUERIES, When { key: "workload.queries.after_load", is: Is::Positive }];
const FRACTAL_PURCHASES: &[When] = &[OF_PURCHASES, When::word("engine.kind", &["fractal"])];
const COLD: &[When] = &[
    OF_PURCHASES,
    WITH_QUERIES,
    When { key: "workload.queries.after_load", is: Is::Positive },
    When::word("engine.kind", &["fractal"]),
];
const WITH_PRIMARY: &[When] = &[When::word("workload.only_index", &["none"])];
const WINDOW: &[When] = &[When { key: "workload.window", is: Is::Positive }];

pub(super) const PARAMS: &[Param] = &[
    Param::new("workload.kind", Kind::Word(KINDS), "Which key stream is replayed."),
    Param::new(
        "workload.profile",
        Kind::Word(Profile::WORDS),
        "The version of the insert benchmark: its prices and its indexes.",
    )
    .when(IIBENCH),
    Param::new(
        "workload.order",
        Kind::Word(MicroOrder::WORDS),
        "The order in which the indexed numbers arrive.",
    )
    .when(MICRO),
    Param::new(
        "workload.row_bytes",
        Kind::Count("bytes", MICRO_ROW_BYTES as u64, 8_000),
        "Bytes of the columns of a row: its key, its number, and others that no index has.",
    )
    .preset("16")
    .source("the measured reference runs: a table of two BIGINT columns")
    .when(MICRO),
    Param::new(
        "workload.file",
        Kind::Text,
        "The recording; a path that starts from the folder of this file.",
    )
    .when(RECORDED),
    Param::new("workload.rows", ROWS, "Rows inserted.").shrinks(),
    Param::new(
        "workload.partition_rows",
        Kind::Count("rows", 0, ROWS_MAX),
        "Rows of each partition of the table, which is cut into ranges of its primary key; \
         0: it is in one piece.",
    )
    .preset("0")
    .source("iibench.py, defaults of its options")
    .shrinks(),
    Param::new(
        "workload.only_index",
        Kind::Word(ONLY_INDEXES),
        "A secondary index that is maintained alone, without a clustered one: a dictionary of a \
         library.",
    )
    .preset("none")
    .source("iibench.py: a table with a primary key")
    .when(FRACTAL_PURCHASES),
    Param::new(
        "workload.secondary_indexes",
        Kind::Count("indexes", 0, 3),
        "Secondary indexes maintained: the first so many of the table.",
    )
    .from("all: 3 of purchases, 1 of micro", |values| {
        Some(Value::Whole(if values.word("workload.kind") == Some("micro") { 1 } else { 3 }))
    })
    .when(WITH_PRIMARY),
    Param::new(
        "workload.key_bytes",
        Kind::OneOf("bytes", &[4, 8]),
        "Width of the primary key: 4 as INT, 8 as BIGINT.",
    )
    .from("of the profile", |values| Some(width(profile(values)?.key_bytes)))
    .source("iibench.py, history of its table")
    .when(PURCHASES),
    Param::new(
        "workload.datetime_bytes",
        Kind::OneOf("bytes", &[5, 8]),
        "Width of dateandtime: 8 up to MySQL 5.5, 5 from 5.6.4 on.",
    )
    .from("of the profile", |values| Some(width(profile(values)?.datetime_bytes)))
    .source("iibench.py, history of its table")
    .when(PURCHASES),
    Param::new(
        "workload.price_bytes",
        Kind::OneOf("bytes", &[4, 8]),
        "Width of price: 4 as FLOAT or INT, 8 as DOUBLE or BIGINT.",
    )
    .preset("4")
    .source("iibench.py, history of its table")
    .when(FRACTAL_PURCHASES),
    Param::new(
        "workload.data_bytes",
        Kind::Count("bytes", 0, 127),
        "Mean width of the column data; 0: the table has none.",
    )
    .from("of the profile", |values| Some(width(profile(values)?.data_bytes)))
    .source("iibench.py, history of its table")
    .when(PURCHASES),
    Param::new(
        "workload.draws",
        Kind::Word(Draws::WORDS),
        "How the columns of a row follow from the seed: streams of other keys, equally random.",
    )
    .preset("multiplied")
    .source("the measured reference runs of MariaDB")
    .when(IIBENCH),
    Param::new(
        "workload.cash_registers",
        Kind::Count("cash registers", 1, 1 << 30),
        "Distinct values of cashregisterid.",
    )
    .preset("1_000")
    .source("iibench.py, option with_max_table_rows: off")
    .when(IIBENCH),
    Param::new(
        "workload.products",
        Kind::Count("products", 1, 1 << 30),
        "Distinct values of productid.",
    )
    .preset("10_000")
    .source("iibench.py, defaults of its options")
    .when(IIBENCH),
    Param::new(
        "workload.customers",
        Kind::Count("customers", 1, 1 << 30),
        "Distinct values of customerid; prices follow them.",
    )
    .preset("100_000")
    .source("iibench.py, defaults of its options")
    .when(IIBENCH),
    Param::new(
        "workload.max_price",
        Kind::Count("units of price", 1, 1_000),
        "Width of the random part of a price: cents, or whole money in layout-2023.",
    )
    .preset("500")
    .source("iibench.py, defaults of its options")
    .when(IIBENCH),
    Param::new(
        "workload.rows_per_statement",
        Kind::Count("rows", 1, 1 << 20),
        "Rows of an insert statement; they share one dateandtime.",
    )
    .preset("1_000")
    .source("iibench.py, defaults of its options"),
    Param::new(
        "workload.rows_per_commit",
        Kind::Count("rows", 1, 1 << 30),
        "Rows between two commits of a client.",
    )
    .preset("1_000")
    .source("iibench.py, defaults of its options"),
    Param::new("workload.clients", Kind::Count("clients", 1, 4_096), "Connections that insert.")
        .preset("1")
        .source("iibench.py: one inserting connection"),
    Param::new(
        "workload.insert_rate_limit",
        Kind::Count("rows/s", 0, 1_000_000_000),
        "Rows inserted per second at most by all clients together; 0: no limit.",
    )
    .preset("0")
    .assumed("iibench.py limits only if told to, by its option inserts_per_second"),
    Param::new(
        "workload.window",
        Kind::Count("rows", 0, ROWS_MAX),
        "Rows the table keeps: each statement beyond them deletes as many of the oldest; \
         0: nothing is deleted.",
    )
    .preset("0")
    .source("iibench.py, defaults of its options")
    .shrinks(),
    Param::new(
        "workload.delete_connection",
        Kind::Word(DeleteConnection::WORDS),
        "Who deletes the oldest rows.",
    )
    .preset("same")
    .source("iibench.py of 2009 to 2017; a connection of its own since May 2023")
    .when(WINDOW),
    Param::new(
        "workload.drop_partitions",
        Kind::Bool,
        "Whether the oldest partition is dropped when it has left the window, instead of deleting \
         its rows.",
    )
    .preset("false")
    .source("iibench.py: rows are deleted")
    .when(WINDOW),
    Param::new(
        "workload.queries.kind",
        Kind::Word(QUERY_KINDS),
        "Which index is queried, beside the inserts or after them.",
    )
    .preset("none")
    .source("iibench.py since 2016: no query threads unless asked for")
    .when(PURCHASES),
    Param::new(
        "workload.queries.clients",
        Kind::Count("clients", 1, 4_096),
        "Connections that query, each in an endless loop.",
    )
    .preset("1")
    .source("iibench.py since 2016, scripts: one per inserting client")
    .when(QUERIES),
    Param::new(
        "workload.queries.point",
        Kind::Bool,
        "Whether a query looks up the entries with the values of one row in all columns of the \
         index, instead of scanning a range.",
    )
    .preset("false")
    .source("iibench.py: range scans")
    .when(QUERIES),
    Param::new(
        "workload.queries.limit",
        Kind::Count("rows", 1, 1_000_000),
        "Rows of a range scan, forward from a random start.",
    )
    .preset("10")
    .source("iibench.py since 2016; 1,000 before")
    .when(RANGE_QUERIES),
    Param::new(
        "workload.queries.rate_limit",
        Kind::Count("queries/s", 0, 1_000_000_000),
        "Queries per second at most of all clients together; 0: no limit.",
    )
    .preset("0")
    .source("iibench.py: queries are not limited")
    .when(QUERIES),
    Param::new(
        "workload.queries.start_after_rows",
        Kind::Count("rows", 0, ROWS_MAX),
        "Rows inserted before the first query.",
    )
    .preset("0")
    .assumed("the Java tool waits for 1,000,000 rows; of the Python tool no wait is known")
    .when(QUERIES)
    .shrinks(),
    Param::new(
        "workload.queries.predicate",
        Kind::Word(Predicate::WORDS),
        "What a range query asks for.",
    )
    .preset("all-columns")
    .source("iibench.py of 2009 to 2012; the first column since 2016")
    .when(RANGE_QUERIES),
    Param::new(
        "workload.queries.estimate_leaves",
        Kind::Count("leaves", 0, 1_000),
        "Leaves that the optimiser looks at most, from the start of a range towards its end, to \
         estimate the range before it is scanned; 0: it does not estimate.",
    )
    .preset("0")
    .assumed("left out; InnoDB dives to both ends, and from 5.5 on looks at up to 10 leaves")
    .when(QUERIES),
    Param::new(
        "workload.queries.after_load",
        Kind::Count("queries", 0, 1_000_000_000),
        "Queries of each kind that one client sends after the load; 0: queries run beside it.",
    )
    .preset("0")
    .source("iibench.py: queries run beside the inserts")
    .when(QUERIES),
    Param::new(
        "workload.queries.rounds",
        Kind::Count("rounds", 1, 1_000),
        "Rounds of each kind of queries after the load, one after the other.",
    )
    .preset("1")
    .assumed("one is the least")
    .when(AFTER_LOAD),
    Param::new(
        "workload.queries.cold",
        Kind::Bool,
        "Whether the files are closed and opened again before the first of them, so that the \
         engine has nothing in memory; the operating system has what it had.",
    )
    .preset("false")
    .assumed("queries find what the load leaves in memory")
    .when(COLD),
];

fn width(bytes: u32) -> Value {
    Value::Whole(bytes.into())
}

/// The table of the chosen profile; a recording knows its own.
fn profile(values: &Values) -> Option<RowLayout> {
    Profile::from_word(values.word("workload.profile")?).map(RowLayout::of)
}

impl Workload {
    pub(super) fn from_values(values: &Values) -> Self {
        let rows = values.get("workload.rows");
        Self {
            stream: stream(values, rows),
            rows,
            partition_rows: limit(values, "workload.partition_rows"),
            secondary_indexes: values.get::<Option<u32>>("workload.secondary_indexes").unwrap_or(1),
            only_index: values
                .word("workload.only_index")
                .and_then(QueryKind::from_word)
                .and_then(QueryKind::index),
            widths: ColumnWidths {
                key_bytes: values.get("workload.key_bytes"),
                datetime_bytes: values.get("workload.datetime_bytes"),
                price_bytes: values.get("workload.price_bytes"),
                data_bytes: values.get("workload.data_bytes"),
                row_bytes: values.get("workload.row_bytes"),
            },
            rows_per_statement: values.get("workload.rows_per_statement"),
            rows_per_commit: values.get("workload.rows_per_commit"),
            clients: values.get("workload.clients"),
            insert_rate_limit: limit(values, "workload.insert_rate_limit"),
            window: limit(values, "workload.window").map(|rows| Window {
                rows,
                connection: values.get("workload.delete_connection"),
                drops_partitions: values.get("workload.drop_partitions"),
            }),
            queries: queries(values),
        }
    }
}

impl ColumnWidths {
    /// Bytes of a row of a micro table.
    pub fn micro_row(self) -> u32 {
        self.row_bytes.unwrap_or(MICRO_ROW_BYTES)
    }

    /// The table of a profile with these widths.
    pub fn layout(self, profile: Profile) -> RowLayout {
        let published = RowLayout::of(profile);
        RowLayout {
            key_bytes: self.key_bytes.unwrap_or(published.key_bytes),
            datetime_bytes: self.datetime_bytes.unwrap_or(published.datetime_bytes),
            price_bytes: self.price_bytes.unwrap_or(published.price_bytes),
            data_bytes: self.data_bytes.unwrap_or(published.data_bytes),
        }
    }
}

fn stream(values: &Values, rows: u64) -> StreamSpec {
    let seed = values.get("seed");
    match values.word("workload.kind") {
        Some("micro") => {
            StreamSpec::Micro(MicroSpec { order: values.get("workload.order"), seed, rows })
        }
        Some("recorded") => StreamSpec::Recorded { file: values.path("workload.file"), rows },
        _ => {
            let profile: Profile = values.get("workload.profile");
            StreamSpec::IiBench(IiBenchSpec {
                profile,
                seed,
                draws: values.get("workload.draws"),
                rows,
                // What a statement's rows share is their date: with fewer prices, fewer rows have
                // a date, or more of those at one price would share it and be out of order.
                rows_per_statement: values
                    .scale()
                    .apply(values.get("workload.rows_per_statement"))
                    .max(1),
                cash_registers: values.get("workload.cash_registers"),
                products: values.get("workload.products"),
                customers: values.get("workload.customers"),
                max_price: values.get("workload.max_price"),
                price_step: if profile == Profile::Unrounded {
                    1
                } else {
                    // Rows per price stay: fewer rows have as many fewer prices.
                    values.scale().divisor() as u32
                },
            })
        }
    }
}

fn queries(values: &Values) -> Option<Queries> {
    let kind = QueryKind::from_word(values.word("workload.queries.kind")?)?;
    Some(Queries {
        kind,
        clients: values.get("workload.queries.clients"),
        range: (!values.get::<bool>("workload.queries.point")).then(|| RangeQuery {
            limit: values.get("workload.queries.limit"),
            predicate: values.get("workload.queries.predicate"),
        }),
        rate_limit: limit(values, "workload.queries.rate_limit"),
        start_after_rows: values.get("workload.queries.start_after_rows"),
        estimate_leaves: values.get("workload.queries.estimate_leaves"),
        after_load: limit(values, "workload.queries.after_load").map(|queries| AfterLoad {
            cold: values.get::<Option<bool>>("workload.queries.cold").unwrap_or(false),
            queries,
            rounds: values.get("workload.queries.rounds"),
        }),
    })
}

fn limit(values: &Values, key: &'static str) -> Option<u64> {
    Some(values.get(key)).filter(|limit| *limit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_the_same_names_here_and_in_their_own_module() {
        for profile in Profile::ALL {
            assert_eq!(Profile::from_word(profile.name()), Some(profile));
        }
        for order in MicroOrder::ALL {
            assert_eq!(MicroOrder::from_word(order.name()), Some(order));
        }
    }
}
