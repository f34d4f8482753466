// Messages of all severities, and everything that may stand behind <<.
// run: before GLOG_log_dir=.
// run: files GLOG_log_dir=.
// run: stderr GLOG_logtostderr=1
// run: everywhere GLOG_log_dir=. GLOG_alsologtostderr=1
// run: manipulators GLOG_log_dir=.
// run: manipulators GLOG_logtostderr=1
// run: types GLOG_log_dir=.
// run: types GLOG_logtostderr=1
// run: ostream GLOG_log_dir=.
// run: long GLOG_log_dir=.
// run: many GLOG_log_dir=.
// LogAtLevel is in a header, whose name the line has.
// skip: ostream as a function$
#include <glog/logging.h>

#include <bitset>
#include <chrono>
#include <complex>
#include <iomanip>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace shapes {
struct Point {
    int x, y;
};
std::ostream& operator<<(std::ostream& out, const Point& point) {
    return out << '(' << point.x << ", " << point.y << ')';
}
enum class Side { kLeft, kRight };
std::ostream& operator<<(std::ostream& out, Side side) {
    return out << (side == Side::kLeft ? "left" : "right");
}
enum Colour { kRed = 3, kBlue };
}  // namespace shapes

// For a type of the standard library's: found where the message stands, not where glog is.
std::ostream& operator<<(std::ostream& out, const std::vector<int>& values) {
    out << '[';
    for (const int value : values) out << value << ';';
    return out << ']';
}

template <class T>
struct Boxed {
    T value;
};
template <class T>
std::ostream& operator<<(std::ostream& out, const Boxed<T>& box) {
    return out << "box of " << box.value;
}

static void describe(std::ostream& out, int n) { out << "described " << n; }
static const char* shared_buffer(int n) {
    static char text[32];
    snprintf(text, sizeof text, "call %d", n);
    return text;
}

static int next(int& counter) { return ++counter; }

static void all_severities() {
    LOG(INFO) << "information";
    LOG(WARNING) << "a warning";
    LOG(ERROR) << "an error";
    LOG(INFO);
    LOG(INFO) << "";
    LOG(INFO) << "one" << '\n' << "two";
    LOG(INFO) << "ended\n";
    LOG(WARNING) << "ended twice\n\n";
    LOG(INFO) << "endl" << std::endl;
    LOG(INFO) << "flush" << std::flush << " and on" << std::endl << "more";
    LOG(INFO) << "tab\tbell\a escape\033[0m \xC3\xA4 \xFF {} {0} {{x}} %d %%";
}

// A manipulator of the program's own, and one with a field of its own in the stream.
static std::ios_base& shouting(std::ios_base& stream) {
    stream.setf(std::ios::boolalpha | std::ios::uppercase);
    return stream;
}
struct indent {
    explicit indent(long depth) : depth(depth) {}
    long depth;
    static long& of(std::ios_base& stream) {
        static const int place = std::ios_base::xalloc();
        return stream.iword(place);
    }
};
static std::ostream& operator<<(std::ostream& out, const indent& to) {
    indent::of(out) = to.depth;
    return out;
}
struct Indented {
    int value;
};
static std::ostream& operator<<(std::ostream& out, const Indented& of) {
    for (long i = 0; i < indent::of(out); ++i) out << '.';
    return out << of.value;
}
// Changes the stream for all that follows.
struct Loud {
    int value;
};
static std::ostream& operator<<(std::ostream& out, const Loud& of) {
    return out << std::hex << std::uppercase << std::setw(4) << of.value;
}

static void manipulators() {
    for (int i = 0; i < 3; ++i) {
        LOG(INFO) << std::hex << 255 << ' ' << -1 << ' ' << 255u << ' ' << std::dec << 255;
        LOG(INFO) << std::showbase << std::hex << 255 << std::oct << ' ' << 8 << ' ' << 0;
        LOG(INFO) << std::uppercase << std::hex << 48879 << std::showbase << ' ' << 48879;
        LOG(INFO) << std::setprecision(3) << 3.14159 << ' ' << std::fixed << 3.14159 << ' ' << std::scientific
                  << 31415.9;
        LOG(INFO) << std::setprecision(i + 1) << 2.718281828;
        LOG(INFO) << std::hexfloat << 1.5 << std::defaultfloat << ' ' << 1.5;
        LOG(INFO) << std::setw(8) << 42 << '|' << std::left << std::setw(8) << 42 << '|' << std::internal
                  << std::setw(8) << -42 << '|';
        LOG(INFO) << std::setfill('*') << std::setw(10) << "text" << std::setw(6) << 1.5 << std::setw(3)
                  << 'c';
        LOG(INFO) << std::setfill('0') << std::setw(6) << 42 << std::internal << std::setw(7) << -42;
        LOG(INFO) << std::boolalpha << true << ' ' << false << std::noboolalpha << ' ' << true;
        LOG(INFO) << std::showpos << 5 << ' ' << 5u << ' ' << 2.5 << std::noshowpos << 5;
        LOG(INFO) << std::showpoint << 5.0 << ' ' << std::noshowpoint << 5.0;
        LOG(INFO) << std::setw(12) << std::string("right") << std::setw(4) << std::string("longer");
        LOG(INFO) << std::setbase(16) << 64 << std::setbase(10) << ' ' << 64;
        LOG(INFO) << std::setiosflags(std::ios::hex | std::ios::showbase) << std::resetiosflags(std::ios::dec)
                  << 17;
        LOG(INFO) << "plain " << 3.14159265 << ' ' << 1e100 << ' ' << 1e-7 << ' ' << 100000.0 << ' '
                  << 1000000.0;
        LOG(INFO) << std::hex << shapes::Point{17, 18} << ' ' << 19;
        LOG(INFO) << (i % 2 == 0 ? std::hex : std::dec) << 200 << " alternating";
        LOG(INFO) << std::setprecision(6) << 2.718281828 << std::dec << ' ' << shapes::Point{1, 2}
                  << std::left;
        LOG(INFO) << std::hex << 255 << std::endl
                  << 255 << ' ' << std::setprecision(3) << 3.14159 << ' ' << shapes::Point{17, 18}
                  << std::setw(5) << std::uppercase << 171;
        LOG(INFO) << std::setfill('.') << std::setw(12) << shapes::Point{3, 4} << std::setw(6) << 5
                  << std::setiosflags(std::ios::left) << std::setw(6) << 6 << std::setbase(7) << 8 << '|';
        LOG(INFO) << std::setprecision(-1) << 3.14159 << std::setiosflags(std::ios::left | std::ios::right)
                  << std::setw(5) << 7 << std::setiosflags(std::ios::hex | std::ios::oct) << 255 << '|';
        LOG(INFO) << std::uppercase << std::showbase << std::hex << 171 << std::nouppercase << 171
                  << std::noshowbase << 171 << std::left << std::setw(5) << 1 << std::right << std::setw(5)
                  << 2 << std::unitbuf << std::nounitbuf << std::skipws << 3;
        LOG(INFO) << shouting << true << std::setprecision(2) << 3.14159 << Loud{1} << ' ' << 171 << true;
        LOG(INFO) << std::dec << indent(4) << Indented{1} << ' ' << Indented{2};
        LOG(INFO) << Indented{3} << indent(2) << Indented{4} << std::hex << Indented{255} << 255;
        LOG(INFO) << "none is left behind: " << Indented{5} << 171 << true;
        LOG(INFO) << 1 << 2 << 3 << 4 << 5 << 6 << 7 << 8 << 9 << 10 << 11 << 12 << 13 << 14 << 15 << 16 << 17
                  << 18 << 19 << 20 << std::setfill('*') << std::hex << std::setw(9) << 171 << std::setw(9)
                  << "x" << std::setw(9) << 172 << Indented{6};
        LOG(INFO) << std::setw(6) << true << std::setw(6) << (void*)nullptr << std::endl << std::endl;
    }
}

static void types() {
    for (int i = 0; i < 2; ++i) {
        LOG(INFO) << true << false << 'c' << static_cast<signed char>('s') << static_cast<unsigned char>('u');
        LOG(INFO) << static_cast<short>(-5) << ' ' << static_cast<unsigned short>(65535) << ' '
                  << -2147483647 - 1 << ' ' << 4294967295u << ' ' << INT64_MIN << ' ' << UINT64_MAX << ' '
                  << 1LL << ' ' << 2ULL;
        LOG(INFO) << 1.5f << ' ' << 0.1f << ' ' << 0.1 << ' ' << 2.5L << ' ' << 1.0 / 3 << ' ' << -0.0;
        LOG(INFO) << 1.0 / 0.0 << ' ' << -1.0 / 0.0 << ' ' << 1e300 * 1e300;
        char buffer[16] = "buffer";
        const char* text = "pointer";
        const std::string string = "string";
        LOG(INFO) << buffer << ' ' << text << ' ' << string << ' ' << std::string("temporary") << ' '
                  << std::string_view("view");
        LOG(INFO) << std::string("with\0zero", 9) << '.';
        LOG(INFO) << shared_buffer(1) << ' ' << shared_buffer(2);
        int counter = 0;
        LOG(INFO) << next(counter) << ' ' << next(counter) << ' ' << counter;
        const char* nothing = nullptr;
        LOG(INFO) << "before null " << nothing << "after null";
        LOG(INFO) << static_cast<void*>(nullptr) << ' ' << reinterpret_cast<void*>(0x1234) << ' '
                  << reinterpret_cast<const int*>(0x10) << ' ' << nullptr;
        LOG(INFO) << shapes::Point{1, 2} << ' ' << shapes::Side::kRight << ' ' << shapes::kBlue;
        LOG(INFO) << std::vector<int>{1, 2, 3} << " after";
        LOG(INFO) << "first " << std::vector<int>{4} << ' ' << 5 << std::hex << ' ' << 255;
        LOG(INFO) << Boxed<int>{3} << ' ' << Boxed<std::string>{"thing"};
        LOG(INFO) << std::bitset<8>(5) << ' ' << std::complex<double>(1, 2);
        LOG(INFO) << 1 << 2 << 3 << 4 << 5 << 6 << 7 << 8 << 9 << 10 << 11 << 12 << 13 << 14 << 15 << 16 << 17
                  << 18 << 19 << 20 << 21 << 22 << 23 << 24 << 25 << " and " << 26 << std::hex << 27
                  << shapes::Point{28, 29} << '.';
        const char constant[] = "constant array";
        LOG(INFO) << constant << " on the stack";
        LOG(INFO) << (i == 0 ? "one" : "two") << " of two";
        LOG(INFO) << std::vector<bool>{true, false}[0] << ' ' << &std::endl<char, std::char_traits<char>>;
    }
}

static void as_ostream() {
    describe(LOG(INFO), 1);
    describe(LOG(INFO) << "prefix ", 2);
    LOG(INFO) << "x", describe(LOG(WARNING), 3);
    const std::vector<int> values{1, 2, 3};
    std::copy(values.begin(), values.end(), std::ostream_iterator<int>(LOG(INFO) << "copied ", ","));
    google::LogMessage(__FILE__, __LINE__).stream() << "a message";
    google::LogMessage(__FILE__, __LINE__, google::GLOG_WARNING).stream() << "a warning " << std::hex << 255;
    google::LogMessage("other/place.cc", 77, google::GLOG_ERROR).stream() << "elsewhere";
    google::LogMessage("place.cc", google::LogMessage::kNoLogPrefix).stream() << "no prefix";
    {
        google::LogMessage held(__FILE__, __LINE__, google::GLOG_INFO);
        held.stream() << "held";
        held.stream() << " for long";
        held.Flush();
        held.stream() << " too late";
    }
    LOG_AT_LEVEL(google::GLOG_WARNING) << "level at run time";
    google::LogAtLevel(google::GLOG_INFO, "as a function");
    if (values.size() == 3)
        LOG(INFO) << "in an if";
    else
        LOG(INFO) << "in an else";
    for (const int value : values) LOG_IF(INFO, value != 2) << "value " << value;
    const bool quiet = false;
    quiet ? (void)0 : google::LogMessageVoidify() & LOG(INFO) << "voidified " << 1;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "before") {
        LOG(INFO) << "before";
        LOG(WARNING) << "still before";
    }
    google::InitGoogleLogging(argv[0]);
    if (what == "before" || what == "files" || what == "stderr" || what == "everywhere") all_severities();
    if (what == "manipulators") manipulators();
    if (what == "types") types();
    if (what == "ostream") as_ostream();
    if (what == "long") {
        for (const int size : {100, 1000, 10000, 29900, 29950, 29998, 30000, 50000})
            LOG(INFO) << std::string(size, 'x') << "end of " << size;
        LOG(WARNING) << "short again";
    }
    if (what == "many") {
        for (int i = 0; i < 20000; ++i) LOG(INFO) << "number " << i << " of " << 20000 << ": " << i * 0.5;
        LOG(WARNING) << "done";
    }
    if (what == "files") google::ShutdownGoogleLogging();
    if (what == "files") LOG(INFO) << "after the end";
}
