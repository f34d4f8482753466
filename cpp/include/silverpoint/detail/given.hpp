// How arguments reach a record: by value or by reference, and the arguments of a macro as one object.
#pragma once

#include "capture.hpp"

SP_DETAIL_BEGIN

// The arguments of a macro, combined by its commas. Numbers are taken by value: so a static constant without
// a definition can be one, and a volatile variable is read once.
template <class T>
concept Small = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class... Ts>
struct Types {
    template <class T>
    using With = Types<Ts..., T>;
    template <template <class...> class Of>
    using Text = Of<Ts...>;
};

template <class Before, class T>
struct Given;

struct SP_DETAIL_VISIBLE NothingGiven {
    using All = Types<>;
    template <class T>
        requires(Small<T>)
    SP_DETAIL_HOT Given<NothingGiven, T> operator,(T value) const;
    template <class T>
        requires(!Small<T>)
    SP_DETAIL_HOT Given<NothingGiven, std::remove_volatile_t<T>> operator,(const T& value) const;
};

template <class Before, class T>
struct SP_DETAIL_VISIBLE Given {
    using All = typename Before::All::template With<T>;
    template <template <class...> class Of>
    using Text = typename All::template Text<Of>;
    Before before;
    typename Passed<T>::type value;

    template <class Next>
        requires(Small<Next>)
    SP_DETAIL_HOT Given<Given, Next> operator,(Next next) const {
        return {*this, next};
    }
    template <class Next>
        requires(!Small<Next>)
    SP_DETAIL_HOT Given<Given, std::remove_volatile_t<Next>> operator,(const Next& next) const {
        return {*this, next};
    }
};

template <class T>
    requires(Small<T>)
SP_DETAIL_HOT Given<NothingGiven, T> NothingGiven::operator,(T value) const {
    return {*this, value};
}
template <class T>
    requires(!Small<T>)
SP_DETAIL_HOT Given<NothingGiven, std::remove_volatile_t<T>> NothingGiven::operator,(const T& value) const {
    return {*this, value};
}

// All arguments of a macro, which may be a pack (`values...`) and may have commas of their own. With up to
// three, numbers are parameters by value: so a constant without a definition needs no address.
template <class T>
concept Large = !Small<T>;

SP_DETAIL_HOT auto give(Small auto a) { return (NothingGiven{}, a); }
SP_DETAIL_HOT auto give(const Large auto& a) { return (NothingGiven{}, a); }
SP_DETAIL_HOT auto give(Small auto a, Small auto b) { return (NothingGiven{}, a, b); }
SP_DETAIL_HOT auto give(Small auto a, const Large auto& b) { return (NothingGiven{}, a, b); }
SP_DETAIL_HOT auto give(const Large auto& a, Small auto b) { return (NothingGiven{}, a, b); }
SP_DETAIL_HOT auto give(const Large auto& a, const Large auto& b) { return (NothingGiven{}, a, b); }
SP_DETAIL_HOT auto give(Small auto a, Small auto b, Small auto c) { return (NothingGiven{}, a, b, c); }
template <class... Ts>
    requires(sizeof...(Ts) == 0 || sizeof...(Ts) > 3 ||
             (sizeof...(Ts) == 3 && !(Small<std::remove_cvref_t<Ts>> && ...)))
SP_DETAIL_HOT auto give(const Ts&... all) {
    return (NothingGiven{}, ..., all);
}

// Calls visit with all arguments, in order.
template <class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_given(const NothingGiven&, Visit&& visit, const Later&... later) {
    return visit(later...);
}
template <class Before, class T, class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_given(const Given<Before, T>& given, Visit&& visit, const Later&... later) {
    return with_given(given.before, visit, given.value, later...);
}

SP_DETAIL_END

// All arguments of a macro as one object; and what follows the text, which is an argument of its own.
#define SP_DETAIL_GIVEN(...) ::silverpoint::detail::give(__VA_ARGS__)
#define SP_DETAIL_TEXT_GIVEN(text, ...) text __VA_OPT__(, SP_DETAIL_GIVEN(__VA_ARGS__))
