// Objects, pointers to them, and gadgets.
//
// | type | recorded as |
// |---|---|
// | QObject*, and pointers to classes derived from it | nothing, or a record of class, name and address |
// | QPointer, QSharedPointer and QScopedPointer to such | the same |
// | other QSharedPointer and QScopedPointer | nothing, or what they point to; its address where that cannot
// be recorded | | QWeakPointer | whether its object is still there | | types with Q_GADGET | their properties
// by name, each with its own type |
//
// Everything is read while the tracepoint runs: no record refers to an object.
#pragma once

#include <QMetaProperty>
#include <QObject>
#include <QPointer>
#include <QScopedPointer>
#include <QSharedPointer>

#include "variant.hpp"

SP_DETAIL_BEGIN

struct ObjectPointer {
    const QObject* object;
};

template <>
struct Codec<ObjectPointer> {
    using Name = Codec<const char*>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("?<QObject|class:s,name:S,address:p,>"); }
    static std::size_t size(const ObjectPointer& pointer) {
        if (pointer.object == nullptr) return 1;
        return 9 + Name::size(pointer.object->metaObject()->className()) +
               Codec<QString>::size(pointer.object->objectName());
    }
    static char* put(char* out, const ObjectPointer& pointer) {
        out = put_bytes(out, pointer.object != nullptr);
        if (pointer.object == nullptr) return out;
        out = Name::put(out, pointer.object->metaObject()->className());
        out = Codec<QString>::put(out, pointer.object->objectName());
        return Codec<const void*>::put(out, pointer.object);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const ObjectPointer& pointer) {
        if (pointer.object == nullptr) return out.null(), true;
        out.begin_map();
        const bool whole = put_item(out, std::string_view("class")) &&
                           put_item(out, pointer.object->metaObject()->className()) &&
                           put_item(out, std::string_view("name")) &&
                           put_item(out, pointer.object->objectName()) &&
                           put_item(out, std::string_view("address")) &&
                           put_item(out, static_cast<const void*>(pointer.object));
        out.end();
        return whole;
    }
};
template <>
struct Passed<ObjectPointer> {
    using type = ObjectPointer;
};

template <class C>
concept ObjectClass = std::is_convertible_v<C*, const QObject*>;

struct OfObject {
    using Like = ObjectPointer;
    template <class T>
    static ObjectPointer of(const T& pointer) {
        if constexpr (std::is_pointer_v<T>) {
            return {pointer};
        } else {
            return {pointer.data()};
        }
    }
};

template <ObjectClass C>
struct Codec<C*> : CodecAs<C*, OfObject> {};
template <ObjectClass C>
struct Capture<C*> : CaptureAs<C*, OfObject> {};
template <class C>
struct Codec<QPointer<C>> : CodecAs<QPointer<C>, OfObject> {};
template <class C>
struct Capture<QPointer<C>> : CaptureAs<QPointer<C>, OfObject> {};

// The others of Qt's pointers, to a C.
template <class T, class C>
struct QtOwnerCodec {
    static constexpr bool kHasValue = Recordable<C>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('?');
        if constexpr (kHasValue) {
            CodecOf<C>::sign(out);
        } else {
            out.add('p');
        }
    }
    static std::size_t size(const T& owner) {
        if (owner.isNull()) return 1;
        if constexpr (kHasValue) {
            return 1 + CodecOf<C>::size(*owner);
        } else {
            return 9;
        }
    }
    static char* put(char* out, const T& owner) {
        out = put_bytes(out, !owner.isNull());
        if (owner.isNull()) return out;
        if constexpr (kHasValue) {
            return CodecOf<C>::put(out, *owner);
        } else {
            return Codec<const void*>::put(out, owner.data());
        }
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& owner) {
        if (owner.isNull()) return out.null(), true;
        if constexpr (kHasValue) {
            return put_item<std::remove_cv_t<C>>(out, *owner);
        } else {
            return put_item(out, static_cast<const void*>(owner.data()));
        }
    }
};

template <class C>
struct Codec<QSharedPointer<C>> : QtOwnerCodec<QSharedPointer<C>, C> {};
template <ObjectClass C>
struct Codec<QSharedPointer<C>> : CodecAs<QSharedPointer<C>, OfObject> {};
template <ObjectClass C>
struct Capture<QSharedPointer<C>> : CaptureAs<QSharedPointer<C>, OfObject> {};
template <class C, class Cleanup>
struct Codec<QScopedPointer<C, Cleanup>> : QtOwnerCodec<QScopedPointer<C, Cleanup>, C> {};
template <ObjectClass C, class Cleanup>
struct Codec<QScopedPointer<C, Cleanup>> : CodecAs<QScopedPointer<C, Cleanup>, OfObject> {};
template <ObjectClass C, class Cleanup>
struct Capture<QScopedPointer<C, Cleanup>> : CaptureAs<QScopedPointer<C, Cleanup>, OfObject> {};

struct OfWeak {
    using Like = bool;
    template <class T>
    static bool of(const T& weak) {
        return !weak.isNull();
    }
};
template <class C>
struct Codec<QWeakPointer<C>> : CodecAs<QWeakPointer<C>, OfWeak> {};

// --- Gadgets

template <class T>
concept GadgetLike =
    std::is_class_v<T> && (QtPrivate::IsGadgetHelper<T>::IsRealGadget != 0) && !Described<T> && !RangeLike<T>;

template <GadgetLike T>
struct Codec<T> : ItemCodec<T> {
    template <class Writer>
    static bool put_cbor(Writer& out, const T& gadget) {
        return put_gadget(out, &T::staticMetaObject, &gadget);
    }
};
template <GadgetLike T>
struct Capture<T> : ItemCapture<T> {};

SP_DETAIL_END
