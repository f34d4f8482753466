// Values of <thread>: std::thread::id, recorded as the handle that it prints (pthread_t; with Microsoft's
// library the number of the thread).
//
//   SP_INFO("joins {}", worker.get_id());
//
// Every record knows its own thread, with the system's number; this is for naming another one.
#pragma once

#include <thread>

#include "silverpoint.hpp"

SP_DETAIL_BEGIN

template <>
struct Codec<std::thread::id> {
    static_assert((sizeof(std::thread::id) == 8 || sizeof(std::thread::id) == 4) &&
                  std::is_trivially_copyable_v<std::thread::id>);
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 8;
    static constexpr void sign(Signer& out) { out.add('p'); }
    static constexpr std::size_t size(const std::thread::id&) { return fixed; }
    static char* put(char* out, const std::thread::id& id) { return put_bytes(out, handle(id)); }
    template <class Writer>
    static bool put_cbor(Writer& out, const std::thread::id& id) {
        return put_item(out, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(handle(id))));
    }

  private:
    static std::uint64_t handle(const std::thread::id& id) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, &id, sizeof id);
        return bytes;
    }
};

SP_DETAIL_END
