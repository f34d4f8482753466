// CHECK_EQ and its like: the message has both operands.
#pragma once

#include <strings.h>

#include <sstream>
#include <utility>

#include "message.hpp"

namespace google {

// Text of a failed check, or null.
// Thread-safe: any thread may read it. Cost: a pointer.
struct CheckOpString {
    CheckOpString(std::string* text) : str_(text) {}
    operator bool() const { return __builtin_expect(str_ != nullptr, 0); }
    std::string* str_;
};

inline LogMessage::LogMessage(const char* file, int line, const CheckOpString& result)
    : LogMessage(file, line, GLOG_FATAL) {
    stream() << "Check failed: " << *result.str_ << " ";
}

// So that a static constant without a definition may be an operand.
// Thread-safe: any thread. Cost: none.
template <class T>
const T& GetReferenceableValue(const T& value) {
    return value;
}
#define SP_GLOG_BY_VALUE(type) \
    inline type GetReferenceableValue(type value) { return value; }
SP_GLOG_BY_VALUE(bool)
SP_GLOG_BY_VALUE(char)
SP_GLOG_BY_VALUE(signed char)
SP_GLOG_BY_VALUE(unsigned char)
SP_GLOG_BY_VALUE(short)
SP_GLOG_BY_VALUE(unsigned short)
SP_GLOG_BY_VALUE(int)
SP_GLOG_BY_VALUE(unsigned)
SP_GLOG_BY_VALUE(long)
SP_GLOG_BY_VALUE(unsigned long)
SP_GLOG_BY_VALUE(long long)
SP_GLOG_BY_VALUE(unsigned long long)
#undef SP_GLOG_BY_VALUE

// May be specialised for types that have no operator <<.
// Thread-safe: any thread. Cost: formats the value; only for a check that fails.
template <class T>
void MakeCheckOpValueString(std::ostream* out, const T& value) {
    *out << value;
}
namespace glog_internal_namespace_ {
template <class T>
void put_character(std::ostream& out, T value, const char* kind) {
    if (value >= 32 && value <= 126) {
        out << '\'' << value << '\'';
    } else {
        out << kind << " value " << static_cast<short>(value);
    }
}
}  // namespace glog_internal_namespace_
template <>
inline void MakeCheckOpValueString(std::ostream* out, const char& value) {
    glog_internal_namespace_::put_character(*out, value, "char");
}
template <>
inline void MakeCheckOpValueString(std::ostream* out, const signed char& value) {
    glog_internal_namespace_::put_character(*out, value, "signed char");
}
template <>
inline void MakeCheckOpValueString(std::ostream* out, const unsigned char& value) {
    glog_internal_namespace_::put_character(*out, value, "unsigned char");
}
template <>
inline void MakeCheckOpValueString(std::ostream* out, const std::nullptr_t&) {
    *out << "nullptr";
}

namespace base {

// "a == b (1 vs. 2)".
// Thread-safe: one thread at a time. Cost: a std::ostringstream, and a text that is never freed.
class CheckOpMessageBuilder {
  public:
    explicit CheckOpMessageBuilder(const char* expression) { out_ << expression << " ("; }
    std::ostream* ForVar1() { return &out_; }
    std::ostream* ForVar2() {
        out_ << " vs. ";
        return &out_;
    }
    // Never freed: the program ends.
    std::string* NewString() {
        out_ << ")";
        return new std::string(out_.str());
    }

  private:
    std::ostringstream out_;
};

}  // namespace base

// Thread-safe: any thread. Cost: that of a CheckOpMessageBuilder; only for a check that fails.
template <class T1, class T2>
[[gnu::noinline, gnu::cold]] std::string* MakeCheckOpString(const T1& v1, const T2& v2,
                                                            const char* expression) {
    base::CheckOpMessageBuilder builder(expression);
    MakeCheckOpValueString(builder.ForVar1(), v1);
    MakeCheckOpValueString(builder.ForVar2(), v2);
    return builder.NewString();
}

// The program chooses what is compared: no warnings about it from here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
// Null when the comparison holds. Two ints also for operands that are literals (0 as a null pointer …).
#define SP_GLOG_CHECK_OP(name, op)                                                                  \
    template <class T1, class T2>                                                                   \
    inline std::string* Check##name##Impl(const T1& v1, const T2& v2, const char* expression) {     \
        return __builtin_expect(!!(v1 op v2), 1) ? nullptr : MakeCheckOpString(v1, v2, expression); \
    }                                                                                               \
    inline std::string* Check##name##Impl(int v1, int v2, const char* expression) {                 \
        return __builtin_expect(v1 op v2, 1) ? nullptr : MakeCheckOpString(v1, v2, expression);     \
    }
SP_GLOG_CHECK_OP(_EQ, ==)
SP_GLOG_CHECK_OP(_NE, !=)
SP_GLOG_CHECK_OP(_LE, <=)
SP_GLOG_CHECK_OP(_LT, <)
SP_GLOG_CHECK_OP(_GE, >=)
SP_GLOG_CHECK_OP(_GT, >)
#undef SP_GLOG_CHECK_OP
#pragma GCC diagnostic pop

// Of C strings; two null pointers are equal.
#define SP_GLOG_CHECK_TEXT(function, expected, macro)                                                        \
    inline std::string* Check##function##expected##Impl(const char* s1, const char* s2, const char* names) { \
        const bool equal = s1 == s2 || (s1 != nullptr && s2 != nullptr && function(s1, s2) == 0);            \
        if (equal == expected) return nullptr;                                                               \
        return new std::string(std::string(macro) + " failed: " + names + " (" + (s1 == nullptr ? "" : s1) + \
                               " vs. " + (s2 == nullptr ? "" : s2) + ")");                                   \
    }
using std::strcmp;
SP_GLOG_CHECK_TEXT(strcmp, true, "CHECK_STREQ")
SP_GLOG_CHECK_TEXT(strcmp, false, "CHECK_STRNE")
SP_GLOG_CHECK_TEXT(strcasecmp, true, "CHECK_STRCASEEQ")
SP_GLOG_CHECK_TEXT(strcasecmp, false, "CHECK_STRCASENE")
#undef SP_GLOG_CHECK_TEXT

// Thread-safe: any thread. Cost: a comparison; null ends the program.
template <class T>
T CheckNotNull(const char* file, int line, const char* names, T&& value) {
    if (value == nullptr) LogMessageFatal(file, line, CheckOpString(new std::string(names)));
    return std::forward<T>(value);
}

}  // namespace google
