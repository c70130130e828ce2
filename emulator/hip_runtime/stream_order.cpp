#include "emulator/hip_runtime/stream_order.hpp"

#include <algorithm>

namespace hipbench::hip {

void StreamOrder::merge(Clock& into, const Clock& other) {
  for (const auto& [stream, operation] : other) {
    uint64_t& known = into[stream];
    known = std::max(known, operation);
  }
}

StreamOrder::StreamId StreamOrder::add_stream(bool blocking) {
  const std::lock_guard lock(mutex_);
  blocking_[next_] = blocking;
  streams_[next_];
  return next_++;
}

void StreamOrder::join_default(StreamId stream) {
  if (stream != kDefault) {
    if (blocking_[stream]) merge(streams_[stream], streams_[kDefault]);
    return;
  }
  for (const auto& [other, blocking] : blocking_)
    if (blocking) merge(streams_[kDefault], streams_[other]);
}

void StreamOrder::submitted(StreamId stream, uint64_t operation) {
  const std::lock_guard lock(mutex_);
  join_default(stream);
  streams_[stream][stream] = last_[stream] = operation;
}

StreamOrder::Clock StreamOrder::tail_of(StreamId stream) {
  const std::lock_guard lock(mutex_);
  join_default(stream);
  return streams_[stream];
}

void StreamOrder::wait(StreamId stream, const Clock& event) {
  const std::lock_guard lock(mutex_);
  merge(streams_[stream], event);
}

void StreamOrder::host_waited(const Clock& event) {
  const std::lock_guard lock(mutex_);
  merge(host_, event);
}

void StreamOrder::host_waited_for_all() {
  const std::lock_guard lock(mutex_);
  host_ = last_;
}

int StreamOrder::unordered_streams(StreamId stream) {
  const std::lock_guard lock(mutex_);
  join_default(stream);
  Clock before = host_;
  merge(before, streams_[stream]);
  return static_cast<int>(
      std::ranges::count_if(last_, [&](const auto& last) { return before[last.first] < last.second; }));
}

}  // namespace hipbench::hip
