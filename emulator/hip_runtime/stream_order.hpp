#pragma once
// What HIP guarantees about the order of work on several streams. Everything runs in submission order here, so that
// work which nothing orders shows no wrong result; on a GPU it is a race. This keeps account of it.
//
// For every stream, event and for the host: how far into each stream what comes next is sure to come after.

#include <cstdint>
#include <map>
#include <mutex>

namespace hipbench::hip {

class StreamOrder {
 public:
  using StreamId = uint64_t;
  using Clock = std::map<StreamId, uint64_t>;  // stream → its last operation that comes before

  // Streams as they take part: a legacy default stream waits for all blocking ones, and they for it.
  static constexpr StreamId kDefault = 0;
  StreamId add_stream(bool blocking);

  void submitted(StreamId stream, uint64_t operation);
  Clock tail_of(StreamId stream);                    // what an event recorded there now comes after
  void wait(StreamId stream, const Clock& event);    // later work there comes after the event
  void host_waited(const Clock& event);              // all that is done
  void host_waited_for_all();
  // Streams with work that is neither done for all that the host knows nor before the tail of `stream`.
  int unordered_streams(StreamId stream);

 private:
  static void merge(Clock& into, const Clock& other);
  void join_default(StreamId stream);  // the rules of the default stream

  std::mutex mutex_;  // of all below
  StreamId next_ = kDefault + 1;
  std::map<StreamId, Clock> streams_{{kDefault, {}}};
  std::map<StreamId, bool> blocking_;
  Clock host_;
  Clock last_;  // each stream's last operation
};

}  // namespace hipbench::hip
