//! The table on a terminal, and what its keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Clear, Paragraph, Row as TableRow, Table};
use silverpoint_trace::Trace;
use silverpoint_wire::level::Level;

use super::model::{Column, Model, Row, View};
use super::shown::{self, Cells};

/// What is shown besides the model.
#[derive(Debug, Default)]
pub struct Screen {
    /// Keys are added to the filter.
    is_typing: bool,
    /// Paused.
    pub is_paused: bool,
    has_help: bool,
    /// The first row that is shown.
    first: usize,
    /// Rows that fit, by the last drawing.
    fitting: usize,
    /// No colours.
    is_plain: bool,
}

/// What a key asks of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing but to be drawn again.
    Draw,
    /// To end.
    Quit,
    /// Twice as often.
    Faster,
    /// Half as often.
    Slower,
}

const HELP: [&str; 12] = [
    "  q, Ctrl-C      quit",
    "  Tab            sites, threads",
    "  < >            the column to order by",
    "  r              reverse the order",
    "  /              filter as you type: name, place, category, process, level",
    "  Enter, Esc     keep, drop the filter",
    "  Up Down        scroll; also PageUp, PageDown, Home, End",
    "  Space          pause, go on",
    "  z              totals begin at zero",
    "  + -            shorter, longer intervals",
    "  h, ?           this help",
    "  any key goes back",
];

impl Screen {
    /// In colours or without.
    pub fn new(colour: bool) -> Self {
        Self { is_plain: !colour, ..Self::default() }
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent, model: &mut Model) -> Wish {
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c')) {
            return Wish::Quit;
        }
        if std::mem::take(&mut self.has_help) {
            return Wish::Draw;
        }
        if self.is_typing {
            self.type_key(key.code, model);
            return Wish::Draw;
        }
        match key.code {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Char('+') => return Wish::Faster,
            KeyCode::Char('-') => return Wish::Slower,
            KeyCode::Esc if model.pattern.is_empty() => {}
            KeyCode::Esc => model.pattern.clear(),
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('h' | '?') => self.has_help = true,
            KeyCode::Char(' ' | 'p') => self.is_paused = !self.is_paused,
            KeyCode::Char('z') => model.clear(),
            KeyCode::Char('r') => model.reversed = !model.reversed,
            KeyCode::Char('<') | KeyCode::Left => model.column = neighbour(model.column, -1),
            KeyCode::Char('>') | KeyCode::Right => model.column = neighbour(model.column, 1),
            KeyCode::Tab | KeyCode::BackTab => {
                model.view = if model.view == View::Sites { View::Threads } else { View::Sites };
                self.first = 0;
            }
            KeyCode::Down => self.first += 1,
            KeyCode::Up => self.first = self.first.saturating_sub(1),
            KeyCode::PageDown => self.first += self.fitting.max(1),
            KeyCode::PageUp => self.first = self.first.saturating_sub(self.fitting.max(1)),
            KeyCode::Home => self.first = 0,
            KeyCode::End => self.first = usize::MAX,
            _ => {}
        }
        Wish::Draw
    }

    fn type_key(&mut self, code: KeyCode, model: &mut Model) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                model.pattern.clear();
            }
            KeyCode::Backspace => {
                model.pattern.pop();
            }
            KeyCode::Char(c) => model.pattern.push(c),
            _ => {}
        }
        self.first = 0;
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>, model: &Model, trace: &Trace) {
        let [head, table, foot] =
            Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)])
                .areas(frame.area());
        let [first, second] = shown::summary(&model.total(trace));
        frame.render_widget(Paragraph::new(vec![Line::from(first).bold(), Line::from(second)]), head);
        self.table(frame, table, model, trace);
        frame.render_widget(self.foot(model), foot);
        if self.has_help {
            let height = (HELP.len() as u16).min(table.height);
            let area = Rect { height, width: table.width.min(76), ..table };
            frame.render_widget(Clear, area);
            frame.render_widget(Paragraph::new(HELP.map(Line::from).to_vec()).reversed(), area);
        }
    }

    fn table(&mut self, frame: &mut Frame<'_>, area: Rect, model: &Model, trace: &Trace) {
        let rows = model.rows(trace);
        self.fitting = usize::from(area.height.saturating_sub(1));
        // Never beyond the end, and the last page full.
        self.first = self.first.min(rows.len().saturating_sub(self.fitting));
        let is_wide = area.width >= 100;
        let mut widths = vec![
            Constraint::Length(11),
            Constraint::Length(11),
            Constraint::Length(13),
            Constraint::Length(9),
            Constraint::Length(9),
        ];
        if is_wide {
            widths.extend([Constraint::Length(5), Constraint::Length(20)]);
        }
        widths.push(Constraint::Min(10));
        let lines = rows.iter().skip(self.first).take(self.fitting).map(|row| self.line(row, model, is_wide));
        frame
            .render_widget(Table::new(lines, widths).header(heading(model, is_wide)).column_spacing(1), area);
    }

    fn line(&self, row: &Row, model: &Model, is_wide: bool) -> TableRow<'static> {
        let Cells { rate, bytes, records, stalls, lost } = shown::cells(row);
        let coloured = |style: Style| if self.is_plain { Style::new() } else { style };
        let mut cells = vec![
            right(rate),
            right(bytes),
            right(records),
            right(stalls).style(coloured(Style::new().yellow())),
            right(lost).style(coloured(Style::new().red())),
        ];
        if is_wide {
            let level = row.level.map_or("", Level::name);
            cells.push(Cell::new(level).style(coloured(level_style(row.level))));
            cells.push(Cell::new(row.process.clone()));
        }
        cells.push(Cell::new(if model.view == View::Sites { shown::name(row) } else { row.name.clone() }));
        TableRow::new(cells)
    }

    fn foot(&self, model: &Model) -> Line<'static> {
        let mut spans = Vec::new();
        if self.is_typing || !model.pattern.is_empty() {
            let cursor = if self.is_typing { "_" } else { "" };
            spans.push(Span::from(format!("filter: {}{cursor}  ", model.pattern)).bold());
        }
        if self.is_paused {
            spans.push(Span::from("paused  ").bold());
        }
        spans.push(Span::from("q quit  / filter  < > order  r reverse  Tab threads  h help").dim());
        Line::from(spans)
    }
}

fn right(text: String) -> Cell<'static> {
    Cell::new(Line::from(text).right_aligned())
}

fn heading(model: &Model, is_wide: bool) -> TableRow<'static> {
    let names = match model.view {
        View::Sites => "SITE",
        View::Threads => "THREAD",
    };
    let mark = |column: Column, text: &str| {
        let sign = if model.reversed { "^" } else { "v" };
        if model.column == column { format!("{sign}{text}") } else { text.to_owned() }
    };
    let numbers = [
        (Column::Rate, "RATE/S"),
        (Column::Bytes, "BYTES/S"),
        (Column::Records, "RECORDS"),
        (Column::Stalls, "WAITED"),
        (Column::Lost, "LOST"),
    ];
    let mut cells: Vec<Cell<'static>> =
        numbers.into_iter().map(|(column, text)| right(mark(column, text))).collect();
    if is_wide {
        cells.extend([Cell::new("LEVEL"), Cell::new("PROCESS")]);
    }
    cells.push(Cell::new(mark(Column::Name, names)));
    TableRow::new(cells).style(Style::new().add_modifier(Modifier::REVERSED))
}

fn level_style(level: Option<Level>) -> Style {
    match level {
        Some(Level::Fatal | Level::Error) => Style::new().red(),
        Some(Level::Warn) => Style::new().yellow(),
        Some(Level::Info) => Style::new().green(),
        _ => Style::new().dim(),
    }
}

fn neighbour(column: Column, step: isize) -> Column {
    let all = Column::ALL;
    let at = all.iter().position(|known| *known == column).unwrap_or(0);
    all[at.saturating_add_signed(step).min(all.len() - 1)]
}
