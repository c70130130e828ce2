#pragma once
// Ctrl-C, SIGTERM and SIGHUP as a request to end in an orderly way. A second one ends the program at once; the kernel
// then ends what it had started.

#include <functional>
#include <thread>

#include "common/unique_fd.hpp"

namespace hipbench::cli {

// One at a time.
class StopSignals {
 public:
  // `stop` is called once, from a thread of its own.
  explicit StopSignals(std::function<void()> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;

  int received() const;                       // the signal's number, 0 = none
  int fd() const { return received_.get(); }  // becomes readable, and stays so, when a signal was received

 private:
  void wait();

  std::function<void()> stop_;
  UniqueFd received_, end_;
  std::thread thread_;
};

}  // namespace hipbench::cli
