//! sites.json: descriptions of sites, byte for byte, and refused ones.

use super::json::Json;

/// The fields of a description, written here by spec/wire.md section 7 alone.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub kind: u8,
    pub level: u8,
    pub flags: u16,
    pub line: u32,
    pub language: u16,
    pub category: String,
    pub file: String,
    pub function: String,
    pub names: String,
    pub template: String,
    pub signature: String,
}

impl Site {
    /// A log site at level info without names.
    pub fn log(template: &str, signature: &str) -> Site {
        Site {
            level: 2,
            line: 7,
            language: 1,
            category: "vectors".into(),
            file: "src/vectors.cpp".into(),
            function: "void vectors()".into(),
            template: template.into(),
            signature: signature.into(),
            ..Site::default()
        }
    }

    /// The description.
    pub fn bytes(&self) -> Vec<u8> {
        let mut body = vec![self.kind, self.level];
        body.extend_from_slice(&self.flags.to_le_bytes());
        body.extend_from_slice(&self.line.to_le_bytes());
        body.extend_from_slice(&self.language.to_le_bytes());
        body.extend_from_slice(&[0; 2]);
        for text in [&self.category, &self.file, &self.function, &self.names] {
            body.extend_from_slice(&(text.len() as u16).to_le_bytes());
        }
        for text in [&self.template, &self.signature] {
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
        }
        body.extend_from_slice(&[0; 4]);
        for text in [&self.category, &self.file, &self.function, &self.names, &self.template, &self.signature]
        {
            body.extend_from_slice(text.as_bytes());
        }
        body.resize(body.len().next_multiple_of(8), 0);
        sealed(&body)
    }

    /// The fields, as a vector shows them.
    pub fn fields(&self) -> Vec<(&'static str, Json)> {
        vec![
            ("kind", Json::text(KINDS[usize::from(self.kind)])),
            (
                "level",
                Json::text(["trace", "debug", "info", "warn", "error", "fatal"][usize::from(self.level)]),
            ),
            ("flags", Json::int(self.flags)),
            ("line", Json::int(self.line)),
            ("language", Json::int(self.language)),
            ("category", Json::text(&self.category)),
            ("file", Json::text(&self.file)),
            ("function", Json::text(&self.function)),
            ("names", Json::text(&self.names)),
            ("template", Json::text(&self.template)),
            ("signature", Json::text(&self.signature)),
        ]
    }
}

/// Names of kinds, by number.
const KINDS: [&str; 13] = [
    "log",
    "stream",
    "event",
    "span",
    "counter",
    "instant",
    "async_begin",
    "async_end",
    "async_instant",
    "flow_begin",
    "flow_step",
    "flow_end",
    "link",
];

/// Size, zero, hash and what the hash is of.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u32 + 16).to_le_bytes().to_vec();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&fnv1a(body).to_le_bytes());
    out.extend_from_slice(body);
    out
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The vectors.
pub fn vectors() -> Vec<Json> {
    let mut all = Vec::new();
    for (name, site) in good() {
        let mut fields = vec![("name", Json::text(name))];
        fields.extend(site.fields());
        fields.push(("hex", Json::hex(&site.bytes())));
        fields.push(("verdict", Json::text("ok")));
        all.push(Json::Object(fields));
    }
    for (name, bytes, verdict) in hostile() {
        all.push(Json::Object(vec![
            ("name", Json::text(name)),
            ("hex", Json::hex(&bytes)),
            ("verdict", Json::text(verdict)),
        ]));
    }
    all
}

fn good() -> Vec<(&'static str, Site)> {
    let log = Site::log("order {} at {}", "Id");
    let with = |change: fn(&mut Site)| {
        let mut site = Site::log("t", "");
        change(&mut site);
        site
    };
    let named = |kind, name: &str, names: &str, signature: &str| Site {
        kind,
        template: name.into(),
        names: names.into(),
        signature: signature.into(),
        ..log.clone()
    };
    let mut all = vec![
        ("all empty", Site::default()),
        ("log", log.clone()),
        (
            "stream, pending",
            Site { kind: 1, flags: 1, template: String::new(), signature: String::new(), ..log.clone() },
        ),
        (
            "stream, complete",
            Site { kind: 1, template: "pos {} {}".into(), signature: "ii".into(), ..log.clone() },
        ),
        ("event", Site { kind: 2, names: "id\nprice\n".into(), template: "order".into(), ..log.clone() }),
        (
            "span",
            Site {
                kind: 3,
                names: "file\n".into(),
                template: "load".into(),
                signature: "s".into(),
                ..log.clone()
            },
        ),
        ("counter", Site { kind: 4, template: "depth".into(), signature: "l".into(), ..log.clone() }),
        ("instant", Site { kind: 5, template: "tick".into(), signature: String::new(), ..log.clone() }),
        ("async begin", named(6, "load", "id\nfile\n", "Ls")),
        ("async end", named(7, "load", "id\n", "L")),
        ("async instant", named(8, "load", "id\n", "L")),
        ("flow begin", named(9, "order", "id\n", "L")),
        ("flow step", named(10, "order", "id\n", "L")),
        ("flow end", named(11, "order", "id\n", "L")),
        ("link", named(12, "link", "from\nto\n", "LL")),
        (
            "non-ASCII texts",
            with(|site| {
                site.category = "netz::t\u{fc}r".into();
                site.file = "src/\u{65e5}\u{672c}.cpp".into();
                site.function = "void gr\u{fc}\u{df}e()".into();
                site.names = "\u{e9}\n\u{1F600}\n".into();
                site.template = "\u{2713} {} {}".into();
                site.signature = "ib".into();
            }),
        ),
        ("name of an argument may be empty", with(|site| site.names = "\n\n".into())),
        ("line beyond 16 bits, language .NET", with(|site| (site.line, site.language) = (u32::MAX, 4))),
        ("unknown language and flags are kept", with(|site| (site.language, site.flags) = (999, 0x8000))),
        (
            "texts of 300 bytes",
            with(|site| {
                site.file = "d/".repeat(150);
                site.template = "0123456789".repeat(30);
            }),
        ),
    ];
    for (level, name) in ["trace", "debug", "info", "warn", "error", "fatal"].into_iter().enumerate() {
        all.push((name, Site { level: level as u8, ..log.clone() }));
    }
    let tails = ["", "1", "12", "123", "1234", "12345", "123456", "1234567"];
    let names = ["tail 0", "tail 1", "tail 2", "tail 3", "tail 4", "tail 5", "tail 6", "tail 7"];
    for (tail, name) in tails.into_iter().zip(names) {
        // Seven other bytes and what makes a multiple of 8.
        all.push((
            name,
            Site { level: 2, file: "12345678".into(), template: tail.into(), ..Site::default() },
        ));
    }
    all
}

fn hostile() -> Vec<(String, Vec<u8>, &'static str)> {
    let site = Site::log("order {} at {}", "Id").bytes();
    // Changes bytes of the body and makes the hash right again: what is wrong then is the field alone.
    let changed = |at: usize, bytes: &[u8]| {
        let mut body = site[16..].to_vec();
        body[at - 16..at - 16 + bytes.len()].copy_from_slice(bytes);
        sealed(&body)
    };
    let patched = |at: usize, bytes: &[u8]| {
        let mut patched = site.clone();
        patched[at..at + bytes.len()].copy_from_slice(bytes);
        patched
    };
    let size = site.len() as u32;
    let mut all = vec![
        ("nothing".to_owned(), Vec::new(), "truncated"),
        ("three bytes".into(), site[..3].to_vec(), "truncated"),
        ("size alone".into(), site[..4].to_vec(), "truncated"),
        ("header alone".into(), site[..48].to_vec(), "truncated"),
        ("one byte is missing".into(), site[..site.len() - 1].to_vec(), "truncated"),
        ("wrong hash".into(), patched(8, &[site[8] ^ 1]), "hash"),
        ("another line".into(), patched(20, &[8]), "hash"),
        ("another byte of the tail".into(), patched(site.len() - 1, &[1]), "hash"),
        ("size is no multiple of 8".into(), patched(0, &(size - 4).to_le_bytes()), "size"),
        ("size 0".into(), patched(0, &[0; 4]), "size"),
        ("size 40".into(), patched(0, &40_u32.to_le_bytes()), "size"),
        ("size beyond the limit".into(), patched(0, &65_544_u32.to_le_bytes()), "size"),
        ("size of all ones".into(), patched(0, &[0xFF; 4]), "size"),
        ("size beyond the bytes".into(), patched(0, &(size + 8).to_le_bytes()), "truncated"),
        ("kind 13 is reserved".into(), changed(16, &[13]), "kind"),
        ("kind 128 is private".into(), changed(16, &[128]), "kind"),
        ("level 6".into(), changed(17, &[6]), "level"),
        ("level 255".into(), changed(17, &[255]), "level"),
    ];
    for (at, name) in [(28, "category"), (30, "file"), (32, "function"), (34, "names")] {
        all.push((format!("{name} beyond the end"), changed(at, &[0xFF; 2]), "size"));
    }
    for (at, name) in [(36, "template"), (40, "signature")] {
        all.push((format!("{name} beyond the end"), changed(at, &[0xFF; 4]), "size"));
    }
    let texts = [(48, "category"), (56, "file"), (71, "function"), (85, "template"), (99, "signature")];
    for (at, name) in texts {
        all.push((format!("{name} is not UTF-8"), changed(at, &[0xFF]), "text"));
    }
    // Lengths that end within a character: no text of its own is UTF-8 then.
    let split = Site { category: "\u{fc}".into(), file: "\u{fc}".into(), ..Site::log("t", "") }.bytes();
    let mut body = split[16..].to_vec();
    body[28 - 16] = 1;
    body[30 - 16] = 3;
    all.push(("a length ends within a character".into(), sealed(&body), "text"));
    all
}
