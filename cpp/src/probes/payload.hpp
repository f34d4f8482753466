// The payload of an event from the arguments of a record (forms.hpp).
#pragma once

#include <silverpoint/detail/utf8.hpp>

#include "forms.hpp"

namespace silverpoint::probes {

template <class Dialect>
class Payload {
  public:
    // `room`: bytes for what may be cut: texts, and elements of sequences.
    Payload(Output& out, std::size_t room) : out_(out), room_(room) {}

    bool is_cut() const { return is_cut_; }

    void add_all(std::string_view signature, Input& in) {
        for (Signature of(signature); !of.is_at_end();) add(of, in, true, kDeepest);
    }
    // A text that `put` makes.
    template <class Put>
    void made(const Put& put) {
        const std::size_t at = begin();
        put();
        if (!out_.is_whole()) return;
        const std::size_t size = out_.size() - at, most = fitting(size);
        end(at, most < size ? whole_characters(out_.bytes() + at, most) : size);
    }

  private:
    std::size_t begin() {
        out_.add("\0\0", 2);
        return out_.size();
    }
    void end(std::size_t at, std::size_t size) {
        out_.cut(at + size);
        patch(at, size);
        room_ -= size;
    }
    void patch(std::size_t at, std::size_t count) {
        const auto number = static_cast<std::uint16_t>(count);
        out_.patch(at - 2, &number, sizeof number);
    }
    // As many bytes, or the most that there is room for.
    std::size_t fitting(std::size_t size) {
        const std::size_t most = room_ < kCountMost ? room_ : kCountMost;
        if (size <= most) return size;
        is_cut_ = true;
        return most;
    }
    // Of `size` bytes of a longer text those of whole characters. Bytes that are not UTF-8 are cut anywhere.
    static std::size_t whole_characters(const char* text, std::size_t size) {
        std::size_t tail = size;
        while (tail > 0 && size - tail < 3 && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) --tail;
        return (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80 ? size : tail;
    }
    void zeros(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) out_.put('\0');
    }
    // Values as they lie in a record. The first three numbers of a UUID may be little-endian in an event.
    void packed(char code, const unsigned char* bytes, std::size_t size) {
        if (!Dialect::kHasMixedUuids || code != 'u' || bytes == nullptr) return out_.add(bytes, size);
        static constexpr unsigned char from[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
        for (std::size_t at = 0; at < size; at += sizeof from)
            for (const unsigned char i : from) out_.put(static_cast<char>(bytes[at + i]));
    }
    void counted(Input& in, bool is_text, bool is_there) {
        const std::uint32_t size = is_there ? in.length(1) : 0;
        const auto* const bytes = reinterpret_cast<const char*>(in.take(size));
        std::size_t most = fitting(size);
        if (is_text && most < size) most = whole_characters(bytes, most);
        const std::size_t at = begin();
        out_.add(bytes, most);
        end(at, most);
    }
    void values(Signature& of, Input& in, bool is_there) {
        const ListHead head(of);
        of.skip_metadata();
        const char code = of.take();
        const unsigned size = value_size(code);
        if (head.template is_constant<Dialect>(size)) {
            const std::size_t all = std::size_t{head.count} * size;
            return is_there ? out_.add(in.take(all), all) : zeros(all);
        }
        const std::uint32_t count = !is_there ? 0 : head.is_array ? head.count : in.length(size);
        const unsigned char* const bytes = in.take(std::size_t{count} * size);
        std::size_t most = room_ / size < kCountMost ? room_ / size : kCountMost;
        if (count <= most) most = count;
        is_cut_ = is_cut_ || most < count;
        const std::size_t at = begin();
        packed(code, bytes, most * size);
        patch(at, most);
        room_ -= most * size;
    }
    void texts(Signature& of, Input& in, bool is_there) {
        const ListHead head(of);
        of.skip();
        const std::uint32_t count = !is_there ? 0 : head.is_array ? head.count : in.length(4);
        const std::size_t at = begin();
        std::size_t kept = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (room_ < 2 || kept == kCountMost) {
                is_cut_ = true;
                in.take(in.length(1));
                continue;
            }
            room_ -= 2;
            counted(in, true, true);
            ++kept;
        }
        patch(at, kept);
    }
    void labelled(Signature& of, Input& in, bool is_there) {
        const Enumeration enumeration(of);
        const unsigned size = unit_size(enumeration.unit);
        Input ahead = in;
        if (is_there)
            out_.add(in.take(size), size);
        else
            zeros(size);
        if (enumeration.labels.empty()) return;
        const std::int64_t value = is_signed(enumeration.unit)
                                       ? ahead.signed_number(size)
                                       : static_cast<std::int64_t>(ahead.unsigned_number(size));
        std::string_view label;
        if (is_there) find_label(enumeration.labels, value, label);
        made([&] { unescape(label, [&](char c) { out_.put(c); }); });
    }
    // `is_there`: false within an optional without value, of which every field is zero, empty or null. `in`
    // is not used then.
    void add(Signature& of, Input& in, bool is_there, unsigned depth) {
        of.skip_metadata();
        switch (form_of<Dialect>(of, depth)) {
            case Form::kNothing:
                return of.skip();
            case Form::kValue: {
                const char code = of.take();
                const unsigned size = value_size(code);
                return is_there ? packed(code, in.take(size), size) : zeros(size);
            }
            case Form::kNullable: {
                of.take();
                of.skip_metadata();
                const std::uint16_t size = static_cast<std::uint16_t>(value_size(of.take()));
                if (!is_there || in.get<std::uint8_t>() == 0) return zeros(2);
                out_.add(&size, sizeof size);
                return out_.add(in.take(size), size);
            }
            case Form::kOptional: {
                of.take();
                const bool has_value = is_there && in.get<std::uint8_t>() != 0;
                out_.put(has_value ? '\1' : '\0');
                return add(of, in, has_value, depth);
            }
            case Form::kText:
            case Form::kBytes:
                return counted(in, of.take() == 's', is_there);
            case Form::kMadeText:
                return made([&] {
                    const char code = of.take();
                    if (is_there) put_text(out_, code, in);
                });
            case Form::kLabelled:
                return labelled(of, in, is_there);
            case Form::kValues:
                return values(of, in, is_there);
            case Form::kTexts:
                return texts(of, in, is_there);
            case Form::kRecord:
                return each_member(of, [&](std::string_view, unsigned) { add(of, in, is_there, depth - 1); });
            case Form::kJson:
                made([&] {
                    Signature again = of;
                    if (is_there)
                        put_json(out_, again, in);
                    else
                        out_.add("null");
                });
                return of.skip();
        }
    }

    Output& out_;
    std::size_t room_;
    bool is_cut_ = false;
};

}  // namespace silverpoint::probes
