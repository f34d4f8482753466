// Reads and writes values as JSON and CBOR, from the description that tracing has of them.
//
//   struct Point { int x; double y; };
//   SP_STRUCT(Point, x, y)                         at global scope, as for tracing (detail/struct.hpp)
//
//   silverpoint::JsonWriter writer;
//   silverpoint::bind(writer, point);              writer.view() is {"x":1,"y":2.5}
//
//   silverpoint::JsonReader reader(text);
//   if (auto result = silverpoint::bind(reader, point); !result) puts(result.text().c_str());
//
//   silverpoint::pipe(reader, writer);             value by value, without a type
//
// Readers take memory: a file is mapped, or read in pieces that hold whole values. Writers give memory, or
// pieces of 64 KiB to a sink. No exceptions, no type information. Input is never trusted: errors are precise,
// nesting is limited, and memory is reserved only as far as bytes follow. See docs/guide/bind.md.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#    error "silverpoint/bind.hpp needs integers of 128 bits: compile with clang-cl, or leave it out"
#    include "clang-cl is needed"
#endif

#include "bind/cbor_reader.hpp"
#include "bind/cbor_writer.hpp"
#include "bind/json_reader.hpp"
#include "bind/json_writer.hpp"
#include "bind/pipe.hpp"
#include "bind/read.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Writes a value behind what the writer has. If the call fails, its output is removed again, unless a sink
// already has it.
// Thread-safe: one thread at a time, for each writer. Cost: grows with the value; the writer allocates where
// its room is used up.
template <class Writer, class T>
    requires std::is_base_of_v<binding::Output, Writer>
BindResult bind(Writer& writer, const T& value) {
    char* p = writer.at();
    const std::size_t began = writer.offset(p);
    if (began != 0) p = writer.separate(p);
    if (p != nullptr) p = writer.room(p, binding::bounded_part(binding::kBound<Writer, T>));
    if (p != nullptr) p = binding::put_value<Writer, std::remove_cv_t<T>>(writer, p, value, 0);
    return writer.finish_value(p, began);
}

// Reads the next value. After a failure the value holds what was read so far, and the reader is at its end.
// Thread-safe: one thread at a time, for each reader. Cost: grows with the value; the value allocates.
template <class Reader, class T>
    requires std::is_base_of_v<binding::Input, Reader>
BindResult bind(Reader& reader, T& value) {
    (void)binding::get_value(reader, value);
    return reader.finish_value();
}

// A whole text or item, and nothing behind it.
// Thread-safe: any thread. Cost: grows with the text; the value allocates.
template <class T>
BindResult from_json(std::string_view text, T& value, const ReadOptions& options = {}) {
    JsonReader reader(text, options);
    BindResult result = bind(reader, value);
    return result ? reader.finish() : std::move(result);
}
template <class T>
BindResult from_cbor(std::string_view bytes, T& value, const ReadOptions& options = {}) {
    CborReader reader(bytes, options);
    BindResult result = bind(reader, value);
    return result ? reader.finish() : std::move(result);
}

// Into a string, which is replaced; empty when it fails.
// Thread-safe: any thread. Cost: grows with the value; the string allocates, and beyond 512 bytes so does the
// writer.
template <class T>
BindResult to_json(const T& value, std::string& text, const JsonWriteOptions& options = {}) {
    JsonWriter writer(options);
    BindResult result = bind(writer, value);
    text.assign(writer.view());
    return result;
}
template <class T>
BindResult to_cbor(const T& value, std::string& bytes, const CborWriteOptions& options = {}) {
    CborWriter writer(options);
    BindResult result = bind(writer, value);
    bytes.assign(writer.view());
    return result;
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
