//! The table and the page of a grid.

use std::io::{self, Write};

use super::{Grid, quoted, write_head};
use crate::report::text::{count, rate, three_digits};

impl Grid<'_> {
    /// A line for every point: its labels, its numbers, and the heat map's value in each column.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let heat = &self.plan.study.heat;
        for axis in self.axes {
            write!(out, "{},", quoted(&axis.name))?;
        }
        write!(
            out,
            "scale,rows_full_scale,hours_full_scale,rows_per_s_peak,rows_per_s_last,\
             rows_per_s_mean,first_read_rows,half_peak_rows,reads_per_row_mean,writes_per_row_mean"
        )?;
        for rows in &self.columns {
            write!(out, ",{}@{rows}", heat.name)?;
        }
        writeln!(out)?;
        for (labels, result, s) in self.summaries() {
            for label in labels {
                write!(out, "{},", quoted(label))?;
            }
            let whole = |rows: Option<u64>| rows.map_or_else(String::new, |rows| rows.to_string());
            write!(
                out,
                "{},{},{},{},{},{},{},{},{},{}",
                result.manifest.scale,
                s.rows,
                s.hours,
                s.peak,
                s.last,
                s.mean,
                whole(s.first_read),
                whole(s.half_peak),
                s.reads_per_row,
                s.writes_per_row
            )?;
            for rows in &self.columns {
                let value = heat.at(result, *rows);
                write!(out, ",{}", value.map_or_else(String::new, |value| value.to_string()))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// The page that stands beside the figures.
    pub(super) fn write_page(&self, out: &mut dyn Write) -> io::Result<()> {
        write_head(self.plan, out)?;
        writeln!(out, "\n![{}](curves.svg)\n", self.plan.study.heat.label)?;
        writeln!(out, "![{}, by colour](heatmap.svg)\n", self.plan.study.heat.label)?;
        for axis in self.axes {
            write!(out, "| {} ", axis.name)?;
        }
        writeln!(
            out,
            "| rows | hours | peak rows/s | last rows/s | mean rows/s | first reads at | \
             half the peak at | reads/row | writes/row |"
        )?;
        writeln!(out, "{}|", "| --- ".repeat(self.axes.len() + 9))?;
        for (labels, _, s) in self.summaries() {
            for label in labels {
                write!(out, "| {} ", label.replace('|', "\\|"))?;
            }
            let wall = |rows: Option<u64>| rows.map_or_else(|| "never".to_owned(), count);
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                count(s.rows),
                three_digits(s.hours),
                rate(s.peak),
                rate(s.last),
                rate(s.mean),
                wall(s.first_read),
                wall(s.half_peak),
                three_digits(s.reads_per_row),
                three_digits(s.writes_per_row),
            )?;
        }
        writeln!(
            out,
            "\nRows and hours are those of the full scale. *First reads at* is the end of the \
             first reporting interval in which pages were read, *half the peak at* that of the \
             first one after the fastest with half its rate or less: the memory wall. The rate \
             may halve before anything is read, where pages must be written. \
             Reads and writes are means of the whole run. \
             The numbers of the heat map are in [points.csv](points.csv)."
        )
    }
}
