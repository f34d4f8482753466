//! `silverpoint-arrow FORM [--event NAME]`: records as items of CBOR on standard input, a file of Parquet or Arrow on standard output. The helper of `silverpoint convert`.
#![forbid(unsafe_code)]

use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::Parser;
use silverpoint_arrow::{ArrowWriter, Form};
use silverpoint_convert::cbor::CborReader;
use silverpoint_convert::{Input, ReadError, WriteError, Writer, copy};

/// Records as Parquet or Arrow IPC: the helper of `silverpoint convert IN OUT.parquet`
#[derive(Parser)]
#[command(version)]
struct Args {
    /// parquet, arrow (an IPC file), or arrow-stream
    form: Form,
    /// Only the records of this event, span, counter or template, each argument a column of its type
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
}

/// For standard error.
struct Failed(String);

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self(format!("standard input: {error}"))
    }
}

impl From<WriteError> for Failed {
    fn from(error: WriteError) -> Self {
        Self(error.to_string())
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let out = BufWriter::new(io::stdout());
    let mut writer = match &args.event {
        Some(name) => ArrowWriter::event(out, args.form, name),
        None => ArrowWriter::records(out, args.form),
    };
    let mut reader = CborReader::new(Input::new(Box::new(io::stdin())), 0);
    let writer: &mut dyn Writer = &mut writer;
    match copy(&mut reader, writer, |error| Err(Failed::from(error))) {
        Ok(_) => ExitCode::SUCCESS,
        Err(Failed(why)) => {
            eprintln!("silverpoint-arrow: {why}");
            ExitCode::FAILURE
        }
    }
}
