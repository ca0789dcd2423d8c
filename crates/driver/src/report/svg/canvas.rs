//! Well-formed SVG elements: escaped text, coordinates to a tenth of a pixel.

use std::fmt::Write;

/// Where a text stands relative to its x coordinate.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The elements of a figure in the order of drawing.
#[derive(Default)]
pub(super) struct Canvas {
    body: String,
}

impl Canvas {
    /// A line of text on the baseline `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escape(text);
        self.push(&format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>"
        ));
    }

    /// A straight line between two points.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(&format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// A curve through the points; it is interrupted at each `None`.
    pub(super) fn curve(&mut self, class: &str, points: impl Iterator<Item = Option<(f64, f64)>>) {
        let mut path = String::new();
        let mut drawing = false;
        for point in points {
            if let Some((x, y)) = point {
                let command = if drawing { 'L' } else { 'M' };
                let _ = write!(path, "{command}{x:.1} {y:.1}");
            }
            drawing = point.is_some();
        }
        if !path.is_empty() {
            self.push(&format!("<path class=\"curve {class}\" d=\"{path}\"/>"));
        }
    }

    /// A diamond around a point, with a text that appears when it is pointed at.
    pub(super) fn diamond(&mut self, (x, y): (f64, f64), title: &str) {
        const RADIUS: f64 = 6.0;
        let (left, right, top, bottom) = (x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS);
        self.push(&format!(
            "<path class=\"mark\" d=\"M{x:.1} {top:.1}L{right:.1} {y:.1}L{x:.1} {bottom:.1}\
             L{left:.1} {y:.1}Z\"><title>{}</title></path>",
            escape(title)
        ));
    }

    /// A filled rectangle, with a text that appears when it is pointed at.
    pub(super) fn cell(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        (red, green, blue): (u8, u8, u8),
        title: &str,
    ) {
        self.push(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#{red:02x}{green:02x}{blue:02x}\"><title>{}</title></rect>",
            escape(title)
        ));
    }

    /// The document, with `name` for those who cannot see it.
    pub(super) fn document(&self, width: f64, height: f64, name: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"iisim\" role=\"img\" \
             width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
             <title>{}</title>\n<style>\n{}</style>\n\
             <rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n{}</svg>\n",
            escape(name),
            include_str!("style.css"),
            self.body
        )
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// Text as XML content or attribute value. Control characters, which XML 1.0 has no form for,
/// become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a < b & \"c\"\u{7}"), "a &lt; b &amp; &quot;c&quot; ");
    }
}
