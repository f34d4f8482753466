// What is captured of an argument before its record is made. Address and number of texts and numbers are
// queried once, texts that must be made are made once, everything else is referred to.
#pragma once

#include "values.hpp"

SP_DETAIL_BEGIN

template <class T>
struct Capture {
    using type = const T&;
    SP_DETAIL_HOT static const T& of(const T& value) { return value; }
};
template <class T>
    requires std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>>
struct Capture<T> {
    using Char = std::remove_cv_t<std::remove_pointer_t<T>>;
    using type = TextRef<Char>;
    SP_DETAIL_HOT static TextRef<Char> of(const T& text) { return measure<Char>(text); }
};
template <TextLike T>
struct Capture<T> {
    using Char = std::remove_cvref_t<decltype(*std::declval<const T&>().data())>;
    using type = TextRef<Char>;
    SP_DETAIL_HOT static TextRef<Char> of(const T& text) { return {text.data(), text.size()}; }
};
template <class T, std::size_t Length>
    requires Character<std::remove_cv_t<T>>
struct Capture<T[Length]> {
    using Char = std::remove_cv_t<T>;
    using type = TextRef<Char>;
    SP_DETAIL_HOT static TextRef<Char> of(const T (&text)[Length]) {
        return Codec<T[Length]>::measure_array(text);
    }
};
// Numbers that lie one after the other.
template <ArrayOfNumbers T>
struct Capture<T> {
    using Element = typename ElementOf<T>::type;
    using type = ArrayRef<Element>;
    SP_DETAIL_HOT static type of(const T& range) { return {range.data(), count_of(range)}; }
};
// Types whose codec states how they are recorded.
template <class T>
    requires requires { typename Codec<T>::Taken; }
struct Capture<T> {
    using type = typename Codec<T>::Taken;
    SP_DETAIL_HOT static type of(const T& value) { return Codec<T>::take(value); }
};

template <class T>
using CapturedAs = std::remove_cvref_t<typename Capture<T>::type>;

// Types that may be cut before they are recorded; CutBefore::is_cut says so of a value.
template <class T>
struct CutBefore {
    static constexpr bool kMayBe = false;
    static constexpr bool is_cut(const T&) { return false; }
};

// How an argument reaches a function that is not inlined. Numbers are passed by value: a variable whose
// address is passed on is kept in memory from then on, on the hot path too.
template <class T>
struct Passed {
    using type = std::conditional_t<std::is_scalar_v<T>, T, const T&>;
};
template <class Char>
struct Passed<TextRef<Char>> {
    using type = TextRef<Char>;
};
template <class T>
struct Passed<ArrayRef<T>> {
    using type = ArrayRef<T>;
};

SP_DETAIL_END
