// Objects, pointers to them, and gadgets.
//
// | type | recorded as |
// |---|---|
// | QObject*, and pointers to classes derived from it | nothing, or a record of class, name and address |
// | QPointer, QSharedPointer, QScopedPointer, std::unique_ptr, std::shared_ptr to such | the same |
// | other QSharedPointer and QScopedPointer | nothing, or what they point to, or its address |
// | QWeakPointer | whether its object is still there |
// | types with Q_GADGET | their properties by name, each with its own type |
//
// Everything is read while the tracepoint runs: no record refers to an object.
#pragma once

#include <QMetaProperty>
#include <QObject>
#include <QPointer>
#include <QScopedPointer>
#include <QSharedPointer>
#include <memory>

#include "variant.hpp"

SP_DETAIL_BEGIN

template <class Class>
concept ObjectClass = std::is_convertible_v<Class*, const QObject*>;

struct OfObject {
    using Like = ObjectPointer;
    template <class T>
    static ObjectPointer of(const T& pointer) {
        if constexpr (std::is_pointer_v<T>) {
            return ObjectPointer::of(pointer);
        } else if constexpr (requires { pointer.get(); }) {
            return ObjectPointer::of(pointer.get());
        } else {
            return ObjectPointer::of(pointer.data());
        }
    }
};

template <ObjectClass Class>
struct Codec<Class*> : CodecAs<Class*, OfObject> {};
template <class Class>
struct Codec<QPointer<Class>> : CodecAs<QPointer<Class>, OfObject> {};

template <ObjectClass Class, class Deleter>
struct Codec<std::unique_ptr<Class, Deleter>> : CodecAs<std::unique_ptr<Class, Deleter>, OfObject> {};
template <ObjectClass Class>
struct Codec<std::shared_ptr<Class>> : CodecAs<std::shared_ptr<Class>, OfObject> {};

// Qt's other pointers: the object behind the pointer, read once.
template <class Class>
struct OwnedRef {
    const Class* to;
};
template <class Class>
struct Codec<OwnedRef<Class>> {
    static constexpr bool kHasValue = Recordable<Class>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('?');
        if constexpr (kHasValue) {
            CodecOf<Class>::sign(out);
        } else {
            out.add('p');
        }
    }
    static constexpr bool kIsSteady = !kHasValue || silverpoint::detail::kIsSteady<Class>;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const OwnedRef<Class>& owned) {
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, owned.to != nullptr);
        if (owned.to == nullptr) return out;
        if constexpr (kHasValue) {
            return Within<std::remove_cv_t<Class>>::template put<kAfter>(room, out, *owned.to);
        } else {
            return Within<const void*>::template put<kAfter>(room, out, owned.to);
        }
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const OwnedRef<Class>& owned) {
        if (owned.to == nullptr) return out.null(), true;
        if constexpr (kHasValue) {
            return put_item<std::remove_cv_t<Class>>(out, *owned.to);
        } else {
            return put_item(out, static_cast<const void*>(owned.to));
        }
    }
};

template <class Class>
struct OfOwner {
    using Like = OwnedRef<Class>;
    template <class T>
    static OwnedRef<Class> of(const T& owner) {
        return {owner.data()};
    }
};

template <class Class>
struct Codec<QSharedPointer<Class>> : CodecAs<QSharedPointer<Class>, OfOwner<Class>> {};
template <ObjectClass Class>
struct Codec<QSharedPointer<Class>> : CodecAs<QSharedPointer<Class>, OfObject> {};
template <class Class, class Cleanup>
struct Codec<QScopedPointer<Class, Cleanup>> : CodecAs<QScopedPointer<Class, Cleanup>, OfOwner<Class>> {};
template <ObjectClass Class, class Cleanup>
struct Codec<QScopedPointer<Class, Cleanup>> : CodecAs<QScopedPointer<Class, Cleanup>, OfObject> {};

struct OfWeak {
    using Like = bool;
    template <class T>
    static bool of(const T& weak) {
        return !weak.isNull();
    }
};
template <class Class>
struct Codec<QWeakPointer<Class>> : CodecAs<QWeakPointer<Class>, OfWeak> {};

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

SP_DETAIL_END
