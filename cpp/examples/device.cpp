// A serial device in a thread of its own, which blocks in read(). A window draws sixty times a second, at any
// rate of readings: the newest reading crosses, the others do not.
//
//   device /dev/ttyUSB0        lines of "<number> <value>", until Ctrl-C
//   device                     plays the device itself, on a pseudo terminal: 20,000 readings
//
// In a program of Qt's the inbox is `silverpoint::qt_inbox::timed(16ms)` (silverpoint/signal/qt.hpp), which
// the event loop drains; all else stays as it is.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <silverpoint/signal.hpp>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace std::chrono_literals;

struct reading {
    unsigned number = 0;
    double value = 0;
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A port as devices mostly are: 115,200 baud, 8 bits, no parity, one stop bit, bytes as they come.
class serial_port {
  public:
    explicit serial_port(const char* path) : fd_(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        if (fd_ < 0) fail(path);
        termios settings;
        if (tcgetattr(fd_, &settings) != 0) fail("tcgetattr");
        cfmakeraw(&settings);
        cfsetispeed(&settings, B115200);
        cfsetospeed(&settings, B115200);
        settings.c_cflag |= CLOCAL | CREAD;
        // A read waits for a byte, at most two tenths of a second: often enough to see that the program ends.
        settings.c_cc[VMIN] = 0;
        settings.c_cc[VTIME] = 2;
        if (tcsetattr(fd_, TCSANOW, &settings) != 0) fail("tcsetattr");
    }
    ~serial_port() { close(fd_); }
    serial_port(const serial_port&) = delete;
    serial_port& operator=(const serial_port&) = delete;

    // Appends what comes; false when there is no device any more.
    bool read_to(std::string& text) const {
        char some[512];
        const ssize_t size = ::read(fd_, some, sizeof some);
        if (size > 0) text.append(some, static_cast<std::size_t>(size));
        return size >= 0 || errno == EINTR;
    }

  private:
    int fd_;
};

// The thread of the device. It waits for nobody but the device.
void poll_device(const serial_port& port, const std::atomic<bool>& ends,
                 const silverpoint::signal<reading>& measured) {
    std::string text;
    while (!ends.load() && port.read_to(text)) {
        std::size_t begin = 0;
        for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
            reading got;
            if (std::sscanf(text.c_str() + begin, "%u %lf", &got.number, &got.value) == 2) measured(got);
        }
        text.erase(0, begin);
    }
}

// Plays a device: the other side of a pseudo terminal.
class played_device {
  public:
    static constexpr unsigned all = 20'000;

    played_device() : fd_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0) fail("posix_openpt");
    }
    ~played_device() { close(fd_); }
    played_device(const played_device&) = delete;
    played_device& operator=(const played_device&) = delete;

    const char* path() const { return ptsname(fd_); }
    void play() const {
        for (unsigned number = 1; number <= all; ++number) {
            char line[64];
            const int size = std::snprintf(line, sizeof line, "%u %.2f\n", number, 20 + number % 100 * 0.01);
            for (int done = 0; done < size;) {
                const ssize_t written = write(fd_, line + done, static_cast<std::size_t>(size - done));
                if (written < 0 && errno != EINTR) return;
                if (written > 0) done += static_cast<int>(written);
            }
        }
    }

  private:
    int fd_;
};

std::atomic<bool> ends{false};

// The window: draws what is newest, at most every 16 ms, and sleeps while nothing comes.
void show(silverpoint::poll_inbox& window, const reading& shown, unsigned last) {
    while (!ends.load() && (last == 0 || shown.number < last)) window.wait_and_drain(100);
}

}  // namespace

int main(int count, char** texts) {
    struct sigaction action {};
    action.sa_handler = [](int) { ends.store(true); };
    sigaction(SIGINT, &action, nullptr);

    silverpoint::signal<reading> measured;
    silverpoint::poll_inbox window = silverpoint::poll_inbox::timed(16ms);
    reading shown;
    unsigned draws = 0;
    measured.connect_latest(window, [&](reading newest) {
        shown = newest;
        ++draws;
        std::printf("\r%8.2f °C", newest.value);
        std::fflush(stdout);
    });

    if (count > 1) {
        const serial_port port(texts[1]);
        std::thread polls([&] { poll_device(port, ends, measured); });
        show(window, shown, 0);
        polls.join();
        std::printf("\n");
        return 0;
    }
    const played_device device;
    const serial_port port(device.path());
    std::thread polls([&] { poll_device(port, ends, measured); });
    std::thread plays([&] { device.play(); });
    show(window, shown, played_device::all);
    plays.join();
    // The end: the thread of the device sees it when its read returns. The signal and the inbox outlive it.
    ends.store(true);
    polls.join();
    std::printf("\n%u readings, the last drawn is %u, %s\n", played_device::all, shown.number,
                draws < played_device::all / 10 ? "few were drawn" : "too many were drawn");
}
