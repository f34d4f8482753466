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

template <class C>
concept ObjectClass = std::is_convertible_v<C*, const QObject*>;

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

template <ObjectClass C>
struct Codec<C*> : CodecAs<C*, OfObject> {};
template <ObjectClass C>
struct Capture<C*> : CaptureAs<C*, OfObject> {};
template <class C>
struct Codec<QPointer<C>> : CodecAs<QPointer<C>, OfObject> {};
template <class C>
struct Capture<QPointer<C>> : CaptureAs<QPointer<C>, OfObject> {};
template <ObjectClass C>
inline constexpr bool kIsUnsteady<C*> = true;
template <class C>
inline constexpr bool kIsUnsteady<QPointer<C>> = true;

template <ObjectClass C, class Deleter>
struct Codec<std::unique_ptr<C, Deleter>> : CodecAs<std::unique_ptr<C, Deleter>, OfObject> {};
template <ObjectClass C, class Deleter>
struct Capture<std::unique_ptr<C, Deleter>> : CaptureAs<std::unique_ptr<C, Deleter>, OfObject> {};
template <ObjectClass C, class Deleter>
inline constexpr bool kIsUnsteady<std::unique_ptr<C, Deleter>> = true;
template <ObjectClass C>
struct Codec<std::shared_ptr<C>> : CodecAs<std::shared_ptr<C>, OfObject> {};
template <ObjectClass C>
struct Capture<std::shared_ptr<C>> : CaptureAs<std::shared_ptr<C>, OfObject> {};
template <ObjectClass C>
inline constexpr bool kIsUnsteady<std::shared_ptr<C>> = true;

// The others of Qt's pointers, to a C.
template <class C>
struct Codec<OwnedRef<C>> {
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
    static std::size_t size(const OwnedRef<C>& owned) {
        if (owned.to == nullptr) return 1;
        if constexpr (kHasValue) {
            return 1 + CodecOf<C>::size(*owned.to);
        } else {
            return 9;
        }
    }
    static char* put(char* out, const OwnedRef<C>& owned) {
        out = put_bytes(out, owned.to != nullptr);
        if (owned.to == nullptr) return out;
        if constexpr (kHasValue) {
            return CodecOf<C>::put(out, *owned.to);
        } else {
            return Codec<const void*>::put(out, owned.to);
        }
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const OwnedRef<C>& owned) {
        if (owned.to == nullptr) return out.null(), true;
        if constexpr (kHasValue) {
            return put_item<std::remove_cv_t<C>>(out, *owned.to);
        } else {
            return put_item(out, static_cast<const void*>(owned.to));
        }
    }
};

template <class C>
struct OfOwner {
    using Like = OwnedRef<C>;
    template <class T>
    static OwnedRef<C> of(const T& owner) {
        return {owner.data()};
    }
};

template <class C>
struct Codec<QSharedPointer<C>> : CodecAs<QSharedPointer<C>, OfOwner<C>> {};
template <class C>
    requires(!ObjectClass<C> && !holds_unsteady<std::remove_cv_t<C>>())
struct Capture<QSharedPointer<C>> : CaptureAs<QSharedPointer<C>, OfOwner<C>> {};
template <class C>
struct OwnedBy<QSharedPointer<C>> : std::remove_cv<C> {};
template <ObjectClass C>
inline constexpr bool kIsUnsteady<QSharedPointer<C>> = true;
template <ObjectClass C, class Cleanup>
inline constexpr bool kIsUnsteady<QScopedPointer<C, Cleanup>> = true;
template <ObjectClass C>
struct Codec<QSharedPointer<C>> : CodecAs<QSharedPointer<C>, OfObject> {};
template <ObjectClass C>
struct Capture<QSharedPointer<C>> : CaptureAs<QSharedPointer<C>, OfObject> {};
template <class C, class Cleanup>
struct Codec<QScopedPointer<C, Cleanup>> : CodecAs<QScopedPointer<C, Cleanup>, OfOwner<C>> {};
template <class C, class Cleanup>
    requires(!ObjectClass<C> && !holds_unsteady<std::remove_cv_t<C>>())
struct Capture<QScopedPointer<C, Cleanup>> : CaptureAs<QScopedPointer<C, Cleanup>, OfOwner<C>> {};
template <class C, class Cleanup>
struct OwnedBy<QScopedPointer<C, Cleanup>> : std::remove_cv<C> {};
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
template <GadgetLike T>
inline constexpr bool kIsUnsteady<T> = true;

SP_DETAIL_END
