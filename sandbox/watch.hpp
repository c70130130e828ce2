#pragma once
// Our side of one running sandbox: a thread that starts it, listens to its streams, to its init and to the seccomp
// filter, and ends it when a limit is passed. The thread lives as long as the sandbox, because the kernel ties the
// sandbox's life to the thread that started it.

#include <sys/types.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "common/unique_fd.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/init/wire.hpp"
#include "sandbox/outcome.hpp"
#include "sandbox/policy.hpp"
#include "sandbox/prepare.hpp"

namespace hipbench::sandbox {

class Watch {
 public:
  explicit Watch(const Policy& policy);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // True once the program has been started; false when that failed, and then wait() says why.
  bool wait_until_started() { return started_future_.get(); }
  Outcome wait();
  void kill();
  pid_t init_pid() const { return init_pid_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch();   // the thread
  void set_up();  // prepare and spawn
  void poll_once();
  void on_info();
  void on_message();
  void on_started(int listener);
  void on_report(const wire::Report& report);
  void on_forbidden_call();
  void read_stream(UniqueFd& pipe, std::string& text);
  void on_ended();
  void finish_without_report();
  void collect_output_files();
  void set_up_failed(const std::string& reason);
  void stop(Status status, std::string reason, Evidence evidence = {});
  void end_group();
  int milliseconds_left() const;

  Policy policy_;
  Preparation made_;
  std::optional<JobCgroup> cgroup_;
  UniqueFd kill_event_;
  UniqueFd process_;   // bubblewrap, or init without isolation
  UniqueFd init_;      // init
  UniqueFd listener_;  // of the seccomp filter
  pid_t process_pid_ = 0;
  pid_t init_pid_ = 0;
  std::string info_;
  bool program_executed_ = false;
  bool started_ = false;
  bool reported_ = false;  // init's last word has come
  bool ended_ = false;
  Clock::time_point deadline_;
  Clock::time_point start_;
  std::optional<Outcome> stopped_;  // why we ended it, or what init reported
  Outcome outcome_;
  std::promise<bool> started_promise_;
  std::future<bool> started_future_;
  std::thread thread_;
};

}  // namespace hipbench::sandbox
