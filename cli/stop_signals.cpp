#include "cli/stop_signals.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace hipbench::cli {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> received_signal = 0;
std::atomic<int> received_event = -1;

void raise_event(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

// A handler rather than a blocked signal: libraries have threads of their own, which would take it.
void on_signal(int signal) {
  const int errno_before = errno;
  if (received_signal.exchange(signal) == 0) {
    raise_event(received_event);
  } else {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = errno_before;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> stop)
    : stop_(std::move(stop)), received_(::eventfd(0, EFD_CLOEXEC)), end_(::eventfd(0, EFD_CLOEXEC)) {
  received_signal = 0;
  received_event = received_.get();
  thread_ = std::thread([this] { wait(); });
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup
  }
}

StopSignals::~StopSignals() {
  for (const int signal : kSignals) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == on_signal) ::signal(signal, SIG_DFL);
  }
  raise_event(end_.get());
  thread_.join();
}

int StopSignals::received() const { return received_signal; }

void StopSignals::wait() {
  for (bool stopped = false;;) {
    pollfd polled[] = {{stopped ? -1 : received_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) continue;
    if (polled[1].revents != 0) return;
    if (polled[0].revents == 0) continue;
    stopped = true;
    stop_();
  }
}

}  // namespace hipbench::cli
