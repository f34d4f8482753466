// Colours, where Gui is linked: 16 bits a channel, no matter how the colour was given; an invalid one is
// nothing.
//
// QtGui's headers are often found where the module is not linked: it must be asked for by its own macro.
#pragma once

#if defined(QT_GUI_LIB) && __has_include(<QColor>)

#    include <QColor>
#    include <array>
#    include <iterator>
#    include <string_view>

#    include "text.hpp"

SP_DETAIL_BEGIN

struct QtChannels {
    bool is_valid;
    QRgba64 channels;
};

struct OfColor {
    using Like = QtChannels;
    static QtChannels of(const QColor& color) { return {color.isValid(), color.rgba64()}; }
};

template <>
struct Codec<QtChannels> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("?<QColor|red:H,green:H,blue:H,alpha:H,>"); }
    static std::size_t size(const QtChannels& color) { return color.is_valid ? 9 : 1; }
    static char* put(char* out, const QtChannels& color) {
        out = put_bytes(out, color.is_valid);
        if (!color.is_valid) return out;
        for (const quint16 channel : all_of(color)) out = put_bytes(out, channel);
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const QtChannels& color) {
        if (!color.is_valid) return out.null(), true;
        constexpr std::string_view names[] = {"red", "green", "blue", "alpha"};
        out.begin_map();
        bool whole = true;
        for (std::size_t i = 0; i < std::size(names) && out.has_room(); ++i)
            whole = put_pair(out, names[i], all_of(color)[i]) && whole;
        out.end();
        return whole;
    }

  private:
    static std::array<quint16, 4> all_of(const QtChannels& color) {
        return {color.channels.red(), color.channels.green(), color.channels.blue(), color.channels.alpha()};
    }
};

template <>
struct Codec<QColor> : CodecAs<QColor, OfColor> {};

SP_DETAIL_END

#endif
