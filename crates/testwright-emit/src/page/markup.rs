//! The smallest pieces of the page: escaped text, numbers as people read them, bars.

use std::fmt::{self, Display, Formatter, Write as _};

/// Text of the crate under test, or of anybody else, shown as it is and never taken for markup.
///
/// Characters that would be invisible, or turn the direction of what follows, are spelled out: a message could otherwise
/// show something else than it says.
pub struct Text<'a>(&'a str);

pub fn text(text: &str) -> Text<'_> {
    Text(text)
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                c if c.is_control() || is_unseen(c) => write!(f, "{}", c.escape_unicode())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A path that may break between its segments, for narrow columns.
pub fn path(path: &str) -> String {
    text(path).to_string().replace("::", "::<wbr>")
}

/// Marks of direction, spaces without width, and the like.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Between thousands, and before units: thin, and no place to break a line.
const THIN: char = '\u{202f}';

/// `1544492` as `1 544 492`, with thin spaces.
pub fn number(number: impl Display) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(c);
    }
    out
}

/// `1 bug`, `1 200 bugs`.
pub fn count(of: impl Display, what: &str) -> String {
    let of = number(of);
    format!("{of} {what}{}", if of == "1" { "" } else { "s" })
}

/// Tenths of a second, thousandths below one second.
pub fn seconds(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    let text = if seconds < 1.0 { format!("{seconds:.3}") } else { format!("{seconds:.1}") };
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "0"));
    format!("{}.{rest}{THIN}s", number(whole))
}

/// Rounded down to a tenth, so that only all of them are 100 %.
pub fn percent(part: u64, whole: u64) -> String {
    let tenths = if whole == 0 { 0 } else { u128::from(part) * 1000 / u128::from(whole) };
    format!("{}.{}{THIN}%", tenths / 10, tenths % 10)
}

/// A bar that is filled in part; what it says stands in words beside it, so readers of screens pass it over.
pub fn bar(part: f64, whole: f64) -> String {
    let share = part / whole;
    let width = if share.is_finite() { share.clamp(0.0, 1.0) * 100.0 } else { 0.0 };
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"rest\" width=\"100\" height=\"1\"></rect>\
         <rect class=\"part\" width=\"{width:.2}\" height=\"1\"></rect></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_no_markup_in_text() {
        let shown = text("<script>alert(\"1\" & '2')</script>").to_string();
        assert_eq!(shown, "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
    }

    #[test]
    fn characters_that_hide_are_spelled_out() {
        assert_eq!(text("a\u{202e}b\0c\nd").to_string(), "a\\u{202e}b\\u{0}c\nd");
    }

    #[test]
    fn thousands_stand_apart() {
        let plain = |text: String| text.replace(THIN, " ");
        assert_eq!(plain(number(0)), "0");
        assert_eq!(plain(number(999)), "999");
        assert_eq!(plain(number(1000)), "1 000");
        assert_eq!(plain(number(1_544_492)), "1 544 492");
        assert_eq!(plain(count(1, "bug")), "1 bug");
        assert_eq!(plain(count(0, "bug")), "0 bugs");
        assert_eq!(plain(seconds(0.044)), "0.044 s");
        assert_eq!(plain(seconds(12345.67)), "12 345.7 s");
        assert_eq!(seconds(f64::NAN), "–");
    }

    #[test]
    fn only_all_is_a_hundred_percent() {
        let plain = |text: String| text.replace(THIN, " ");
        assert_eq!(plain(percent(9999, 10_000)), "99.9 %");
        assert_eq!(plain(percent(9, 9)), "100.0 %");
        assert_eq!(plain(percent(0, 0)), "0.0 %");
        assert_eq!(plain(percent(u64::MAX, u64::MAX)), "100.0 %");
    }
}
