#include "evaluator/batch.hpp"

#include <unistd.h>

#include <algorithm>

#include "common/files.hpp"

namespace hipbench {

namespace {

// What a large compile was seen to take (1.3 GB), and room for the device beside it.
constexpr uint64_t kMemoryPerJob = uint64_t{2} << 30;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// A job that was cancelled before its turn.
Evaluation never_started(const BatchJob& job) {
  Evaluation evaluation;
  evaluation.problem = job.problem->id();
  evaluation.track = job.options.track.value_or(detect_track(job.source));
  evaluation.device = job.options.device;
  evaluation.file = job.file;
  evaluation.source = job.source;
  evaluation.source_sha256 = sha256_hex(job.source);
  evaluation.shape_set = job.options.shape_set;
  evaluation.cancelled = true;
  evaluation.verdict = {VerdictKind::Infrastructure, "cancelled", {}};
  return evaluation;
}

}  // namespace

unsigned default_jobs(DeviceKind device) {
  if (device == DeviceKind::Hip) return 1;
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  const auto fit = std::max<uint64_t>(1, pages * page / kMemoryPerJob);
  return static_cast<unsigned>(std::min<uint64_t>(cores(), fit));
}

Batch::Batch(const BatchOptions& options, Finished finished) : options_(options), finished_(std::move(finished)) {
  for (unsigned k = 0; k < std::max(1u, options_.jobs); ++k) threads_.emplace_back([this] { work(); });
}

Batch::~Batch() {
  stop();
  threads_.clear();
}

bool Batch::submit(BatchJob job) {
  if (job.options.threads == 0) job.options.threads = std::max(1u, cores() / std::max(1u, options_.jobs));
  std::unique_lock lock(mutex_);
  const auto is_known = [&] {
    return running_.contains(job.id) ||
           std::any_of(queue_.begin(), queue_.end(), [&](const BatchJob& other) { return other.id == job.id; });
  };
  changed_.wait(lock, [&] { return stopped_ || queue_.size() < std::max<size_t>(1, options_.waiting); });
  if (stopped_ || is_known()) return false;
  queue_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

bool Batch::cancel(const std::string& id) {
  BatchJob waiting;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = running_.find(id); found != running_.end()) {
      found->second.request_stop();
      return true;
    }
    const auto found = std::find_if(queue_.begin(), queue_.end(), [&](const BatchJob& job) { return job.id == id; });
    if (found == queue_.end()) return false;
    waiting = std::move(*found);
    queue_.erase(found);
    // As if it ran, so that drain() waits for its end.
    running_[id];
    changed_.notify_all();
  }
  finish(waiting, never_started(waiting));
  return true;
}

void Batch::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || (queue_.empty() && running_.empty()); });
}

void Batch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  queue_.clear();
  for (auto& [id, running] : running_) running.request_stop();
  changed_.notify_all();
}

void Batch::work() {
  for (;;) {
    BatchJob job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
      if (stopped_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      job.options.stop = running_[job.id].get_token();
      changed_.notify_all();
    }
    Evaluation evaluation = evaluate(*job.problem, job.file, job.source, job.options);
    finish(job, std::move(evaluation));
  }
}

void Batch::finish(const BatchJob& job, Evaluation evaluation) {
  {
    const std::lock_guard one_at_a_time(finishing_);
    bool wanted = true;
    {
      const std::lock_guard lock(mutex_);
      wanted = !(stopped_ && evaluation.cancelled);
    }
    if (wanted) finished_(job, std::move(evaluation));
  }
  const std::lock_guard lock(mutex_);
  running_.erase(job.id);
  changed_.notify_all();
}

}  // namespace hipbench
