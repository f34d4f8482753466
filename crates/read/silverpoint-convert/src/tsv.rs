//! Tab-separated columns whose cells are JSON: `spec/tsv-json.md`.

use std::io::{self, Write};
use std::ops::Range;

use silverpoint_render::json::{JsonVisitor, Stack, push_string};
use silverpoint_render::{Renderer, text, time::TimeText};

use crate::cells::{COLUMNS, COLUMNS_MAX, Cells};
use crate::document;
use crate::fast::Tsv;
use crate::heads::{Heads, SitePieces, argument, is_rest, plain};
use crate::json::{JsonParser, skip_mark, unexpected};
use crate::scratch::{RECORD_MAX, Scratch};
use crate::waiting::Waiting;
use crate::{Input, Parsed, ReadError, Reader, Record, WriteError, Writer};

/// Writes a line of names, and a line a record.
pub struct TsvWriter<W> {
    out: W,
    text: String,
    cells: Cells,
    renderer: Renderer,
    message: String,
    begun: bool,
    time: TimeText,
    heads: Heads<String>,
    stack: Stack,
}

impl<W: Write> TsvWriter<W> {
    /// Begins a table.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: String::new(),
            cells: Cells::new(false),
            renderer: Renderer::new(),
            message: String::new(),
            begun: false,
            time: TimeText::rfc3339_utc(),
            heads: Heads::default(),
            stack: Stack::default(),
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.text.push_str(&COLUMNS.join("\t"));
            self.text.push('\n');
        }
    }
}

/// Columns that are the same for all of a thread, and for all of a site; the ticks are the last.
const WHO: Range<usize> = 1..6;
const SITE: Range<usize> = 6..13;
const TAIL: Range<usize> = 15..28;

fn fill(cells: &mut Cells, record: &Record<'_>, message: &str) {
    cells.clear();
    let Ok(()) = document::visit(record, message, document::Options::default(), cells);
}

/// Some cells of a record, each with the tab before it.
fn some(cells: &mut Cells, record: &Record<'_>, columns: Range<usize>) -> String {
    fill(cells, record, "");
    let some = cells.iter().skip(columns.start).take(columns.len());
    some.flat_map(|cell| ["\t", cell.unwrap_or_default()]).collect()
}

impl<W: Write> TsvWriter<W> {
    /// A record of known pieces; `None` and something unfinished where it is none.
    fn pieces(&mut self, record: &Record<'_>) -> Option<()> {
        let (site, number, args) = plain(record).filter(|(site, _, args)| document::is_exact(site, args))?;
        let Self { cells, text: out, message, stack, .. } = self;
        out.push('"');
        self.time.push(out, record.wall_ns);
        out.push('"');
        out.push_str(self.heads.who(record, || some(cells, record, WHO)));
        let pieces = self.heads.site(number, || {
            let place = some(cells, record, SITE);
            let mut pieces =
                SitePieces::new::<Tsv>(site, place, |piece| String::from_utf8(piece).unwrap_or_default());
            pieces.after.push_str(&some(cells, record, TAIL));
            pieces.after.push('\t');
            pieces
        });
        out.push_str(&pieces.place);
        out.push('\t');
        if !message.is_empty() {
            push_string(out, message);
        }
        let mut at = 0;
        for (ty, before) in site.types.iter().zip(&pieces.before) {
            out.push_str(before);
            at = argument(ty, args, at, &mut JsonVisitor::new(out, stack))?;
        }
        out.push_str(&pieces.after);
        if let Some(ticks) = record.ticks {
            out.push_str(itoa::Buffer::new().format(ticks));
        }
        out.push('\n');
        is_rest(args, at).then_some(())
    }
}

impl<W: Write> Writer for TsvWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.begin();
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
        let begin = self.text.len();
        if self.pieces(record).is_none() {
            self.text.truncate(begin);
            fill(&mut self.cells, record, &self.message);
            for (at, cell) in self.cells.iter().enumerate() {
                if at > 0 {
                    self.text.push('\t');
                }
                self.text.push_str(cell.unwrap_or_default());
            }
            self.text.push('\n');
        }
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin();
        self.text.end(&mut self.out)
    }
}

/// Reads a table. Columns may stand in any order; an empty cell is a field that is missing.
pub struct TsvReader {
    input: Input,
    parser: JsonParser,
    scratch: Scratch,
    parsed: Parsed,
    columns: Option<Vec<String>>,
    separator: u8,
    /// The columns are those of the writer.
    is_usual: bool,
    cell: Vec<u8>,
    ended: bool,
}

impl TsvReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            parser: JsonParser::default(),
            scratch: Scratch::default(),
            parsed: Parsed::new(number),
            columns: None,
            separator: b'\t',
            is_usual: false,
            cell: Vec::new(),
            ended: false,
        }
    }

    /// Takes a cell over as it stands; its end stays.
    fn cell(&mut self) -> Result<&str, ReadError> {
        let place = self.input.place();
        self.cell.clear();
        while let Some(byte) = self.input.peek()? {
            if byte == self.separator || byte == b'\n' {
                break;
            }
            self.cell.push(byte);
            self.input.bump();
            if self.cell.len() > RECORD_MAX {
                return Err(ReadError::new(place, "a cell of more than 64 MiB", "its end"));
            }
        }
        let cell = self.cell.strip_suffix(b"\r").unwrap_or(&self.cell);
        std::str::from_utf8(cell).map_err(|_| ReadError::new(place, "a cell that is not UTF-8", "UTF-8"))
    }

    fn header(&mut self) -> Result<Vec<String>, ReadError> {
        skip_mark(&mut self.input)?;
        let mut columns: Vec<String> = Vec::new();
        let mut bytes = 0;
        loop {
            columns.push(self.cell()?.to_owned());
            let place = self.input.place();
            bytes += columns.last().map_or(0, String::len);
            if bytes > RECORD_MAX {
                return Err(ReadError::new(place, "names of columns beyond 64 MiB", "shorter ones"));
            }
            if columns.len() > COLUMNS_MAX {
                return Err(ReadError::new(place, "more than 4096 columns", "fewer"));
            }
            if self.input.take()? != Some(self.separator) {
                return Ok(columns);
            }
        }
    }

    /// A line as a map of the cells that are not empty.
    fn line(&mut self, columns: &[String]) -> Result<(), ReadError> {
        self.scratch.begin_map();
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                let place = self.input.place();
                match self.input.peek()? {
                    Some(byte) if byte == self.separator => self.input.bump(),
                    _ => {
                        let found = format!("{at} cells");
                        let expected = format!("as many as there are columns: {}", columns.len());
                        return Err(ReadError::new(place, found, &expected));
                    }
                }
            }
            match self.input.peek()? {
                None | Some(b'\n' | b'\r') => continue,
                Some(byte) if byte == self.separator => continue,
                Some(byte) => {
                    self.scratch.text(column);
                    let within = |mut error: ReadError| {
                        error.path.insert_str(0, &format!(".{column}"));
                        error
                    };
                    let is_json =
                        matches!(byte, b'"' | b'[' | b'{' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
                    if is_json {
                        self.parser.value(&mut self.input, &mut self.scratch).map_err(within)?;
                    } else {
                        return Err(within(unexpected(&mut self.input, "a value in JSON")));
                    }
                }
            }
        }
        self.scratch.end();
        if self.input.peek()? == Some(b'\r') {
            self.input.bump();
        }
        match self.input.peek()? {
            None | Some(b'\n') => Ok(()),
            _ => Err(unexpected(&mut self.input, "the end of the line")),
        }
    }
}

impl Reader for TsvReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        if self.ended {
            return Ok(false);
        }
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => match self.header() {
                Ok(columns) => {
                    self.is_usual = columns == COLUMNS;
                    columns
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            },
        };
        while matches!(self.input.peek()?, Some(b'\n' | b'\r')) {
            self.input.bump();
        }
        if self.input.peek()?.is_none() {
            self.ended = true;
            return Ok(false);
        }
        if self.is_usual && self.parsed.read_known::<Tsv>(&mut self.input) {
            self.columns = Some(columns);
            return Ok(true);
        }
        let from = self.input.offset();
        self.scratch.clear();
        let line = self.input.place().line;
        let read = self.line(&columns);
        self.columns = Some(columns);
        if let Err(mut error) = read {
            error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
            self.parsed.pass_over();
            if error.io.is_some() {
                self.ended = true;
                return Err(error);
            }
            if self.input.place().line == line {
                self.input.skip_line()?;
            }
            return Err(error.passable());
        }
        self.parsed.accept(&self.scratch)?;
        if self.is_usual {
            self.parsed.learn::<Tsv>(&self.input, from);
        }
        Ok(true)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
