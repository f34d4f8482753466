// An object in a record: class, name and address, or nothing.
#pragma once

#include <QObject>
#include <string_view>

#include "containers.hpp"

SP_DETAIL_BEGIN

// What a record holds of an object, queried once.
struct ObjectPointer {
    const QObject* object = nullptr;
    std::string_view class_name = {};
    QString name = {};

    static ObjectPointer of(const QObject* object) {
        if (object == nullptr) return {};
        return {object, object->metaObject()->className(), object->objectName()};
    }
};

template <>
struct Codec<ObjectPointer> {
    using Class = Codec<TextRef<char>>;
    using Name = Codec<TextRef<char16_t>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("?<QObject|class:s,name:S,address:p,>"); }
    static std::size_t size(const ObjectPointer& pointer) {
        if (pointer.object == nullptr) return 1;
        return 9 + Class::size(class_of(pointer)) + Name::size(Utf16::of(pointer.name));
    }
    static char* put(char* out, const ObjectPointer& pointer) {
        out = put_bytes(out, pointer.object != nullptr);
        if (pointer.object == nullptr) return out;
        out = Class::put(out, class_of(pointer));
        out = Name::put(out, Utf16::of(pointer.name));
        return Codec<const void*>::put(out, pointer.object);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const ObjectPointer& pointer) {
        if (pointer.object == nullptr) return out.null(), true;
        out.begin_map();
        bool whole = put_pair(out, std::string_view("class"), pointer.class_name);
        whole = out.has_room() && put_pair(out, std::string_view("name"), pointer.name) && whole;
        whole = out.has_room() &&
                put_pair(out, std::string_view("address"), static_cast<const void*>(pointer.object)) && whole;
        out.end();
        return whole;
    }

  private:
    static TextRef<char> class_of(const ObjectPointer& pointer) {
        return {pointer.class_name.data(), pointer.class_name.size()};
    }
};

SP_DETAIL_END
