//! Columns of text under their headings. The first column holds names and may break; if the others leave
//! it too little room, the caller shows its rows in another way.

use super::Screen;
use super::layout::{at_most, left, right, width, wrap};

/// A first column narrower than this reads worse than rows below each other.
const FIRST_MIN: usize = 16;
/// Lines that a name may take.
const FIRST_LINES: usize = 3;
const GAP: &str = "  ";

/// A column: its heading, and whether it holds numbers, which stand at its right edge.
pub struct Column {
    /// Heading.
    pub head: String,
    /// Numbers.
    pub right: bool,
}

/// A row: a name, by how much it is indented, and the cells of the other columns.
pub struct Row {
    /// First column.
    pub name: String,
    /// Columns before the name.
    pub indent: usize,
    /// Other columns.
    pub cells: Vec<String>,
    /// Escape code of the last cell; what it says stands there in words, too.
    pub tint: Option<&'static str>,
}

/// The rows under their headings, or `None` if they do not fit the screen.
pub fn grid(columns: &[Column], rows: &[Row], screen: &Screen) -> Option<String> {
    let (first, others) = columns.split_first()?;
    let cell = |row: &Row, i: usize| row.cells.get(i).cloned().unwrap_or_default();
    let widths: Vec<usize> = others
        .iter()
        .enumerate()
        .map(|(i, column)| rows.iter().map(|r| width(&cell(r, i))).chain([width(&column.head)]).max().unwrap_or(0))
        .collect();
    let taken: usize = widths.iter().map(|w| w + GAP.len()).sum();
    let longest = rows.iter().map(|r| r.indent + width(&r.name)).chain([width(&first.head)]).max()?;
    let name = longest.min(screen.width.checked_sub(taken)?);
    if name < FIRST_MIN.min(longest) {
        return None;
    }
    let line = |start: &str, cells: &[String], tint: Option<&'static str>| {
        let mut line = left(start, name);
        for (i, ((column, cell), w)) in others.iter().zip(cells).zip(&widths).enumerate() {
            let code = tint.filter(|_| i + 1 == others.len());
            let padded = if column.right { right(cell, *w) } else { left(cell, *w) };
            line.push_str(GAP);
            line.push_str(&code.map_or_else(|| padded.clone(), |code| screen.escape(code, padded.trim_end())));
        }
        line.trim_end().to_string() + "\n"
    };
    let heads: Vec<String> = others.iter().map(|column| column.head.clone()).collect();
    let mut out = screen.faint(&line(&first.head, &heads, None));
    for row in rows {
        let cells: Vec<String> = (0..others.len()).map(|i| cell(row, i)).collect();
        let room = name.saturating_sub(row.indent).max(1);
        for (i, part) in at_most(wrap(&row.name, room), FIRST_LINES, room).iter().enumerate() {
            let part = format!("{}{part}", " ".repeat(row.indent));
            out.push_str(&if i == 0 { line(&part, &cells, row.tint) } else { format!("{part}\n") });
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Lang;

    fn drawn(columns: usize) -> Option<String> {
        let column = |head: &str, right| Column { head: head.into(), right };
        let row = |name: &str, cells: [&str; 2]| Row {
            name: name.into(),
            indent: 0,
            cells: cells.map(String::from).into(),
            tint: None,
        };
        let rows = [row("a name of several words", ["1", "x"]), row("b", ["1234", ""])];
        let screen = Screen { lang: Lang::En, width: columns, colour: false };
        grid(&[column("name", false), column("n", true), column("text", false)], &rows, &screen)
    }

    #[test]
    fn numbers_stand_right_and_names_break_only_where_they_must() {
        let wide =
            "name                        n  text\na name of several words     1  x\nb                        1234\n";
        assert_eq!(drawn(80).as_deref(), Some(wide));
        let narrow = "name                 n  text\na name of            1  x\nseveral words\nb                 1234\n";
        assert_eq!(drawn(28).as_deref(), Some(narrow));
        assert!(drawn(28).unwrap().lines().all(|line| width(line) <= 28));
    }

    #[test]
    fn a_colour_goes_around_the_last_cell_and_only_where_colours_are_wanted() {
        let columns = [("name", false), ("word", false)].map(|(head, right)| Column { head: head.into(), right });
        let row = Row { name: "a".into(), indent: 0, cells: vec!["▲ better".into()], tint: Some("36") };
        let drawn = |colour| grid(&columns, std::slice::from_ref(&row), &Screen { lang: Lang::En, width: 80, colour });
        assert!(drawn(true).unwrap().ends_with("a     \u{1b}[36m▲ better\u{1b}[0m\n"), "{:?}", drawn(true));
        assert!(drawn(false).unwrap().ends_with("a     ▲ better\n"));
    }

    #[test]
    fn what_does_not_fit_is_not_drawn() {
        assert_eq!(drawn(27), None);
        assert_eq!(drawn(3), None);
    }
}
