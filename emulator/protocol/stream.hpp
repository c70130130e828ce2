#pragma once
// A connection's queue of stream operations and the thread that executes them in order.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "emulator/protocol/client.hpp"
#include "emulator/protocol/messages.hpp"

namespace hipbench::emulator {

class Connection;

class Stream {
 public:
  explicit Stream(Connection& connection) : connection_(connection) {}
  ~Stream() { stop(); }

  void start();
  // Drops what is queued, finishes what runs.
  void stop();
  // Drops what is queued, finishes what runs, and is as new then.
  void reset();

  // Waits while the queue is full. Returns false if the stream is stopping.
  bool push(wire::Message request);
  bool idle();

  struct Progress {
    u64 completed = 0;
    std::optional<OperationFailure> failure;
    std::string text;
  };
  // Waits until operation number `operation` is done, or wait_ms have passed. With `take`, a failure is reported once
  // it is done.
  Progress progress(u64 operation, u32 wait_ms, bool take);
  void clear_failure();
  void print(std::string_view text);
  std::optional<u64> timestamp(u32 slot);

 private:
  void run();
  void execute(const wire::Message& request);
  void refuse(std::string message, std::string kernel = {});
  void write(wire::Reader reader);
  void fill(wire::Reader reader);
  void copy(wire::Reader reader);
  void launch(wire::Reader reader);
  void read(wire::Reader reader);
  void log(OperationKind kind, u64 address, u64 source, u64 bytes);

  Connection& connection_;
  std::thread thread_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<wire::Message> queue_;
  u64 queued_bytes_ = 0;
  bool busy_ = false, stopping_ = false;
  u64 completed_ = 0;
  std::optional<OperationFailure> failure_;
  std::string printed_;
  std::vector<std::optional<u64>> timestamps_;
};

}  // namespace hipbench::emulator
