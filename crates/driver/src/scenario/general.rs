//! Keys at the top of a scenario file: what it is, and what it is built on.

use super::kind::Kind;
use super::param::Param;

pub(super) const PARAMS: &[Param] = &[
    Param::new("title", Kind::Text, "What the file describes, in one line.")
        .absent()
        .of_this_file(),
    Param::new("question", Kind::Text, "What a run of it answers.").absent().of_this_file(),
    Param::new("article", Kind::Text, "The article whose experiment it repeats, such as S4.")
        .absent()
        .of_this_file(),
    Param::new("use", Kind::List, "Files that lie beneath this one, later over earlier.")
        .absent()
        .of_this_file(),
    Param::new(
        "seed",
        Kind::Count("draws", 0, i64::MAX as u64),
        "Start of everything random: the keys, the rotation of disks, the jitter of clients.",
    )
    .preset("42")
    .assumed("any number; 42 is that of the measured reference runs"),
];
