//! The tutorial shows what its commands print.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;

const FENCE: &str = "```";

/// A block of the page: a command, and which lines of its output follow it.
struct Block<'a> {
    info: &'a str,
    from: &'a str,
    lines: usize,
    command: &'a str,
}

impl<'a> Block<'a> {
    /// The block between two fences: `console from="start of its first line" lines=n`, then the
    /// command after a dollar.
    fn parse(text: &'a str) -> Option<Self> {
        let (info, body) = text.split_once('\n')?;
        let rest = info.strip_prefix("console from=\"")?;
        let (from, lines) = rest.split_once("\" lines=")?;
        let command = body.lines().next()?.strip_prefix("$ ")?;
        Some(Self { info, from, lines: lines.parse().ok()?, command })
    }

    /// The block with what the command prints now.
    fn run(&self) -> String {
        let arguments = self.command.strip_prefix("iisim ").unwrap().split(' ');
        let output = Command::cargo_bin("iisim").unwrap().args(arguments).output().unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.command);
        let printed = String::from_utf8(output.stdout).unwrap();
        let shown: Vec<_> = printed
            .lines()
            .skip_while(|line| !line.starts_with(self.from))
            .take(self.lines)
            .collect();
        assert_eq!(
            shown.len(),
            self.lines,
            "{}: no line starts with {:?}",
            self.command,
            self.from
        );
        let mut block = format!("{}\n$ {}\n", self.info, self.command);
        for line in shown {
            writeln!(block, "{}", line.trim_end()).unwrap();
        }
        block
    }
}

/// `UPDATE_EXPECT=1` rewrites the page.
#[test]
fn every_command_prints_what_the_tutorial_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial.md");
    let page = fs::read_to_string(&path).unwrap();
    let parts: Vec<_> = page.split(FENCE).collect();
    let blocks: Vec<_> = parts.iter().skip(1).step_by(2).map(|text| Block::parse(text)).collect();
    assert!(5 < blocks.len() && blocks.iter().all(Option::is_some), "a block without a command");
    let mut blocks = blocks.into_iter().flatten();
    let mut current = String::new();
    for (number, part) in parts.iter().enumerate() {
        if number % 2 == 0 {
            current.push_str(part);
        } else {
            write!(current, "{FENCE}{}{FENCE}", blocks.next().unwrap().run()).unwrap();
        }
    }
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, current).unwrap();
    } else {
        assert!(page == current, "docs/tutorial.md is stale: run with UPDATE_EXPECT=1");
    }
}
