// Arguments of a record as text, by the signature (spec/wire.md section 10).
//
// - Numbers in decimal, floats with 17 digits at most.
// - Text in quotes, wide text as u"…" or U"…", units beyond ASCII as \x{HEX}.
// - [sequence], ${set}, #[array], {key: value}, (tuple), Name{field: value}.
// - `none` or the value of an optional; a variant as index:value.
// - A duration as 5ns, a date as @5, bytes as y:0a:ff. A cut value ends with `…+N`.
#pragma once

#include <string>

#include "reader.hpp"

namespace reader {

std::string text_of(const Record& record, const Site& site);

}  // namespace reader
