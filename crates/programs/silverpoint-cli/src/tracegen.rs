//! `silverpoint tracegen`: code of tracepoints from their definitions. The work is done in the crate silverpoint-tracegen; here are the files.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use silverpoint_tracegen::{Headers, Input, Model, cpp, read, rust};

use crate::exit::{Exit, Failed, Outcome, at, failure};
use crate::input::Output;
use crate::newfile::NewFile;

/// Write a C++ header or a Rust module of tracepoints from their definitions
///
/// FILE is in the grammar of Qt's `.tracepoints`, or in the short form of docs/guide/tracegen.md. Or it is a
/// C++ source with Q_TRACE_POINT, Q_TRACE_INSTRUMENT, Q_TRACE_PREFIX and Q_TRACE_METADATA. A tracepoint NAME
/// becomes trace_NAME, do_trace_NAME and trace_NAME_enabled. They record as SP_EVENT does. So rings, files
/// and LTTng have them.
///
/// Exit status 0: done. 1: a definition is wrong, or a file cannot be read or written; each mistake is
/// reported as FILE:LINE:COLUMN with what was expected. 2: wrong usage.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Definitions: `.tracepoints`, or C++ sources
    #[arg(required = true, value_name = "FILE")]
    definitions: Vec<PathBuf>,
    /// Write a Rust module instead of a C++ header
    #[arg(long)]
    rust: bool,
    /// Read only this provider's tracepoints from sources
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Search here for included headers that define an enumeration whose values are AUTO
    #[arg(short = 'I', long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The file to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Write the names of all files that were read here, as a rule of make whose target is the output
    #[arg(long, value_name = "FILE", requires = "output")]
    depfile: Option<PathBuf>,
}

/// Larger files are refused: definitions are written by people.
const LARGEST: u64 = 16 << 20;

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let mut texts = Vec::new();
    for path in &args.definitions {
        texts.push(content(path).map_err(at(path.display()))?);
    }
    let inputs: Vec<Input<'_>> =
        args.definitions.iter().zip(&texts).map(|(path, text)| Input { path, text }).collect();
    let mut headers = Included { inputs: &inputs, directories: &args.include, read: Vec::new() };
    let name = args.output.as_deref().and_then(Path::file_name).unwrap_or("standard output".as_ref());
    let written = read(&inputs, args.provider.as_deref(), &mut headers).and_then(|model| {
        let text =
            if args.rust { rust::module(&model) } else { Ok(cpp::header(&model, &name.to_string_lossy())) };
        text.map(|text| (model, text))
    });
    let (model, text) = match written {
        Ok(written) => written,
        Err(mistakes) => {
            // As compilers have it: file, line and column first.
            let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            let _ = writeln!(std::io::stderr().lock(), "{}", lines.join("\n"));
            return Ok(Exit::Failure);
        }
    };
    refuse_empty(&args, &model)?;
    match &args.output {
        Some(path) => {
            let mut file = NewFile::create(path, &args.definitions, args.force)?;
            file.write_all(text.as_bytes()).map_err(at(path.display()))?;
            file.finish().map_err(at(path.display()))?;
            if let Some(depfile) = &args.depfile {
                let files = args.definitions.iter().chain(&headers.read);
                std::fs::write(depfile, rule(path, files)).map_err(at(depfile.display()))?;
            }
        }
        None => {
            let mut out = Output::new();
            out.text.push_str(&text);
            out.flush()?;
        }
    }
    Ok(Exit::Success)
}

/// A header without tracepoints is a mistake in the command, or in a provider's name.
fn refuse_empty(args: &Args, model: &Model) -> Result<(), Failed> {
    if !model.points.is_empty() || !model.enumerations.is_empty() {
        return Ok(());
    }
    let of = args.provider.as_ref().map(|name| format!(" of the provider {name}")).unwrap_or_default();
    Err(failure(format!("{}: it defines no tracepoint{of}", args.definitions[0].display())))
}

/// `output: file file`, as make and ninja read it.
fn rule<'p>(output: &Path, files: impl Iterator<Item = &'p PathBuf>) -> String {
    let name = |path: &Path| {
        let mut name = String::new();
        for character in path.to_string_lossy().chars() {
            match character {
                ' ' | '#' => name.extend(['\\', character]),
                '$' => name.push_str("$$"),
                other => name.push(other),
            }
        }
        name
    };
    let files: String = files.map(|path| format!(" \\\n  {}", name(path))).collect();
    format!("{}:{files}\n", name(output))
}

fn content(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("it has more than {} MiB", LARGEST >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files themselves, then what they include, as far as it is found: breadth first, each once.
struct Included<'a> {
    inputs: &'a [Input<'a>],
    directories: &'a [PathBuf],
    /// The headers that were read.
    read: Vec<PathBuf>,
}

impl Included<'_> {
    /// Most headers that are read.
    const MOST: usize = 4000;

    fn find(&self, name: &str, from: &Path) -> Option<PathBuf> {
        let beside = from.parent().map(|directory| directory.join(name));
        let elsewhere = self.directories.iter().map(|directory| directory.join(name));
        beside.into_iter().chain(elsewhere).find(|path| path.is_file())
    }
}

impl Headers for Included<'_> {
    fn each(&mut self, look: &mut dyn FnMut(&str) -> bool) {
        let mut read = Vec::new();
        self.look_at_each(look, &mut read);
        self.read = read;
    }
}

impl Included<'_> {
    fn look_at_each(&self, look: &mut dyn FnMut(&str) -> bool, read: &mut Vec<PathBuf>) {
        let mut seen = HashSet::new();
        let mut waiting = VecDeque::new();
        let mut follow = |text: &str, from: &Path| {
            let found: Vec<PathBuf> = includes(text)
                .filter_map(|name| self.find(name, from))
                .filter(|path| seen.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())))
                .collect();
            found
        };
        for input in self.inputs {
            if look(input.text) {
                return;
            }
            waiting.extend(follow(input.text, input.path));
        }
        let mut count = 0;
        while let Some(path) = waiting.pop_front() {
            count += 1;
            if count > Self::MOST {
                return;
            }
            // Unreadable headers are skipped.
            let Ok(text) = content(&path) else { continue };
            read.push(path.clone());
            if look(&text) {
                return;
            }
            waiting.extend(follow(&text, &path));
        }
    }
}

/// What stands behind `#include`, also within a text.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).filter_map(|rest| {
        let rest =
            rest.trim_start_matches([' ', '\t']).strip_prefix("include")?.trim_start_matches([' ', '\t']);
        let rest = rest.strip_prefix('\\').unwrap_or(rest).strip_prefix(['<', '"'])?;
        let end = rest.find(['>', '"', '\\', '\n'])?;
        Some(&rest[..end]).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{includes, rule};

    #[test]
    fn a_rule_of_make_names_the_files() {
        let files = [PathBuf::from("a b.h"), PathBuf::from("c$#.h")];
        assert_eq!(rule(Path::new("out.h"), files.iter()), "out.h: \\\n  a\\ b.h \\\n  c$$\\#.h\n");
    }

    #[test]
    fn includes_are_found_in_lines_and_in_texts() {
        let text = "#include <QtCore/qevent.h>\n#  include \"a.h\"\n\"#include \\\"b.h\\\"\" #include\n# includes <x>\n#if A";
        assert_eq!(includes(text).collect::<Vec<_>>(), ["QtCore/qevent.h", "a.h", "b.h"]);
    }
}
