//! Tables: with lines on a terminal, in plain columns everywhere else.

use comfy_table::{ContentArrangement, Table, presets};

use super::Screen;

/// Columns of a terminal whose size is not known.
const USUAL_WIDTH: u16 = 100;

/// A table with a line of headings, for standard output.
pub fn table(screen: Screen, headings: &[&str], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| screen.guest_out(cell)).collect())
        .collect();
    if !screen.out_is_terminal() {
        let headings = headings
            .iter()
            .map(|heading| (*heading).to_owned())
            .collect();
        let mut lines = vec![headings];
        lines.extend(rows);
        return columns(&lines);
    }
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(headings.iter().map(|heading| heading.to_uppercase()));
    table.add_rows(rows);
    table.to_string()
}

/// Rows in columns that begin at the same place; the last one is as wide as it is.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = cell.replace('\n', " ");
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Lines of the terminal that a text may have which is drawn anew: one is left for the
/// cursor.
pub fn height() -> usize {
    const USUAL_HEIGHT: usize = 24;
    let rows = match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_row > 1 => usize::from(size.ws_row),
        _ => USUAL_HEIGHT,
    };
    rows - 1
}

/// A text with spaces before each line that is not empty.
pub fn indented(text: &str, by: usize) -> String {
    let indent = " ".repeat(by);
    let mut indented = String::new();
    for line in text.trim_end().lines() {
        let line = if line.is_empty() {
            String::new()
        } else {
            format!("{indent}{line}")
        };
        indented.push_str(&line);
        indented.push('\n');
    }
    indented
}

fn width() -> u16 {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 => size.ws_col,
        _ => USUAL_WIDTH,
    }
}
