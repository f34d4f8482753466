#!/usr/bin/env python3
"""Writes C++ that records values by many templates, and says what {fmt} and printf make of the same.

    generate.py DIRECTORY

makes part0.cpp … and main.cpp there, and cases.rs: the same values by the same templates of {fmt} in Rust, and cases.txt: the numbers of its
templates in their order. The program, run with the name of a file, records each value once and writes to that file one line a record: the
template's number, the expected text and the value as JSON (`-` where JSON has no such number), with tabs between. Which templates there are is decided by a fixed seed: the same at each run.
"""
import itertools
import random
import sys
from pathlib import Path

PARTS = 2
RANDOM = random.Random(20)

# Values of each type; every template of the type is used with every one.
VALUES = {
    "signed char": ["-128", "-1", "0", "7", "127"],
    "unsigned char": ["0", "9", "255"],
    "short": ["-32768", "0", "12345"],
    "unsigned short": ["0", "65535"],
    "int": ["-2147483647 - 1", "-42", "0", "1", "99", "2147483647"],
    "unsigned": ["0", "10", "4294967295u"],
    "long": ["-9223372036854775807l - 1", "-1000000", "0", "9223372036854775807l"],
    "unsigned long": ["0", "1000000", "18446744073709551615ul"],
    "long long": ["-77ll", "123456789012345ll"],
    "unsigned long long": ["77ull"],
    "__int128": ["-(static_cast<__int128>(1) << 100)", "static_cast<__int128>(12345) << 90"],
    "unsigned __int128": ["~static_cast<unsigned __int128>(0)", "0"],
    "bool": ["true", "false"],
    "char": ["'a'", "'~'", "' '"],
    "float": ["0.0f", "-0.0f", "1.5f", "0.1f", "16777216.0f", "3.4028235e38f", "1e-45f", "-123.456f",
              "std::numeric_limits<float>::infinity()", "std::numeric_limits<float>::quiet_NaN()"],
    "double": ["0.0", "-0.0", "0.1", "1.0", "0.5", "2.5", "-3.5", "9.995", "1e16", "1e17", "123456789.125", "5e-324",
               "1.7976931348623157e308", "1e22", "1e23", "9007199254740992.0", "4.35", "0.000123456",
               "-std::numeric_limits<double>::infinity()", "std::numeric_limits<double>::quiet_NaN()"],
    "std::string": ['""', '"a"', '"hello world"', '"h\\u00e9llo"', '"\\u65e5\\u672c\\u8a9e"', '"quote \\" and \\\\"', '"a longer text, of more than forty characters"'],
    "const char*": ['"plain"', '""'],
    "std::string_view": ['"view"', '"tab-free, 100%"'],
}
# The same in Rust.
RUST = {
    "signed char": ("i8", ["-128", "-1", "0", "7", "127"]),
    "unsigned char": ("u8", ["0", "9", "255"]),
    "short": ("i16", ["-32768", "0", "12345"]),
    "unsigned short": ("u16", ["0", "65535"]),
    "int": ("i32", ["-2147483648", "-42", "0", "1", "99", "2147483647"]),
    "unsigned": ("u32", ["0", "10", "4294967295"]),
    "long": ("i64", ["i64::MIN", "-1000000", "0", "i64::MAX"]),
    "unsigned long": ("u64", ["0", "1000000", "u64::MAX"]),
    "__int128": ("i128", ["-(1 << 100)", "12345 << 90"]),
    "unsigned __int128": ("u128", ["u128::MAX", "0"]),
    "bool": ("bool", VALUES["bool"]),
    "char": ("char", VALUES["char"]),
    "float": ("f32", [value.rstrip("f") for value in VALUES["float"][:-2]] + ["f32::INFINITY", "f32::NAN"]),
    "double": ("f64", VALUES["double"][:-2] + ["f64::NEG_INFINITY", "f64::NAN"]),
    "std::string_view": ("&str", VALUES["std::string_view"]),
    "std::string": ("&str", [value.replace("\\u00e9", "é").replace("\\u65e5\\u672c\\u8a9e", "日本語") for value in VALUES["std::string"]]),
}
INTEGERS = [name for name in VALUES if name not in ("bool", "char", "float", "double", "std::string", "const char*", "std::string_view")]
TEXTS = ["std::string", "const char*", "std::string_view"]

ALIGNS = ["", "<", ">", "^", "*<", "*>", "_^", "0^", "\\u00b7>"]
SIGNS = ["", "+", "-", " "]
WIDTHS = ["", "1", "5", "12", "41"]


def braces(kind):
    """Specifications of a type: all combinations, of which a sample is taken; the plain one always."""
    if kind in INTEGERS:
        # {fmt} 9 refuses signs of unsigned numbers.
        signs = [""] if kind.startswith("unsigned") else SIGNS
        parts = [ALIGNS, signs, ["", "#"], ["", "0"], WIDTHS, [""], ["", "d", "b", "B", "o", "x", "X"]]
        count = 30 if kind in ("int", "unsigned long") else 9
    elif kind in ("float", "double"):
        parts = [ALIGNS, SIGNS, ["", "#"], ["", "0"], WIDTHS, ["", ".0", ".1", ".3", ".10", ".17"], ["", "f", "F", "e", "E", "g", "G", "a", "A"]]
        count = 130 if kind == "double" else 70
    elif kind == "bool":
        parts = [ALIGNS, [""], [""], [""], WIDTHS, [""], ["", "s"]]
        count = 12
    elif kind == "char":
        parts = [ALIGNS, [""], [""], [""], WIDTHS, [""], ["", "c"]]
        count = 12
    else:
        parts = [ALIGNS, [""], [""], [""], WIDTHS, ["", ".0", ".1", ".3", ".10"], ["", "s"]]
        count = 40 if kind == "std::string" else 10
    found = {""}
    every = ["".join(combination) for combination in itertools.product(*parts) if is_common(kind, combination)]
    found.update(RANDOM.sample(every, min(count, len(every))))
    return sorted(found)


def is_common(kind, combination):
    """Whether {fmt} 9 does what the standard says (as Silverpoint does)."""
    align, _, alternate, zero, width, precision, conversion = combination
    # The standard: a zero flag beside an alignment means nothing.
    if align and zero:
        return False
    if kind in ("float", "double"):
        # The standard: no 0x before hexadecimal digits (printf's are below). Infinities stand at the right like all numbers, filled with zeros
        # when that is the fill. After the zero of "#.0" there is a point, and no more.
        return align != "0^" and conversion not in ("a", "A") and (align or not width) and not (alternate and conversion in ("", "g", "G"))
    # The standard: the precision of text counts columns, of which some characters take two. (One of 10 leaves all texts that have such.)
    return kind != "std::string" or precision in ("", ".10")


def percents(kind):
    """printf's specifications of a type."""
    flags = ["", "-", "+", " ", "#", "0", "-+", "+0", " 0", "#0", "-#", "-0"]
    lengths = {"signed char": "hh", "unsigned char": "hh", "short": "h", "unsigned short": "h", "int": "", "unsigned": "",
               "long": "l", "unsigned long": "l", "long long": "ll", "unsigned long long": "ll"}
    precisions = ["", ".", ".0", ".1", ".3", ".12"]
    if kind in lengths:
        conversions = "di" if not kind.startswith("unsigned") else "uoxX"
        parts, count = [flags, WIDTHS, precisions, [lengths[kind]], conversions], 20
    elif kind == "double":
        parts, count = [flags, WIDTHS, precisions, ["", "l"], "fFeEgGaA"], 130
    elif kind == "char":
        parts, count = [["", "-"], WIDTHS, [""], [""], "c"], 6
    elif kind == "const char*":
        parts, count = [["", "-"], WIDTHS, precisions, [""], "s"], 25
    else:
        return []
    every = ["%" + "".join(combination) for combination in itertools.product(*parts)]
    return sorted(RANDOM.sample(every, min(count, len(every))))


def identifier(kind):
    return "values_of_" + "".join(c if c.isalnum() else "_" for c in kind)


def main():
    directory = Path(sys.argv[1])
    bodies = [[] for _ in range(PARTS)]
    cases = []
    rust = {kind: [] for kind in RUST}
    for kind in VALUES:
        for spec in braces(kind):
            before, after = RANDOM.choice([("", ""), ("<", ">"), ("{{", "}} and more")])
            template = before + ("{:" + spec + "}" if spec or not after else "{}") + after
            # In Rust a precision of floats counts decimals in every format.
            if kind in RUST and not (kind in ("float", "double") and "." in spec and spec[-1].isdigit()):
                rust[kind].append((len(cases), template.replace("\\u00b7", "·")))
            cases.append(f'    for (const auto& value : {identifier(kind)}) {{\n'
                         f'        SP_INFO("{template}", value);\n'
                         f'        expect({len(cases)}, fmt::format(fmt::runtime("{template}"), value), value);\n    }}')
        for spec in percents(kind):
            # Of a text behind a pointer no more is read than its precision says, for it need not have an end.
            read = f'std::string_view(value).substr(0, {int(spec.split(".")[1][:-1] or 0)})' if kind == "const char*" and "." in spec else "value"
            cases.append(f'    for (const auto& value : {identifier(kind)}) {{\n'
                         f'        SP_INFOF("[{spec}]", value);\n'
                         f'        expect({len(cases)}, printed("[{spec}]", value), {read});\n    }}')
    # Several arguments: automatic and explicit numbers, literals between.
    for template in ("{} {} {}", "{0} {1} {2}", "{2:>8} {0:+d} {1:.2f}", "{1} {2} {0}", "{0}{1:e}{2:.1}"):
        cases.append(f'    SP_INFO("{template}", 42, 2.5, "text");\n'
                     f'    expect({len(cases)}, fmt::format(fmt::runtime("{template}"), 42, 2.5, "text"), 42);')
    for number, case in enumerate(cases):
        bodies[number % PARTS].append(case)
    for number, body in enumerate(bodies):
        # In pieces: compilers take long for one long function.
        pieces = [body[at:at + 20] for at in range(0, len(body), 20)]
        text = '#include "values.hpp"\n\n'
        for index, piece in enumerate(pieces):
            text += f"static void piece{index}() {{\n" + "\n".join(piece) + "\n}\n\n"
        text += f"void part{number}() {{\n" + "".join(f"    piece{index}();\n" for index in range(len(pieces))) + "}\n"
        (directory / f"part{number}.cpp").write_text(text)
    arrays = "".join(f"const {kind if not kind.endswith('*') else kind + ' const'} {identifier(kind)}[] = {{"
                     + ", ".join(f"static_cast<{kind}>({value})" for value in values) + "};\n"
                     for kind, values in VALUES.items()).replace("const const char* const", "const char* const")
    (directory / "values.hpp").write_text('#pragma once\n#include "support.hpp"\n\n' + arrays)
    (directory / "main.cpp").write_text(
        '#include "support.hpp"\n\n'
        + "".join(f"void part{number}();\n" for number in range(PARTS))
        + "\nint main(int, char** argv) {\n    expected.open(argv[1]);\n"
        + "".join(f"    part{number}();\n" for number in range(PARTS))
        + "    return expected.flush() ? 0 : 1;\n}\n")
    numbers = []
    lines = ["// Made by cpp/tests/differential/generate.py: values and templates of the C++ program there.", "", "fn record() {"]
    for kind, templates in rust.items():
        name, values = RUST[kind]
        lines.append(f"    each! {{ [{name}] [{', '.join(values)}]")
        lines += [f'        "{template}"' for _, template in templates]
        lines.append("    }")
        numbers += [str(number) for number, _ in templates]
    (directory / "cases.txt").write_text("\n".join(numbers) + "\n")
    (directory / "cases.rs").write_text("\n".join(lines) + "\n}\n")
    print(f"{len(cases)} templates")


main()
