#pragma once
// Evaluates many candidates at once: threads of their own take them from a bounded queue. What a batch does not do:
// read requests, store and print results; its owner does.
//
// Evaluations at once do not disturb each other's verdicts or times: each has a device of its own, whose time is
// emulated.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "evaluator/evaluate.hpp"

namespace hipbench {

struct BatchJob {
  std::string id;  // of one job at a time
  const Problem* problem = nullptr;
  std::string file, source;
  EvaluateOptions options;  // `stop` is the batch's to set, and `threads` if it is 0
};

struct BatchOptions {
  unsigned jobs = 1;    // evaluations at once
  size_t waiting = 64;  // jobs that may wait for their turn
};

class Batch {
 public:
  // Called once a job, in order of completion, from the batch's threads but one call at a time. An evaluation that was
  // cancelled says so. It must not call the batch.
  using Finished = std::function<void(const BatchJob& job, Evaluation evaluation)>;

  Batch(const BatchOptions& options, Finished finished);
  // As stop().
  ~Batch();
  Batch(const Batch&) = delete;

  // Waits while the queue is full. False: the batch is stopped, or a job of this id waits or runs.
  bool submit(BatchJob job);
  // A waiting or running job ends as cancelled. False: there is none of this id.
  bool cancel(const std::string& id);
  // Waits until everything that was submitted is finished.
  void drain();
  // Ends everything at once, without a call of Finished for what had not finished. Any thread may call it.
  void stop();

 private:
  void work();
  void finish(const BatchJob& job, Evaluation evaluation);

  const BatchOptions options_;
  const Finished finished_;
  std::mutex finishing_;  // held while Finished runs
  std::mutex mutex_;      // of all below
  std::condition_variable changed_;
  std::deque<BatchJob> queue_;
  std::map<std::string, std::stop_source> running_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

// How many evaluations at once suit this machine: one a core, but no more than memory for compilers allows. On a real
// device one: what the others do would show in its clocks.
unsigned default_jobs(DeviceKind device = DeviceKind::Emulated);

}  // namespace hipbench
