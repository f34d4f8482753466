// Values of records as Qt has them, and the tree that they are beneath a row of the model (model.hpp).
#pragma once

#include <QtCore/QByteArray>
#include <QtCore/QDateTime>
#include <QtCore/QString>
#include <QtCore/QUuid>
#include <QtCore/QVariant>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model_reader.hpp"
#include "silverpoint/reader.hpp"

namespace silverpoint::qt::detail {

inline QString string_of(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

inline QVariant variant_of(const reading::value& value);

// For a map in which a key occurs twice: its pairs, each a list of key and value.
inline QVariantList pairs_of(const reading::value& map) {
    QVariantList pairs;
    for (const auto within : map.children())
        pairs.append(QVariant(QVariantList{string_of(within.name()), variant_of(within)}));
    return pairs;
}

// A value as Qt has it; containers with everything within.
inline QVariant variant_of(const reading::value& value) {
    const silverpoint_value& raw = value.raw();
    switch (value.kind()) {
        case reading::kind::null:
            return {};
        case reading::kind::boolean:
            return raw.number.u != 0;
        case reading::kind::integer:
        case reading::kind::duration:
        case reading::kind::enumeration:
            return static_cast<qlonglong>(raw.number.i);
        case reading::kind::natural:
        case reading::kind::pointer:
            return static_cast<qulonglong>(raw.number.u);
        case reading::kind::number:
            return raw.number.f;
        case reading::kind::bytes:
            return QByteArray(raw.bytes.data, static_cast<qsizetype>(raw.bytes.size));
        case reading::kind::uuid:
            return QUuid::fromRfc4122(QByteArray(raw.bytes.data, static_cast<qsizetype>(raw.bytes.size)));
        case reading::kind::time:
            return QDateTime::fromMSecsSinceEpoch(raw.number.i / 1'000'000, Qt::UTC);
        case reading::kind::list:
        case reading::kind::set:
        case reading::kind::tuple: {
            QVariantList list;
            for (const auto within : value.children()) list.append(variant_of(within));
            return list;
        }
        case reading::kind::map:
        case reading::kind::structure: {
            QVariantMap map;
            for (const auto within : value.children()) {
                const QString name = string_of(within.name());
                if (map.contains(name)) return pairs_of(value);
                map.insert(name, variant_of(within));
            }
            return map;
        }
        default:
            return string_of(value.text());
    }
}

// The values of one record, with the way back from each to what it is within. They are copied: the other
// records that were read with it need not stay.
struct shape {
    struct node {
        int parent = -1;  // none: it is an argument or a field
        int row = 0;      // among those beside it
        std::vector<int> children;
    };

    shape(const run& of, std::uint64_t number) {
        const auto record = of.records[static_cast<std::size_t>(number - of.first)];
        copy(record.raw().arguments, record.raw().argument_count);
        copy(record.raw().fields, record.raw().field_count);
        texts_.reserve(size_of_texts());  // it does not move any more
        for (silverpoint_value& value : values_)
            for (silverpoint_text* const text : texts_of(value)) keep(*text);
        add(values_.data(), record.raw().argument_count, -1);
        add(values_.data() + nodes.size(), record.raw().field_count, -1);
    }
    shape(const shape&) = delete;
    shape& operator=(const shape&) = delete;

    [[nodiscard]] reading::value value(int at) const noexcept {
        return reading::value(values_[static_cast<std::size_t>(at)]);
    }

    std::vector<node> nodes;
    std::vector<int> top;

  private:
    static std::array<silverpoint_text*, 5> texts_of(silverpoint_value& value) {
        return {&value.name, &value.text, &value.bytes, &value.type, &value.unit};
    }
    // Values beside one another, with all that is within them.
    void copy(const silverpoint_value* first, std::uint32_t count) {
        const silverpoint_value* end = first;
        for (; count > 0; --count) end += end->size;
        values_.insert(values_.end(), first, end);
    }
    std::size_t size_of_texts() {
        std::size_t size = 0;
        for (silverpoint_value& value : values_)
            for (const silverpoint_text* const text : texts_of(value)) size += text->size;
        return size;
    }
    void keep(silverpoint_text& text) {
        const std::size_t at = texts_.size();
        if (text.size > 0) texts_.append(text.data, text.size);
        text.data = texts_.data() + at;
    }
    void add(const silverpoint_value* value, std::uint32_t count, int parent) {
        for (; count > 0; --count, value += value->size) {
            const int at = static_cast<int>(nodes.size());
            auto& beside = parent < 0 ? top : nodes[static_cast<std::size_t>(parent)].children;
            const int row = static_cast<int>(beside.size());
            beside.push_back(at);
            nodes.push_back({parent, row, {}});
            add(value + 1, value->children, at);
        }
    }

    std::vector<silverpoint_value> values_;
    std::string texts_;
};

}  // namespace silverpoint::qt::detail
