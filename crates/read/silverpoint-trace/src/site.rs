//! A site as readers use it: its description, with signature and names parsed once.

use std::collections::HashSet;

use silverpoint_wire::function::function_name;
use silverpoint_wire::layout::crash::{CATEGORY, NAMES, SIGNATURE};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::percent;
use silverpoint_wire::signature::{self, Type};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::template;

use crate::Made;

/// A tracepoint's description, ready for reading its records.
#[derive(Clone, Debug)]
pub struct Site {
    /// As recorded.
    pub description: SiteDescription,
    /// The arguments' types; empty when the signature cannot be read.
    pub types: Vec<Type>,
    /// The arguments' names: as many as types, or none.
    pub names: Vec<String>,
    /// The names, each once, as members of an object have them: of equal ones the second is `name_2`.
    keys: Vec<String>,
    /// What is wrong with signature or template. Records of such a site are shown as far as possible.
    pub fault: Option<String>,
    /// Its records are those of crashes.
    is_crash: bool,
    made: Made,
}

impl Site {
    /// Parses a description. Never fails: `fault` reports what cannot be read.
    pub fn new(description: SiteDescription) -> Self {
        let (types, mut fault) = match signature::parse(&description.signature) {
            Ok(types) => (types, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mut names: Vec<String> = description.argument_names().map(str::to_owned).collect();
        if !names.is_empty() && names.len() != types.len() {
            fault.get_or_insert_with(|| format!("{} names for {} arguments", names.len(), types.len()));
            names.clear();
        }
        fault = fault.or_else(|| template_fault(&description));
        let is_crash = is_crash(&description);
        let keys = distinct(&names);
        Self { description, types, names, keys, fault, is_crash, made: Made::default() }
    }

    /// The names as members of an object have them: each one once, so that no reader of JSON passes one over.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Whether the arguments have names, and each its own.
    pub fn has_distinct_names(&self) -> bool {
        !self.names.is_empty() && self.keys == self.names
    }

    /// What the site is.
    pub fn kind(&self) -> Kind {
        self.description.kind
    }

    /// Whether its records describe a crash (`spec/crash.md`).
    pub fn is_crash(&self) -> bool {
        self.is_crash
    }

    /// What is made of the site once, and kept as long as it is.
    pub fn made(&self) -> &Made {
        &self.made
    }

    /// Its level.
    pub fn level(&self) -> Level {
        self.description.level
    }

    /// The file's name without its directories.
    pub fn file_name(&self) -> &str {
        self.description.file.rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// File name and line: `pump.cpp:88`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file_name(), self.description.line)
    }

    /// The function's qualified name, without return type and arguments.
    pub fn function(&self) -> &str {
        function_name(&self.description.function)
    }
}

/// Whether records of a site are those of crashes.
fn is_crash(description: &SiteDescription) -> bool {
    description.category == CATEGORY && description.signature == SIGNATURE && description.names == NAMES
}

/// What is wrong with the template, if anything is.
fn template_fault(description: &SiteDescription) -> Option<String> {
    match description.kind {
        Kind::Log if description.is_percent() => {
            percent::parse(&description.template).err().map(|error| error.to_string())
        }
        Kind::Log | Kind::Stream => {
            template::parse(&description.template).err().map(|error| error.to_string())
        }
        _ => None,
    }
}

/// Each name once: of equal ones the second gets a number.
fn distinct(names: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::with_capacity(names.len());
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        let mut key = name.clone();
        let mut number = 2;
        while !taken.insert(key.clone()) {
            key = format!("{name}_{number}");
            number += 1;
        }
        keys.push(key);
    }
    keys
}
