//! Mistakes are reported with file, line and column, and no input makes the reader panic.

use std::path::Path;

use silverpoint_tracegen::{Input, Model, NoHeaders, Shape, cpp, read, rust};

fn given(path: &str, text: &str) -> Result<Model, String> {
    let input = Input { path: Path::new(path), text };
    read(&[input], None, &mut NoHeaders)
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// Of a file of definitions, without its name.
fn mistake(text: &str) -> String {
    let all = given("a.tracepoints", text).expect_err(text);
    all.replace("a.tracepoints:", "")
}

#[test]
fn definitions() {
    for (text, expected) in [
        ("f(int)", "1:3: expected a type and a name, as in `int count`"),
        ("f(int a, )", "1:10: expected a name behind the type, as in `int count`"),
        ("f(const QString &)", "1:18: expected a name behind the type, as in `int count`"),
        ("f(int class)", "1:7: expected a name behind the type: `class` is a word of C++"),
        ("f(int a, char a)", "1:9: expected another name: `a` is taken"),
        ("f(int[0] a)", "1:7: expected a length from 1 to 65536, or the name of an argument"),
        ("f(int[99999999999] a)", "1:7: expected a length from 1 to 65536, or the name of an argument"),
        ("f(int[n] a)", "1:3: expected an integer argument `n`: the length of `a`"),
        ("f(int[n] a, double n)", "1:3: expected an integer argument `n`: the length of `a`"),
        ("f(char*[4] a)", "1:11: expected an array of numbers, characters or enumerations"),
        ("f(QList<int a)", "1:12: expected `>`"),
        ("f(int@ a)", "1:6: expected a type of C++: names, `::`, `<…>`, `*`, `&`, `[length]`"),
        ("f(int a", "1:3: expected `)` behind the arguments"),
        ("f(int a) g()", "1:10: expected the end of the line"),
        ("f int a", "1:3: expected `(` behind `f`"),
        (
            "# ä\n  ä()",
            "2:3: expected a tracepoint `name(type argument, …)`, ENUM, FLAGS, enum, flags, provider, `{` or a comment `#`",
        ),
        ("f()\n\nf(int a)", "3:1: expected a name that is not taken: f is defined at 1:1"),
        ("{ class A; }", "1:3: expected `{` alone in its line: lines for the header follow it"),
        ("f_enabled()\nf()", "1:1: expected another name: the tracepoint at 2:1 has trace_f_enabled, too"),
        ("f()\n{\nclass A;", "2:1: expected a line `}` that ends the lines for the header"),
        ("f()\nprovider b", "2:1: expected one `provider`, before all tracepoints"),
        ("provider class", "1:15: expected another name: `class` is a word of C++"),
        ("info f(a: u32)\ninfo info", "2:10: expected `(` behind `info`"),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
    // All of a file, in the order of its lines.
    assert_eq!(mistake("f(int)\ng(int b)\nh(char)\n").lines().count(), 2);
    assert_eq!(mistake(&"f(int)\n".repeat(100)).lines().count(), 10);
    // A long name is quoted in part.
    assert!(mistake(&"x".repeat(100_000)).len() < 1000);
    let unnamed = given("a b.tracepoints", "f()\n").unwrap_err();
    assert!(unnamed.contains("`a b` is no name of a provider"), "{unnamed}");
}

#[test]
fn short_form() {
    let types = "expected a type: bool, i8 to i64, u8 to u64, f32, f64, text, bytes, pointer, ?T, [T], or an enumeration that this file defines";
    for (text, expected) in [
        ("f(a: int)", format!("1:6: {types}")),
        ("f(a: )", format!("1:6: {types}")),
        ("f(a: [?Side])", format!("1:6: {types}")),
        ("f(a: [u8)", "1:9: expected `]` behind the type of the elements".to_owned()),
        ("f(a: u8 b)", "1:9: expected `,` or `)` behind the type".to_owned()),
        ("f(a: ?????????u8)", "1:15: expected at most 8 types within each other".to_owned()),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
}

#[test]
fn enumerations() {
    for (text, expected) in [
        ("ENUM { A B } C;", "1:10: expected `,`, a new line or `}`"),
        ("ENUM { A = } C;", "1:12: expected an integer of at most 64 bits"),
        ("ENUM { A = 99999999999999999999 } C;", "1:12: expected an integer of at most 64 bits"),
        ("ENUM { A, A } C;", "1:11: expected another name: `A` is taken"),
        ("ENUM { RANGE(A, 3 ... 2) } C;", "1:24: expected a last value that is not below the first"),
        ("ENUM { RANGE(A, 3 .. 2) } C;", "1:19: expected `...`"),
        (
            "ENUM { A = -1, B = 0xFFFFFFFFFFFFFFFF } C;",
            "1:16: expected values of one integer of 64 bits, with or without a sign",
        ),
        ("ENUM { A } ;", "1:12: expected the name of the enumeration behind `}`"),
        (
            "ENUM { AUTO } A::B;",
            "1:15: expected an enumeration A::B in a header that is included here (-I DIR names where headers are), or its values",
        ),
        ("ENUM { A", "1:9: expected `,`, a new line or `}`"),
        ("enum A { b, RANGE(c, 0 ... 2) }", "1:6: expected single values, no ranges"),
        ("FLAGS { A = -1 } M;", "1:9: expected flags that are not negative"),
        (
            "enum Big { a = 18446744073709551615, b }",
            "1:38: expected values of one integer of 64 bits, with or without a sign",
        ),
        ("enum A { }", "1:7: expected values in the braces"),
        ("enum A { new }", "1:6: expected other names: `new` is a word of C++"),
        ("flags A { b = -1 }", "1:11: expected flags that are not negative"),
        ("enum A { b = 1 }\nenum A { b = 1 }", "2:6: expected a name that is not taken: A is defined at 1:6"),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
    let many: String = (0..2000).map(|number| format!("label{number}, ")).collect();
    assert!(mistake(&format!("ENUM {{ {many} }} C;")).contains("expected fewer labels"));
}

#[test]
fn a_mistake_in_braces_is_one_mistake() {
    for begin in ["ENUM", "FLAGS", "enum E", "flags F"] {
        let text = format!("{begin} {{\n    A = 1\n    B = x\n    C = 2\n    D\n}} Type;\ng(int)\n");
        let all = mistake(&text);
        assert_eq!(
            all,
            "3:9: expected an integer of at most 64 bits\n7:3: expected a type and a name, as in `int count`"
        );
    }
    assert_eq!(mistake("ENUM { A = x } Type;\ng(int)").lines().count(), 2);
}

#[test]
fn enumerations_as_the_generator_of_qt_writes_them_are_read() {
    let text = "ENUM {\n    # a comment\n    A = 0 # another\n    B = 0,\n\n    C\n    RANGE ( User, 10 ... 12 ) ,\n    MaxUser = 12\n} T;\n";
    let model = given("a.tracepoints", text).unwrap();
    let labels: Vec<String> =
        model.enumerations[0].labels.iter().map(|one| format!("{}={}", one.name, one.value)).collect();
    assert_eq!(labels, ["A=0", "C=1", "User=10", "User=11", "User=12"]);
}

#[test]
fn a_type_of_this_file_may_have_two_names_of_a_value() {
    let model = given("a.tracepoints", "provider p\nenum E { a, b = 0 }\nf(e: E)\n").unwrap();
    let header = cpp::header(&model, "a.h");
    assert!(header.contains("    a = 0,\n    b = 0,\n"), "{header}");
    assert!(header.contains("{0, \"a\"}") && !header.contains("{0, \"b\"}"), "{header}");
    let module = rust::module(&model).unwrap();
    assert!(module.contains("pub const b: Self = Self(0);") && !module.contains("=b,"), "{module}");
}

#[test]
fn a_replacement_changes_a_part_of_a_type() {
    let text = "int Q_TRACE_INSTRUMENT(p) f(const User::Type &u, QList<User::Type> all, User::Types no, X x[3]) {\n\
        Q_TRACE_PARAM_REPLACE(User::Type, QString); Q_TRACE_PARAM_REPLACE(X, const int) }\n";
    let model = given("a.cpp", text).unwrap();
    let arguments = &model.points[0].arguments;
    let written: Vec<_> = arguments.iter().map(|one| one.written.as_deref().unwrap()).collect();
    assert_eq!(written, ["const QString &", "QList<QString>", "User::Types", "const int"]);
    assert_eq!(arguments[0].shape, Shape::Text);
    assert_eq!(arguments[3].shape, Shape::Array("int".to_owned(), 3));
}

#[test]
fn a_byte_order_mark_and_volatile_characters_are_understood() {
    let model = given("a.tracepoints", "\u{FEFF}f(const volatile char *v)\n").unwrap();
    assert_eq!(model.points[0].place.to_string(), "a.tracepoints:1:1");
    assert_eq!(model.points[0].arguments[0].shape, Shape::Pointer);
}

#[test]
fn words_of_rust_are_no_types_of_its_module() {
    let text = "provider p\nenum match { a }\nenum Option { b }\nf(m: match, o: Option, p: ?u8)\n";
    let module = rust::module(&given("a.tracepoints", text).unwrap()).unwrap();
    assert!(module.contains("pub struct r#match(") && module.contains("pub struct Option_("), "{module}");
    assert!(module.contains("m: r#match, o: Option_, p: Option<u8>"), "{module}");
}

#[test]
fn sources() {
    for (text, expected) in [
        ("Q_TRACE_POINT(", "1:15: expected the provider's name"),
        ("int a;\nQ_TRACE_POINT(p, name, int)", "2:24: expected a type and a name, as in `int count`"),
        ("Q_TRACE_POINT(p, name int a)", "1:23: expected `,` or `)` behind the tracepoint's name"),
        ("Q_TRACE_POINT(p, name, int a;", "1:22: expected `)`"),
        ("Q_TRACE_INSTRUMENT(p) ~", "1:23: expected a function `Class::name(type argument, …)`"),
        ("Q_TRACE_PREFIX(p, class A)", "1:19: expected a text in quotes, or `)`"),
        (
            "Q_TRACE_METADATA(p, \"ENUM { A,\" \\\n  \"B = } C;\")",
            "2:8: expected an integer of at most 64 bits",
        ),
        ("Q_TRACE_METADATA(p, \"{ A } C;\")", "1:22: expected ENUM or FLAGS"),
        (
            "int Q_TRACE_INSTRUMENT(p) f(Text t) { Q_TRACE_PARAM_REPLACE(Tex, int) }",
            "1:61: expected a type of an argument of this function: none has `Tex`",
        ),
        ("Q_TRACE_PARAM_REPLACE(A)", "1:24: expected two types: what to replace, and by what"),
    ] {
        let all = given("a.cpp", text).expect_err(text);
        assert_eq!(all.replace("a.cpp:", ""), expected, "{text}");
    }
}

#[test]
fn what_is_no_definition_is_not_read() {
    let text = "#define Q_TRACE_POINT(provider, ...) \\\n  nothing\n// Q_TRACE_POINT(p, a)\n/* Q_TRACE_POINT(p, b) */\n\
        auto c = \"Q_TRACE_POINT(p, c)\" 'Q' 1'000; // Q_TRACE_POINT(p, d)\nauto e = R\"x(Q_TRACE_POINT(p, e))x\";\n\
        #define X /* begins\nQ_TRACE_POINT(p, commented)\n*/\n\
        Q_TRACE_POINT(p, f, const char * const text /* a name */, QMap<int, QString> map)\n";
    let model = given("a.cpp", text).unwrap();
    let names: Vec<&str> = model.points.iter().map(|point| &*point.name).collect();
    assert_eq!(names, ["f"]);
    assert_eq!(model.points[0].place.to_string(), "a.cpp:10:18");
    let written: Vec<_> = model.points[0].arguments.iter().map(|one| one.written.as_deref()).collect();
    assert_eq!(written, [Some("const char *const"), Some("QMap<int, QString>")]);
}

#[test]
fn rust_says_which_type_it_does_not_have() {
    let model = given("a.tracepoints", "f(int a, QFoo foo)\ng(const QRect &from, QString text)\n").unwrap();
    let all = rust::module(&model).unwrap_err();
    assert_eq!(all.len(), 1);
    assert!(
        all[0].to_string().starts_with("a.tracepoints:1:10: expected a type that Rust has"),
        "{}",
        all[0]
    );
}

#[test]
fn a_length_in_rust_is_that_of_one_slice_and_is_not_truncated() {
    let model = given("a.tracepoints", "f(int[n] a, qint8 n)\n").unwrap();
    let module = rust::module(&model).unwrap();
    assert!(module.contains("n = i8::try_from(a.len()).unwrap_or(i8::MAX)"), "{module}");
    let model = given("a.tracepoints", "f(int[n] a, int[n] b, int n)\n").unwrap();
    let all = rust::module(&model).unwrap_err();
    assert!(all[0].to_string().starts_with("a.tracepoints:1:13: expected a length of its own"), "{}", all[0]);
}

#[test]
fn a_module_of_rust_has_one_provider_of_each_name() {
    let text = |provider: &str| format!("provider {provider}\nenum E {{ a }}\nf(e: E)\n");
    let (one, other) = (text("p"), text("q"));
    let inputs = [("p.tracepoints", &one), ("q.tracepoints", &other)]
        .map(|(path, text)| Input { path: Path::new(path), text });
    let model = read(&inputs, None, &mut NoHeaders).unwrap();
    assert!(cpp::header(&model, "a.h").contains("namespace q"));
    let all = rust::module(&model).unwrap_err();
    assert_eq!(
        all[0].to_string(),
        "q.tracepoints:3:1: expected a module for each provider: f is defined at p.tracepoints:3:1, too"
    );
}

/// Numbers that look random, and are the same in each run.
struct Numbers(u64);
impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

#[test]
fn damaged_input_ends_in_a_model_or_in_mistakes() {
    const SEEDS: [(&str, &str); 2] = [
        (
            "a.tracepoints",
            "provider p\n{\nclass A;\n}\nENUM { A = 0, B, RANGE(C, 3 ... 10) } D::E;\nflags F { a = 1, b = 0x2 }\n\
             info f(a: [?F], b: text)\ng(const char[len] ä, unsigned int len, D::E e, QList<QMap<int, int>> *x)\n",
        ),
        (
            "a.cpp",
            "#if A\nQ_TRACE_PREFIX(p, \"class A;\" \\\n \"class B;\")\nQ_TRACE_METADATA(p, \"ENUM { A, RANGE B ... C } D;\")\n\
             Q_TRACE_POINT(p, a, int b, D d);\nint Q_TRACE_INSTRUMENT(p) A<T>::b(int c, X d) { Q_TRACE_PARAM_REPLACE(X, int); }\n\
             auto r = R\"(ä)\"; 'ä'",
        ),
    ];
    let mut numbers = Numbers(1);
    let mut read_well = 0;
    for _ in 0..5_000 {
        let (path, seed) = SEEDS[numbers.below(2)];
        let mut text: Vec<char> = seed.chars().collect();
        for _ in 0..1 + numbers.below(3) {
            if text.is_empty() {
                break;
            }
            let at = numbers.below(text.len());
            let other = text[numbers.below(text.len())];
            match numbers.below(4) {
                0 => {
                    text.remove(at);
                }
                1 => text.insert(at, other),
                2 => text.truncate(at + 1),
                _ => text[at] = other,
            }
        }
        let text: String = text.into_iter().collect();
        let input = Input { path: Path::new(path), text: &text };
        match read(&[input], None, &mut NoHeaders) {
            Ok(model) => {
                read_well += 1;
                assert!(cpp::header(&model, "a.h").contains("#pragma once"));
                let _ = rust::module(&model);
            }
            Err(mistakes) => {
                assert!(!mistakes.is_empty());
                let lines = text.lines().count() as u32 + 1;
                for one in &mistakes {
                    assert!((1..=lines).contains(&one.place.line) && one.place.column > 0, "{one}");
                }
            }
        }
    }
    assert!(read_well > 250, "{read_well}");
}
