//! A page of a workbook that is filled from top to bottom: how cells look, and what no cell may hold.

use rust_xlsxwriter::{
    Color, ConditionalFormatText, ConditionalFormatTextRule, Format, FormatAlign, FormatBorder, Worksheet, XlsxError,
};
use stend_base::{Lang, Say, say};

/// UTF-16 code units of a cell: the format allows 32,767.
const TEXT_MAX: usize = 32_000;
/// Rows of a list: the format allows 1,048,576 on a page, and a page stays in memory until it is written. By eye: far more than
/// any suite has.
pub(super) const ROWS_MAX: usize = 100_000;

/// How numbers are shown; their values are never rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digits {
    /// No decimals, groups of three.
    Whole,
    /// One decimal, groups of three.
    One,
    /// As many as the number has.
    All,
}

/// Formats that all pages share.
pub(super) struct Look {
    title: Format,
    head: Format,
    text: Format,
    faint: Format,
    whole: Format,
    one: Format,
    all: Format,
    better: Format,
    worse: Format,
    warned: Format,
}

impl Look {
    pub(super) fn new() -> Look {
        let top = || Format::new().set_align(FormatAlign::Top);
        let tint = |ink: u32, paper: u32| {
            Format::new().set_font_color(Color::RGB(ink)).set_background_color(Color::RGB(paper))
        };
        Look {
            title: Format::new().set_bold().set_font_size(14),
            head: top().set_bold().set_text_wrap().set_border_bottom(FormatBorder::Thin),
            text: top().set_text_wrap(),
            faint: top().set_text_wrap().set_font_color(Color::RGB(0x5B_6470)),
            whole: top().set_num_format("#,##0"),
            one: top().set_num_format("#,##0.0"),
            all: top(),
            // Green and orange are for better and worse, red and amber for checks: as on the page.
            better: tint(0x0B_5D1E, 0xDD_F3E0),
            worse: tint(0x8A_3B00, 0xFF_E6D1),
            warned: tint(0x6B_4E00, 0xFF_F1C2),
        }
    }
}

/// A page and the row that comes next.
pub(super) struct Page<'a> {
    pub(super) sheet: &'a mut Worksheet,
    pub(super) lang: Lang,
    /// The row that is written next, from 0.
    pub(super) row: u32,
    look: &'a Look,
}

impl<'a> Page<'a> {
    pub(super) fn new(sheet: &'a mut Worksheet, name: &Say, look: &'a Look, lang: Lang) -> Result<Page<'a>, XlsxError> {
        sheet.set_name(name.get(lang))?.set_landscape().set_print_fit_to_pages(1, 0);
        Ok(Page { sheet, lang, row: 0, look })
    }

    /// Widths of the columns from the left, in characters.
    pub(super) fn widths(&mut self, widths: &[f64]) -> Result<(), XlsxError> {
        for (column, width) in (0u16..).zip(widths) {
            self.sheet.set_column_width(column, *width)?;
        }
        Ok(())
    }

    /// A line of its own, not wrapped.
    pub(super) fn title(&mut self, text: &Say) -> Result<(), XlsxError> {
        self.sheet.write_with_format(self.row, 0, cleaned(text.get(self.lang)), &self.look.title)?;
        self.row += 1;
        Ok(())
    }

    /// A sentence over the whole width.
    pub(super) fn line(&mut self, text: &Say) -> Result<(), XlsxError> {
        // Not wrapped: a cell without a right neighbour shows all of it.
        self.sheet.write(self.row, 0, cleaned(text.get(self.lang)))?;
        self.row += 1;
        Ok(())
    }

    /// Names of columns.
    pub(super) fn heads(&mut self, names: &[Say]) -> Result<(), XlsxError> {
        for (column, name) in (0u16..).zip(names) {
            self.sheet.write_with_format(self.row, column, name.get(self.lang), &self.look.head)?;
        }
        self.row += 1;
        Ok(())
    }

    /// A text in the present row.
    pub(super) fn text(&mut self, column: u16, text: &str) -> Result<(), XlsxError> {
        if !text.is_empty() {
            self.sheet.write_string_with_format(self.row, column, cleaned(text), &self.look.text)?;
        }
        Ok(())
    }

    /// A text that matters less.
    pub(super) fn faint(&mut self, column: u16, text: &str) -> Result<(), XlsxError> {
        self.sheet.write_string_with_format(self.row, column, cleaned(text), &self.look.faint)?;
        Ok(())
    }

    /// A number in the present row; nothing where it is not known or not finite.
    pub(super) fn number(&mut self, column: u16, value: Option<f64>, digits: Digits) -> Result<(), XlsxError> {
        let format = match digits {
            Digits::Whole => &self.look.whole,
            Digits::One => &self.look.one,
            Digits::All => &self.look.all,
        };
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.sheet.write_number_with_format(self.row, column, value, format)?;
        }
        Ok(())
    }

    /// A row for each of a list, or a last line that says how many there is no room for.
    pub(super) fn list<T>(
        &mut self,
        mut all: impl Iterator<Item = T>,
        mut fill: impl FnMut(&mut Self, T) -> Result<(), XlsxError>,
    ) -> Result<(), XlsxError> {
        for one in all.by_ref().take(ROWS_MAX) {
            fill(self, one)?;
            self.next();
        }
        let missing = match all.count() {
            0 => return Ok(()),
            more => stend_base::format::count(more as u64),
        };
        self.line(&say!("… and {missing} more rows, left out here", "… и ещё строк: {missing}, здесь опущены"))
    }

    /// Ends a row.
    pub(super) fn next(&mut self) {
        self.row += 1;
    }

    /// Tints cells of a column by the sign that their text begins with.
    pub(super) fn signs(&mut self, column: u16, from: u32) -> Result<(), XlsxError> {
        if self.row <= from {
            return Ok(());
        }
        let look = self.look;
        let rules =
            [("▲", &look.better), ("▼", &look.worse), ("✖", &look.worse), ("!", &look.warned), ("✔", &look.better)];
        for (sign, format) in rules {
            let rule = ConditionalFormatText::new()
                .set_rule(ConditionalFormatTextRule::BeginsWith(sign.to_string()))
                .set_format(format);
            self.sheet.add_conditional_format(from, column, self.row - 1, column, &rule)?;
        }
        Ok(())
    }
}

/// A text without control characters, cut where the format would refuse it.
pub(super) fn cleaned(text: &str) -> String {
    let mut units = 0;
    let fits = |letter: &char| {
        units += letter.len_utf16();
        units <= TEXT_MAX
    };
    crate::text::clean(text).chars().take_while(fits).collect()
}
