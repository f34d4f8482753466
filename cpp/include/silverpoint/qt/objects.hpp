// Objects, pointers to them, and gadgets.
//
// | type | recorded as |
// |---|---|
// | QObject*, and pointers to classes derived from it | nothing, or a record of class, name and address |
// | QPointer, QSharedPointer, QScopedPointer, std::unique_ptr and std::shared_ptr to such | the same |
// | other QSharedPointer and QScopedPointer | nothing, or what they point to; its address where it cannot be
// | | QWeakPointer | whether its object is still there | | types with Q_GADGET | their properties by name,
// each with its own type |
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
template <ObjectClass Class>
struct Capture<Class*> : CaptureAs<Class*, OfObject> {};
template <class Class>
struct Codec<QPointer<Class>> : CodecAs<QPointer<Class>, OfObject> {};
template <class Class>
struct Capture<QPointer<Class>> : CaptureAs<QPointer<Class>, OfObject> {};
template <ObjectClass Class>
inline constexpr bool kIsUnsteady<Class*> = true;
template <class Class>
inline constexpr bool kIsUnsteady<QPointer<Class>> = true;

template <ObjectClass Class, class Deleter>
struct Codec<std::unique_ptr<Class, Deleter>> : CodecAs<std::unique_ptr<Class, Deleter>, OfObject> {};
template <ObjectClass Class, class Deleter>
struct Capture<std::unique_ptr<Class, Deleter>> : CaptureAs<std::unique_ptr<Class, Deleter>, OfObject> {};
template <ObjectClass Class, class Deleter>
inline constexpr bool kIsUnsteady<std::unique_ptr<Class, Deleter>> = true;
template <ObjectClass Class>
struct Codec<std::shared_ptr<Class>> : CodecAs<std::shared_ptr<Class>, OfObject> {};
template <ObjectClass Class>
struct Capture<std::shared_ptr<Class>> : CaptureAs<std::shared_ptr<Class>, OfObject> {};
template <ObjectClass Class>
inline constexpr bool kIsUnsteady<std::shared_ptr<Class>> = true;

// The others of Qt's pointers, to a C.
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
    static std::size_t size(const OwnedRef<Class>& owned) {
        if (owned.to == nullptr) return 1;
        if constexpr (kHasValue) {
            return 1 + CodecOf<Class>::size(*owned.to);
        } else {
            return 9;
        }
    }
    static char* put(char* out, const OwnedRef<Class>& owned) {
        out = put_bytes(out, owned.to != nullptr);
        if (owned.to == nullptr) return out;
        if constexpr (kHasValue) {
            return CodecOf<Class>::put(out, *owned.to);
        } else {
            return Codec<const void*>::put(out, owned.to);
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
template <class Class>
    requires(!ObjectClass<Class> && !holds_unsteady<std::remove_cv_t<Class>>())
struct Capture<QSharedPointer<Class>> : CaptureAs<QSharedPointer<Class>, OfOwner<Class>> {};
template <class Class>
struct OwnedBy<QSharedPointer<Class>> : std::remove_cv<Class> {};
template <ObjectClass Class>
inline constexpr bool kIsUnsteady<QSharedPointer<Class>> = true;
template <ObjectClass Class, class Cleanup>
inline constexpr bool kIsUnsteady<QScopedPointer<Class, Cleanup>> = true;
template <ObjectClass Class>
struct Codec<QSharedPointer<Class>> : CodecAs<QSharedPointer<Class>, OfObject> {};
template <ObjectClass Class>
struct Capture<QSharedPointer<Class>> : CaptureAs<QSharedPointer<Class>, OfObject> {};
template <class Class, class Cleanup>
struct Codec<QScopedPointer<Class, Cleanup>> : CodecAs<QScopedPointer<Class, Cleanup>, OfOwner<Class>> {};
template <class Class, class Cleanup>
    requires(!ObjectClass<Class> && !holds_unsteady<std::remove_cv_t<Class>>())
struct Capture<QScopedPointer<Class, Cleanup>> : CaptureAs<QScopedPointer<Class, Cleanup>, OfOwner<Class>> {};
template <class Class, class Cleanup>
struct OwnedBy<QScopedPointer<Class, Cleanup>> : std::remove_cv<Class> {};
template <ObjectClass Class, class Cleanup>
struct Codec<QScopedPointer<Class, Cleanup>> : CodecAs<QScopedPointer<Class, Cleanup>, OfObject> {};
template <ObjectClass Class, class Cleanup>
struct Capture<QScopedPointer<Class, Cleanup>> : CaptureAs<QScopedPointer<Class, Cleanup>, OfObject> {};

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
template <GadgetLike T>
struct Capture<T> : ItemCapture<T> {};
template <GadgetLike T>
inline constexpr bool kIsUnsteady<T> = true;

SP_DETAIL_END
