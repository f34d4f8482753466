// The metadata of an event: the head of the dialect, its name, then name, encoding and format of each field
// (forms.hpp).
#pragma once

#include <silverpoint/detail/utf8.hpp>

#include "forms.hpp"

namespace silverpoint::probes {

using Name = Text<220>;

// The name of a field, byte by byte. What ends a name or begins an attribute is replaced; a name that is too
// long is cut.
class NameWriter {
  public:
    explicit NameWriter(Name& name) : name_(name) {}
    ~NameWriter() {
        if (is_cut_) name_.cut(utf8_prefix({name_.c_str(), name_.size()}));
    }
    NameWriter(const NameWriter&) = delete;
    NameWriter& operator=(const NameWriter&) = delete;
    void operator()(char c) {
        const char safe = c == ';' ? ',' : (c >= 0 && c < ' ') || c == 0x7F ? '_' : c;
        is_cut_ = is_cut_ || name_.size() >= kMost;
        if (!is_cut_) name_.add(&safe, 1);
    }

  private:
    static constexpr std::size_t kMost = 180;
    Name& name_;
    bool is_cut_ = false;
};

template <class Dialect>
class Metadata {
  public:
    static constexpr unsigned kMostFields = Dialect::kMostFields;

    // `names`: as in a description.
    Metadata(std::string_view event, std::string_view signature, std::string_view names) {
        out_.add(Dialect::kHead);
        out_.add(event);
        out_.put('\0');
        Signature of(signature);
        for (unsigned number = 0; !of.is_at_end(); ++number) {
            const std::string_view given = part(names, 0, names.find('\n'));
            if (!names.empty())
                names.remove_prefix(given.size() == names.size() ? given.size() : given.size() + 1);
            Name name;
            if (given.empty()) {
                name.add("arg").number(number);
            } else {
                NameWriter writer(name);
                for (const char c : given) writer(c);
            }
            add(of, name, kDeepest, false);
        }
        size_ = out_.size();
        Name context;
        put(context.add("context"), kCounted, kJsonText, 2);
    }
    Metadata(const Metadata&) = delete;
    Metadata& operator=(const Metadata&) = delete;

    // Not all fields have room, or there is no memory.
    bool is_broken() const { return is_broken_ || !out_.is_whole(); }
    const char* bytes() const { return out_.bytes(); }
    // Without, and with, the last field: the fields of scopes as JSON.
    std::size_t size() const { return size_; }
    std::size_t size_with_context() const { return out_.size(); }
    // What the payload has at least, apart from what may be cut.
    std::size_t least() const { return least_; }

  private:
    bool is_taken(std::string_view name) const {
        for (unsigned i = 0; i < count_; ++i) {
            const Known& known = known_[i];
            if (known.structure == structure_ &&
                std::string_view(out_.bytes() + known.at, known.size) == name)
                return true;
        }
        return false;
    }
    void put(const Name& name, unsigned encoding, unsigned format, std::size_t least) {
        if (count_ == kMostFields) is_broken_ = true;
        if (is_broken()) return;
        Name unique = name;
        for (unsigned number = 2; is_taken({unique.c_str(), unique.size()}); ++number) {
            unique = name;
            unique.add("_").number(number);
        }
        known_[count_++] = {structure_, static_cast<std::uint32_t>(out_.size()),
                            static_cast<std::uint32_t>(unique.size())};
        out_.add(unique.c_str(), unique.size() + 1);
        Dialect::put_type(out_, encoding, format);
        least_ += least;
    }
    void text(const Name& name, Format format) { put(name, kCounted, format, 2); }
    void values(const Name& name, Signature& of, bool is_hex) {
        const ListHead head(of);
        is_hex = of.skip_metadata() || is_hex;
        const char code = of.take();
        const unsigned size = value_size(code);
        const Format format = value_format(code, is_hex);
        if (!head.template is_constant<Dialect>(size))
            return put(name, value_encoding(size) | kArray, format, 2);
        put(name, value_encoding(size) | kConstantArray, format, std::size_t{head.count} * size);
        const auto count = static_cast<std::uint16_t>(head.count);
        out_.add(&count, sizeof count);
    }
    void labelled(const Name& name, Signature& of, bool is_hex) {
        const Enumeration enumeration(of);
        const unsigned size = unit_size(enumeration.unit);
        put(name, value_encoding(size), value_format(enumeration.unit, is_hex), size);
        if (enumeration.labels.empty()) return;
        Name label = name;
        text(label.add("_label"), kUtf8);
    }
    void record(const Name& name, Signature& of, unsigned depth, bool is_hex) {
        Signature ahead = of;
        unsigned fields = 0;
        each_member(ahead,
                    [&](std::string_view, unsigned) { fields += fields_of<Dialect>(ahead, depth - 1); });
        put(name, kStruct, fields, 0);
        const unsigned outer = structure_;
        structure_ = ++structures_;
        each_member(of, [&](std::string_view given, unsigned number) {
            Name member;
            if (given.empty()) {
                member.number(number);
            } else {
                NameWriter writer(member);
                unescape(given, [&writer](char c) { writer(c); });
            }
            add(of, member, depth - 1, is_hex);
        });
        structure_ = outer;
    }
    void add(Signature& of, const Name& name, unsigned depth, bool is_hex) {
        is_hex = of.skip_metadata() || is_hex;
        switch (form_of<Dialect>(of, depth)) {
            case Form::kNothing:
                return of.skip();
            case Form::kValue: {
                const char code = of.take();
                const unsigned size = value_size(code);
                return put(name, value_encoding(size), value_format(code, is_hex), size);
            }
            case Form::kNullable: {
                of.take();
                is_hex = of.skip_metadata() || is_hex;
                const char code = of.take();
                return put(name, kCounted, value_format(code, is_hex), 2 + value_size(code));
            }
            case Form::kOptional: {
                of.take();
                Name present = name;
                put(present.add("_present"), kValue8, kBoolean, 1);
                return add(of, name, depth, is_hex);
            }
            case Form::kText:
            case Form::kMadeText:
                of.skip();
                return text(name, kUtf8);
            case Form::kBytes:
                of.skip();
                return text(name, kHexBytes);
            case Form::kLabelled:
                return labelled(name, of, is_hex);
            case Form::kValues:
                return values(name, of, is_hex);
            case Form::kTexts:
                of.skip();
                return put(name, kCounted | kArray, kUtf8, 2);
            case Form::kRecord:
                return record(name, of, depth, is_hex);
            case Form::kJson:
                of.skip();
                return text(name, kJsonText);
        }
    }

    struct Known {
        std::uint32_t structure, at, size;
    };
    Output out_;
    Known known_[kMostFields + 1];
    unsigned count_ = 0, structure_ = 0, structures_ = 0;
    std::size_t size_ = 0, least_ = 0;
    bool is_broken_ = false;
};

}  // namespace silverpoint::probes
