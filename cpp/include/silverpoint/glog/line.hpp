// LOG(INFO) is a stream that packs values as they come, each as its type. When the statement ends they become
// a record, or text. Literals are noted by their address, and are part of the record's template.
//
// Where a std::ostream is needed it becomes one: values after that are text.
#pragma once

#include <ios>
#include <memory>
#include <type_traits>

#include "deliver.hpp"

namespace google {

enum PRIVATE_Counter { COUNTER };

namespace glog_internal_namespace_ SP_DETAIL_HIDDEN {

// --- Which values are packed with their own types.

template <class T>
constexpr char code_of() {
    using std::is_same_v;
    if constexpr (is_same_v<T, bool>) {
        return 'b';
    } else if constexpr (is_same_v<T, char> || is_same_v<T, signed char> || is_same_v<T, unsigned char>) {
        return 'c';
    } else if constexpr (is_same_v<T, short> || is_same_v<T, int> || is_same_v<T, long> ||
                         is_same_v<T, long long> || is_same_v<T, unsigned short> || is_same_v<T, unsigned> ||
                         is_same_v<T, unsigned long> || is_same_v<T, unsigned long long>) {
        constexpr char code = sizeof(T) == 2 ? 'h' : sizeof(T) == 4 ? 'i' : 'l';
        return std::is_signed_v<T> ? code : static_cast<char>(code - 32);
    } else if constexpr (is_same_v<T, float>) {
        return 'f';
    } else if constexpr (is_same_v<T, double> || is_same_v<T, long double>) {
        return 'd';
    } else if constexpr (std::is_pointer_v<T>) {
        using To = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (is_same_v<To, char> || is_same_v<To, signed char> || is_same_v<To, unsigned char>) {
            return 's';
        } else {
            return std::is_void_v<To> || code_of<To>() != 0 ? 'p' : 0;
        }
    } else if constexpr (is_same_v<T, std::string> || is_same_v<T, std::string_view>) {
        return 's';
    } else if constexpr (is_same_v<T, PRIVATE_Counter>) {
        return 'l';
    } else {
        return 0;  // as an ostream writes it
    }
}

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

// Everything of one message.
class Line {
  public:
    Line(Place* place, LogSeverity severity, const char* function)
        : place_(place), function_(function), severity_(static_cast<std::uint8_t>(severity)) {
        if (severity < __atomic_load_n(&FLAGS_minloglevel, __ATOMIC_RELAXED)) [[unlikely]]
            return;
        way_ = Way::kText;
        // The common case, if nothing else is requested.
        const unsigned look = look_now();
        if (state.how.load(std::memory_order_acquire) == (kInitialized | kAsync | look << kLookAt) &&
            severity < FLAGS_stderrthreshold && !FLAGS_logtostderr && !FLAGS_alsologtostderr &&
            !FLAGS_logtostdout && FLAGS_log_backtrace_at.empty() && is_on(place->site, function, kCategory) &&
            !sp::usdt_wants_statements()) [[likely]]
            way_ = Way::kRecord;
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    // (An exception of a program's sink propagates, as with glog.)
    SP_DETAIL_HOT ~Line() noexcept(false) {
        if (way_ != Way::kNone || scratch_ != nullptr || tail_ != nullptr) end();
    }

    // Itself, so that macros can go on with <<.
    SP_DETAIL_HOT Line& stream() { return *this; }
    SP_DETAIL_HOT Line& counted(std::int64_t count) {
        counter_ = count;
        return *this;
    }
    SP_DETAIL_HOT Line& verbose(int number) {
        verbosity_ = number;
        return *this;
    }

    template <std::size_t Length>
    SP_DETAIL_HOT Line& operator<<(const char (&text)[Length]) {
        if (way_ == Way::kNone) [[unlikely]]
            return *this;
        if (count_ >= kPiecesMost) [[unlikely]]
            return write_text(static_cast<const char*>(text));
        if (is_set_) [[unlikely]]
            take_look_of_literal();
        codes_[count_++] = kLiteral;
        literals_[literal_count_++] = text;
        return *this;
    }
    // What may have changed, or may be gone, when the statement ends.
    template <std::size_t Length>
    SP_DETAIL_HOT Line& operator<<(char (&text)[Length]) {
        return *this << static_cast<const char*>(text);
    }
    template <std::size_t Length>
    SP_DETAIL_HOT Line& operator<<(const char (&&text)[Length]) {
        return *this << static_cast<const char*>(text);
    }
    // By value: a static constant without a definition can be a piece, and so can a volatile variable.
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) && Streamable<T>
    SP_DETAIL_HOT Line& operator<<(T value) {
        return piece(value);
    }
    template <Streamable T>
        requires(!std::is_arithmetic_v<T> && !std::is_enum_v<T>)
    SP_DETAIL_HOT Line& operator<<(const T& value) {
        return piece(value);
    }
    Line& operator<<(std::ostream& (*manipulator)(std::ostream&)) { return set(manipulator); }
    Line& operator<<(std::ios& (*manipulator)(std::ios&)) { return set(manipulator); }
    Line& operator<<(std::ios_base& (*manipulator)(std::ios_base&)) { return set(manipulator); }
    // From here on text.
    operator std::ostream&() { return as_ostream(); }
    // Members of an ostream that programs call by name.
    std::ostream& write(const char* text, std::streamsize size) { return as_ostream().write(text, size); }
    std::ostream& put(char c) { return as_ostream().put(c); }
    std::ostream& flush() { return as_ostream().flush(); }
    std::streamsize precision() { return as_ostream().precision(); }
    std::streamsize precision(std::streamsize digits) { return as_ostream().precision(digits); }
    std::streamsize width() { return as_ostream().width(); }
    std::streamsize width(std::streamsize columns) { return as_ostream().width(columns); }
    char fill() { return as_ostream().fill(); }
    char fill(char c) { return as_ostream().fill(c); }
    std::ios_base::fmtflags flags() { return as_ostream().flags(); }
    std::ios_base::fmtflags flags(std::ios_base::fmtflags all) { return as_ostream().flags(all); }
    std::ios_base::fmtflags setf(std::ios_base::fmtflags some) { return as_ostream().setf(some); }
    std::ios_base::fmtflags setf(std::ios_base::fmtflags some, std::ios_base::fmtflags of) {
        return as_ostream().setf(some, of);
    }
    void unsetf(std::ios_base::fmtflags some) { as_ostream().unsetf(some); }
    bool good() { return as_ostream().good(); }
    bool bad() { return as_ostream().bad(); }
    bool fail() { return as_ostream().fail(); }
    std::streambuf* rdbuf() { return as_ostream().rdbuf(); }
    std::locale imbue(const std::locale& of) { return as_ostream().imbue(of); }

  private:
    enum class Way : std::uint8_t { kNone, kRecord, kText };

    template <class T>
    SP_DETAIL_HOT Line& piece(const T& value) {
        if (way_ == Way::kNone) [[unlikely]]
            return *this;
        if (count_ >= kPiecesMost) [[unlikely]]
            return write_text(value);
        if constexpr (is_manipulator<T>()) {
            manipulate(value);
        } else if constexpr (std::is_array_v<T>) {
            pack<std::decay_t<T>>(value);
        } else {
            pack<T>(value);
        }
        return *this;
    }

    // --- Packing.

    template <class T>
    SP_DETAIL_HOT void pack(const T& value) {
        constexpr char code = code_of<T>() != 0 ? code_of<T>() : 's';
        if (is_set_) [[unlikely]]
            take_look_of(value);
        if constexpr (code == 's') {
            pack_text(value);
        } else if constexpr (std::is_same_v<T, PRIVATE_Counter>) {
            put_piece(counter_);
        } else if constexpr (std::is_same_v<T, long double>) {
            put_piece(static_cast<double>(value));
        } else if constexpr (code == 'p') {
            const auto* address = const_cast<const void*>(static_cast<const volatile void*>(value));
            put_piece(std::uint64_t{reinterpret_cast<std::uintptr_t>(address)});
        } else {
            put_piece(value);
        }
        codes_[count_++] = code;
    }
    template <class T>
    SP_DETAIL_HOT void put_piece(const T& value) {
        if (room_ - size_ < sizeof value) [[unlikely]]
            grow(sizeof value);
        __builtin_memcpy(packed_ + size_, &value, sizeof value);
        size_ += static_cast<std::uint32_t>(sizeof value);
    }
    SP_DETAIL_HOT void put_bytes(const char* text, std::size_t size) {
        if (size > kLineMost) size = kLineMost;
        if (room_ - size_ < size + 4) [[unlikely]]
            grow(size + 4);
        const auto length = static_cast<std::uint32_t>(size);
        __builtin_memcpy(packed_ + size_, &length, 4);
        __builtin_memcpy(packed_ + size_ + 4, text, size);
        size_ += length + 4;
    }
    template <class T>
    SP_DETAIL_HOT void pack_text(const T& value) {
        if constexpr (std::is_pointer_v<T>) {
            const char* text = reinterpret_cast<const char*>(value);
            if (text == nullptr) [[unlikely]] {
                stop(count_);
                text = "";
            }
            put_bytes(text, __builtin_strlen(text));
        } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
            put_bytes(value.data(), value.size());
        } else {
            pack_written(value);
        }
    }
    // By its own operator <<.
    template <class T>
    SP_DETAIL_COLD void pack_written(const T& value) {
        Scratch& out = as_stream();
        out.width(width_);
        out.counter = counter_;
        out << value;
        put_bytes(out.text().data(), out.text().size());
        out.text().clear();
        if (!out.good()) stop(count_ + 1);
        // State that it leaves set applies to the rest.
        is_set_ = is_set_ || out.look() != Look{};
    }
    // With the state set so far.
    SP_DETAIL_COLD Scratch& as_stream(bool is_foreign = true) {
        if (scratch_ == nullptr) {
            scratch_ = take_scratch();
            if (is_set_) scratch_->set(manner_);
        }
        scratch_->is_foreign |= is_foreign;
        return *scratch_;
    }
    // Manipulators that write and set nothing.
    static bool is_foreign(std::ostream& (*manipulator)(std::ostream&)) {
        std::ostream& (*const own[])(std::ostream&) = {std::endl, std::ends, std::flush};
        return manipulator != own[0] && manipulator != own[1] && manipulator != own[2];
    }
    template <class Manipulator>
    static bool is_foreign(const Manipulator&) {
        return true;
    }
    // Like an ostream after a null pointer: nothing more is written.
    SP_DETAIL_COLD void stop(std::size_t piece) {
        if (piece < stop_) stop_ = static_cast<std::uint8_t>(piece);
        is_text_ = true;
    }
    SP_DETAIL_COLD void grow(std::size_t wanted) {
        const Inside guard;
        const std::size_t room = (room_ + wanted) * 2;
        char* larger = new char[room];
        std::memcpy(larger, packed_, size_);
        if (packed_ != own_) delete[] packed_;
        packed_ = larger;
        room_ = static_cast<std::uint32_t>(room);
    }

    // --- Manipulators.

    SP_DETAIL_COLD void set_look(const Look& look) {
        const std::size_t piece = count_;
        if (look == Look{}) return;
        std::construct_at(&looks_[piece], look);
        looked_ |= 1u << piece;
        std::uint64_t hash = look_hash_ ^ (piece + 1);
        const auto add = [&](std::uint64_t value) {
            hash = (hash ^ value) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
        };
        add(static_cast<unsigned char>(look.base) | static_cast<std::uint64_t>(look.real) << 8 |
            static_cast<std::uint64_t>(static_cast<unsigned char>(look.fill)) << 16 |
            static_cast<std::uint64_t>(look.align) << 24 |
            static_cast<std::uint64_t>(look.plus | look.has_base << 1 | look.has_point << 2 |
                                       look.upper << 3 | look.words << 4)
                << 32);
        add(look.width | static_cast<std::uint64_t>(static_cast<std::uint16_t>(look.precision)) << 16);
        look_hash_ = hash;
    }
    template <class T>
    SP_DETAIL_COLD void take_look_of(const T& value) {
        // A value that formats itself has its look in its text.
        if constexpr (code_of<T>() != 0) {
            const Look look = look_now_set();
            set_look(look);
            // A template cannot express this.
            if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
                if (look.base != 0 && value < 0) is_text_ = true;
        } else {
            width_ = scratch_ != nullptr ? scratch_->width() : manner_.width;
        }
        clear_width();
    }
    SP_DETAIL_COLD void take_look_of_literal() {
        set_look(look_now_set());
        clear_width();
    }
    Look look_now_set() const { return scratch_ != nullptr ? scratch_->look() : manner_.look(); }
    void clear_width() {
        if (scratch_ != nullptr) {
            scratch_->width(0);
        } else {
            manner_.width = 0;
        }
    }
    template <class Manipulator>
    SP_DETAIL_HOT void manipulate(const Manipulator& manipulator) {
        if (scratch_ == nullptr) [[likely]] {
            if (!is_set_) std::construct_at(&manner_);
            if (manner_.set(manipulator)) [[likely]] {
                // (What it sets is often the default.)
                is_set_ = manner_ != Manner{};
                codes_[count_++] = kManipulator;
                return;
            }
        }
        manipulate_stream(manipulator);
    }
    template <class Manipulator>
    SP_DETAIL_COLD void manipulate_stream(const Manipulator& manipulator) {
        as_stream(is_foreign(manipulator)) << manipulator;
        is_set_ = true;
        std::string& written = scratch_->text();
        if (!written.empty()) {
            Look look;
            look.base = written[0];
            set_look(look);
            if (written.size() > 1) is_text_ = true;
            written.clear();
        }
        codes_[count_++] = kManipulator;
    }
    template <class Manipulator>
    Line& set(Manipulator manipulator) {
        if (way_ == Way::kNone) return *this;
        if (count_ >= kPiecesMost) return write_text(manipulator);
        manipulate(manipulator);
        return *this;
    }

    // --- As an ostream.

    SP_DETAIL_COLD std::ostream& as_ostream() {
        if (tail_ == nullptr) {
            tail_ = take_scratch();
            tail_->is_foreign = true;
            if (scratch_ != nullptr) {
                tail_->copyfmt(*scratch_);
                tail_->pword(counter_slot()) = &tail_->counter;
            } else if (is_set_) {
                tail_->set(manner_);
            }
            tail_->counter = counter_;
            append_text(tail_->text(), pieces(), std::min<std::size_t>(count_, stop_));
            if (way_ == Way::kNone || stop_ != kNever) tail_->setstate(std::ios_base::badbit);
            // From now on values for << come here.
            count_ = kPiecesMost;
        }
        return *tail_;
    }
    template <class T>
    SP_DETAIL_COLD Line& write_text(const T& value) {
        as_ostream() << value;
        return *this;
    }

    // --- The end.

    Pieces pieces() const { return {codes_, count_, literals_, looks_, looked_, packed_, size_}; }

    [[gnu::noinline]] void end() {
        if (way_ == Way::kNone) return release();
        if (way_ == Way::kRecord && !is_text_ && tail_ == nullptr && size_ <= kTypedMost) [[likely]] {
            if (place_->has_verbosity) put_piece(verbosity_);
            const std::uint64_t head = place_->site.head.load(std::memory_order_acquire);
            if (!sp::is_no_head(head) &&
                is_as_completed(*place_, codes_, literals_, literal_count_, look_hash_)) [[likely]] {
                sp::record_captured(head, place_->site, sp::PackedBytes{packed_, size_});
                if (scratch_ != nullptr || packed_ != own_) [[unlikely]]
                    release();
                return;
            }
        } else if (way_ == Way::kText && place_->has_verbosity) {
            put_piece(verbosity_);
        }
        end_otherwise();
    }

    SP_DETAIL_COLD void end_otherwise() {
        if (inside > 0) return end_without_text();
        const Inside guard;
        const Pieces all = pieces();
        const auto is_typed_now = [&] {
            return !is_text_ && tail_ == nullptr && is_typed(*place_, all, literal_count_, look_hash_);
        };
        const auto record_typed = [&] {
            if (!place_->site.is_on(function_, kCategory) || !is_typed_now()) return false;
            record_unusual(*place_, all);
            return true;
        };
        // Before the record, which may have to wait for room.
        bool is_traced_as_text = false;
        const bool is_wanted = is_traced(place_->site, function_, kCategory);
        if ((place_->site.state_byte() & sp::kProbedBit) != 0) [[unlikely]] {
            if (!is_typed_now())
                is_traced_as_text = is_traced(place_->as_text, function_, kCategory);
            else if (is_wanted)
                trace_typed(*place_, all);
        }
        if (way_ == Way::kRecord && record_typed()) return release();
        const ScratchHolder scratch;
        std::string& text = tail_ != nullptr ? tail_->text() : scratch->text();
        if (tail_ == nullptr) append_text(text, all, std::min<std::size_t>(count_, stop_));
        if (is_traced_as_text) trace_text(place_->as_text, text);
        if (way_ == Way::kRecord && record_text(place_->as_text, kCategory, text, function_))
            return release();
        const Message message{severity_, place_->site.file, static_cast<int>(place_->site.line),
                              text,      time_now(),        {}};
        deliver(message, [&](std::string_view cut, For what) {
            const bool done = what == For::kConsole
                                  ? record_text(place_->console, kConsoleCategory, cut, function_)
                                  : (what == For::kFiles && record_typed()) ||
                                        record_text(place_->as_text, kCategory, cut, function_);
            return done ? Recorded::kYes : Recorded::kNo;
        });
        release();
    }

    // For a message made while another one allocates.
    SP_DETAIL_COLD void end_without_text() {
        FixedLine line;
        line.prefix(severity_, time_now(), place_->site.file, static_cast<int>(place_->site.line));
        line.pieces(pieces(), std::min<std::size_t>(count_, stop_));
        line.write();
        release();
    }

    SP_DETAIL_COLD void release() {
        const Inside guard;
        if (scratch_ != nullptr) give_back(std::exchange(scratch_, nullptr));
        if (tail_ != nullptr) give_back(std::exchange(tail_, nullptr));
        if (packed_ != own_) delete[] std::exchange(packed_, own_);
    }

    static constexpr std::uint8_t kNever = 0xFF;

    Place* const place_;
    const char* const function_;
    const std::uint8_t severity_;
    Way way_ = Way::kNone;
    bool is_text_ = false;        // cannot be a typed record
    bool is_set_ = false;         // the next value looks otherwise: as scratch_ says, else as manner_
    std::uint8_t stop_ = kNever;  // from this piece on nothing is written
    std::uint8_t count_ = 0;      // pieces
    std::uint8_t literal_count_ = 0;
    int verbosity_ = 0;
    std::uint32_t size_ = 0, room_ = sizeof own_;
    std::uint32_t looked_ = 0;
    std::uint64_t look_hash_ = 0;
    std::int64_t counter_ = 0;
    std::streamsize width_ = 0;
    Scratch* scratch_ = nullptr;  // present once a value needs an ostream, to write it or to know its state
    Scratch* tail_ = nullptr;     // once it is an ostream
    char* packed_ = own_;
    char codes_[kPiecesMost] = {};
    const char* literals_[kPiecesMost];  // written before they are read, as what follows
    union {
        Look looks_[kPiecesMost];  // not even set to what is plain
    };
    union {
        Manner manner_;
    };
    char own_[400];
};

}  // namespace glog_internal_namespace_

}  // namespace google
