//! CSV: one line per point, the names of the JSON joined with dots.
//!
//! The columns are read off the JSON form of the points, so the two cannot drift apart. They are
//! fixed for a file: a value that some points lack has a column, and an empty cell there. That the
//! numbers come through unchanged needs `serde_json` with its feature `float_roundtrip`.

use std::fmt;
use std::io::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::RunResult;

/// Writes the points of the results. With several results the first column is the run's `name`.
///
/// # Errors
/// Those of `out`.
pub fn write(results: &[RunResult], out: &mut dyn Write) -> io::Result<()> {
    let mut template = Node::Map(Vec::new());
    let mut runs = Vec::with_capacity(results.len());
    for result in results {
        let mut points = Vec::with_capacity(result.points.len());
        for point in &result.points {
            let node: Node = serde_json::from_slice(&serde_json::to_vec(point)?)?;
            template.extend_with(&node);
            points.push(node);
        }
        runs.push((result.manifest.name.as_str(), points));
    }

    let mut columns = Vec::new();
    template.paths(&mut Vec::new(), &mut columns);
    let several = 1 < results.len();
    let names = columns.iter().map(|path| path.join("."));
    write_line(out, several.then(|| "name".to_owned()).into_iter().chain(names))?;
    for (name, points) in &runs {
        for point in points {
            let cells = columns.iter().map(|path| point.cell(path));
            write_line(out, several.then(|| (*name).to_owned()).into_iter().chain(cells))?;
        }
    }
    Ok(())
}

/// A JSON value with its keys in the order of the document.
enum Node {
    Map(Vec<(String, Node)>),
    Leaf(String),
}

impl Node {
    /// Adds the keys of `other` that this node does not have, each at the end of its own map.
    fn extend_with(&mut self, other: &Node) {
        let (Node::Map(mine), Node::Map(others)) = (self, other) else { return };
        for (key, node) in others {
            let index = mine.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
                let empty = match node {
                    Node::Map(_) => Node::Map(Vec::new()),
                    Node::Leaf(_) => Node::Leaf(String::new()),
                };
                mine.push((key.clone(), empty));
                mine.len() - 1
            });
            mine[index].1.extend_with(node);
        }
    }

    fn paths(&self, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
        match self {
            Node::Leaf(_) => paths.push(prefix.clone()),
            Node::Map(entries) => {
                for (key, node) in entries {
                    prefix.push(key.clone());
                    node.paths(prefix, paths);
                    prefix.pop();
                }
            }
        }
    }

    fn cell(&self, path: &[String]) -> String {
        match (self, path.split_first()) {
            (Node::Leaf(text), None) => text.clone(),
            (Node::Map(entries), Some((key, rest))) => entries
                .iter()
                .find(|(k, _)| k == key)
                .map(|(_, node)| node.cell(rest))
                .unwrap_or_default(),
            _ => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers in maps")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(serde_json::Value::from(value).to_string()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(String::new()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}

fn write_line(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for (number, cell) in cells.enumerate() {
        let comma = if number == 0 { "" } else { "," };
        if cell.contains(['"', ',', '\n', '\r']) {
            write!(out, "{comma}\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            write!(out, "{comma}{cell}")?;
        }
    }
    writeln!(out)
}
