//! What expansion must know of sites.

use std::collections::HashMap;

use super::path::Path;
use crate::signature::{self, SignatureError, Type};

/// The argument types of sites by id, control records included.
#[derive(Clone, Debug)]
pub struct Signatures {
    sites: HashMap<u32, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    types: Vec<Type>,
    /// The way through its packed arguments, when it is simple.
    path: Option<Path>,
}

impl Known {
    fn new(types: Vec<Type>) -> Known {
        Known { path: Path::new(&types), types }
    }
}

impl Default for Signatures {
    fn default() -> Signatures {
        Signatures::new()
    }
}

impl Signatures {
    /// Knows the control records alone.
    pub fn new() -> Signatures {
        let control = [(1, "ALLL"), (2, "AL"), (3, "IL"), (4, "s"), (5, ""), (6, "v")];
        let sites = control
            .into_iter()
            .filter_map(|(site, text)| Some((site, Known::new(signature::parse(text).ok()?))))
            .collect();
        Signatures { sites }
    }

    /// Adds a site.
    pub fn insert(&mut self, site: u32, signature: &str) -> Result<(), SignatureError> {
        self.sites.insert(site, Known::new(signature::parse(signature)?));
        Ok(())
    }

    /// The types of a site's arguments.
    pub fn get(&self, site: u32) -> Option<&[Type]> {
        self.sites.get(&site).map(|known| known.types.as_slice())
    }

    /// The way through the packed arguments of a site, when it is simple.
    pub(super) fn path(&self, site: u32) -> Option<&Path> {
        self.sites.get(&site)?.path.as_ref()
    }
}
