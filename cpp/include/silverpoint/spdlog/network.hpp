// Sinks that send lines to another machine (silverpoint/spdlog.hpp). The logger's thread calls them. What
// cannot be sent is reported on standard error, and lost. A peer that neither answers nor reads holds that
// thread for two seconds at a time, and for a tenth of the time at most.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <utility>

// (With the rest of spdlog.hpp: this header may be the only one of a file.)
#include "../spdlog.hpp"

namespace spdlog {
namespace sinks {

namespace detail {

// A socket that is connected to a name or an address.
class connection {
  public:
    explicit connection(int type) : type_(type) {}
    ~connection() { close_now(); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // For the logger's thread, and for a program that makes a sink.
    static constexpr std::chrono::seconds kPatience{2}, kPatienceOfMaking{20};

    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    void open_to(const std::string& host, int port, std::chrono::seconds patience) {
        close_now();
        addrinfo hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = type_;
        hints.ai_flags = AI_NUMERICSERV;
        addrinfo* found = nullptr;
        const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
        if (error != 0) SP_DETAIL_THROW(spdlog_ex(host + ": " + gai_strerror(error)));
        int why = 0;
        for (const addrinfo* one = found; one != nullptr && fd_ < 0; one = one->ai_next) {
            fd_ = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
            // Of connecting, too.
            if (fd_ >= 0 && wait_at_most(patience) && connect(fd_, one->ai_addr, one->ai_addrlen) == 0) break;
            why = errno == EINPROGRESS ? ETIMEDOUT : errno;
            close_now();
        }
        freeaddrinfo(found);
        if (fd_ < 0)
            SP_DETAIL_THROW(spdlog_ex(host + ":" + std::to_string(port) + ": " + std::strerror(why)));
        wait_at_most(kPatience);
        const int yes = 1;
        if (type_ == SOCK_STREAM) setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    void send_all(const std::string& text) {
        const auto begin = std::chrono::steady_clock::now();
        bool is_again = false;
        for (std::size_t at = 0; at < text.size();) {
            const ssize_t sent = send(fd_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
            int why = sent >= 0 || errno == EINTR ? 0 : errno == EAGAIN ? ETIMEDOUT : errno;
            if (sent >= 0) at += static_cast<std::size_t>(sent);
            // Reports that there was no receiver for the previous datagram; this one was not sent.
            if (why == ECONNREFUSED && type_ == SOCK_DGRAM && !std::exchange(is_again, true)) continue;
            // A peer that reads a little from time to time.
            if (why == 0 && at < text.size() && std::chrono::steady_clock::now() - begin > kPatience)
                why = ETIMEDOUT;
            if (why == 0) continue;
            // A part of a line may have been sent.
            if (type_ == SOCK_STREAM) close_now();
            SP_DETAIL_THROW(spdlog_ex(std::string("a line could not be sent: ") + std::strerror(why)));
        }
    }

  private:
    bool wait_at_most(std::chrono::seconds patience) const {
        const timeval most{static_cast<std::time_t>(patience.count()), 0};
        return setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0;
    }
    void close_now() {
        if (fd_ >= 0) close(fd_);
        fd_ = -1;
    }
    int type_;
    int fd_ = -1;
};

}  // namespace detail

// Thread-safe: any thread may read it. Cost: a copy of the name.
struct tcp_sink_config {
    std::string server_host;
    int server_port;
    bool lazy_connect = false;  // with the first line, not when it is made
    tcp_sink_config(std::string host, int port) : server_host(std::move(host)), server_port(port) {}
};

// If the connection was lost, connects again with the next line. A failure is not retried for nine times as
// long as it took: lines meanwhile are counted, and reported together.
// Thread-safe: any thread, by its Mutex. Cost: the lock, and a system call; where the peer does not read, at
// most two seconds, and a tenth of the time. To make one: connects.
template <class Mutex>
class tcp_sink : public base_sink<Mutex> {
  public:
    explicit tcp_sink(tcp_sink_config config) : config_(std::move(config)) {
        if (!config_.lazy_connect)
            to_.open_to(config_.server_host, config_.server_port, detail::connection::kPatienceOfMaking);
    }

  protected:
    void sink_it_(const details::log_msg& msg) override {
        const auto begin = std::chrono::steady_clock::now();
        if (begin < next_) {
            ++lost_;
            return;
        }
        memory_buf_t line;
        this->formatter_->format(msg, line);
#if defined(__cpp_exceptions)
        try {
            send(line);
        } catch (...) {
            const auto end = std::chrono::steady_clock::now();
            next_ = end + 9 * (end - begin);
            throw;
        }
#else
        send(line);
#endif
    }
    void flush_() override {
        if (lost_ == 0) return;
        SP_DETAIL_THROW(spdlog_ex(std::to_string(std::exchange(lost_, 0)) + " lines could not be sent to " +
                                  config_.server_host + ":" + std::to_string(config_.server_port)));
    }

  private:
    void send(const memory_buf_t& line) {
        if (!to_.is_open())
            to_.open_to(config_.server_host, config_.server_port, detail::connection::kPatience);
        to_.send_all(line);
    }

    tcp_sink_config config_;
    std::chrono::steady_clock::time_point next_;
    std::size_t lost_ = 0;
    detail::connection to_{SOCK_STREAM};
};
using tcp_sink_mt = tcp_sink<std::mutex>;
using tcp_sink_st = tcp_sink_mt;

// Thread-safe: any thread may read it. Cost: a copy of the name.
struct udp_sink_config {
    std::string server_host;
    std::uint16_t server_port;
    udp_sink_config(std::string host, std::uint16_t port) : server_host(std::move(host)), server_port(port) {}
};

// A datagram a line.
// Thread-safe: any thread, by its Mutex. Cost: the lock, and a system call. To make one: looks the name up.
template <class Mutex>
class udp_sink : public base_sink<Mutex> {
  public:
    explicit udp_sink(const udp_sink_config& config) {
        to_.open_to(config.server_host, config.server_port, detail::connection::kPatienceOfMaking);
    }

  protected:
    void sink_it_(const details::log_msg& msg) override {
        memory_buf_t line;
        this->formatter_->format(msg, line);
        to_.send_all(line);
    }
    void flush_() override {}

  private:
    detail::connection to_{SOCK_DGRAM};
};
using udp_sink_mt = udp_sink<std::mutex>;
using udp_sink_st = udp_sink_mt;

}  // namespace sinks
}  // namespace spdlog
