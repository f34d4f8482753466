// The text of an event: its template with the values in it, then `, NAME=VALUE` for each other value.
//
// Numbers are as in JSON, texts as they are: what a placeholder asks for (`:.2f`) is left to readers of
// records.
#pragma once

#include "../probes/json.hpp"

namespace silverpoint::trace_marker {

using namespace probes;

class Values {
  public:
    static constexpr unsigned kMost = 32;

    Values(std::string_view signature, std::string_view names, Input in) : names_(names) {
        for (Signature of(signature); !of.is_at_end() && count_ < kMost; ++count_) {
            begin_[count_] = all_.size();
            put(of, in);
        }
        begin_[count_] = all_.size();
    }
    std::string_view value(unsigned number) const {
        if (number >= count_ || !all_.is_whole()) return {};
        return {all_.bytes() + begin_[number], begin_[number + 1] - begin_[number]};
    }
    // Puts the values into a template; those it has no place for are added.
    void put_into(Output& out, std::string_view text, bool is_percent) {
        std::uint32_t used = 0;
        unsigned next = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            const bool is_doubled = i + 1 < text.size() && text[i + 1] == c;
            if (is_percent ? c != '%' : c != '{' && c != '}') {
                out.put(c);
            } else if (is_doubled || (!is_percent && c == '}')) {
                out.put(c);
                i += is_doubled ? 1 : 0;
            } else if (is_percent) {
                const std::size_t from = i + 1;
                i = text.find_first_of("diouxXcspaAeEfFgG", from);
                if (i == text.npos) break;
                // A width or precision that is an argument is passed over.
                for (const char amount : part(text, from, i - from))
                    if (amount == '*' && next < kMost) used |= std::uint32_t{1} << next++;
                take(out, next++, used);
            } else {
                unsigned number = 0;
                bool has_number = false;
                for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
                    number = number < kMost ? number * 10 + static_cast<unsigned>(text[i] - '0') : kMost;
                    has_number = true;
                }
                i = text.find('}', i);
                if (i == text.npos) break;
                take(out, has_number ? number : next++, used);
            }
        }
        put_others(out, used);
    }
    void put_others(Output& out, std::uint32_t used) {
        std::string_view names = names_;
        for (unsigned number = 0; number < count_; ++number) {
            const std::size_t end = names.find('\n');
            const std::string_view name = part(names, 0, end);
            names = end == names.npos ? std::string_view() : part(names, end + 1);
            if ((used >> number & 1) != 0 || value(number).empty()) continue;
            if (out.size() != 0) out.add(", ");
            out.add(name);
            if (!name.empty()) out.put('=');
            out.add(value(number));
        }
    }

  private:
    void take(Output& out, unsigned number, std::uint32_t& used) {
        if (number >= kMost) return;
        used |= std::uint32_t{1} << number;
        out.add(value(number));
    }
    void put(Signature& of, Input& in) {
        Signature ahead = of;
        ahead.skip_metadata();
        const char code = ahead.peek();
        switch (code) {
            case 'n':
                return of.skip();
            case 's': {
                of.skip();
                const std::uint32_t count = in.length(1);
                return all_.add({reinterpret_cast<const char*>(in.take(count)), count});
            }
            case 'S':
            case 'Z':
            case 'c':
            case 'w':
            case 'W':
                of.skip();
                return put_text(all_, code, in);
            default:
                return put_json(all_, of, in);
        }
    }

    Output all_;
    std::size_t begin_[kMost + 1] = {};
    unsigned count_ = 0;
    std::string_view names_;
};

}  // namespace silverpoint::trace_marker
