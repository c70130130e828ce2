#pragma once
// How requests and replies look on the socket: an 8-byte header, then the payload. Integers are little-endian, strings
// and lists carry their length in front. Both sides run on the same machine, so there is no other byte order to speak
// of.
//
// A Reader never believes a length: what does not fit makes it fail, and a failed Reader yields zeros until it is
// asked.

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "emulator/isa/types.hpp"

namespace hipbench::emulator::wire {

inline constexpr u32 kVersion = 1;              // of the protocol; both sides come from one build
inline constexpr u32 kHello = 0x42504948;       // "HIPB"
inline constexpr u32 kMaxChunk = 1u << 20;      // bulk bytes in one message; longer transfers are split
inline constexpr u32 kMaxRequest = kMaxChunk + 65536 + 4096;  // payload bytes the server accepts
inline constexpr u32 kMaxReply = 256u << 20;    // payload bytes a client accepts

enum class Opcode : u16 {
  Hello = 1,
  // Queued, without a reply.
  Write,
  Fill,
  Copy,
  Launch,
  Timestamp,
  // Queued, with a reply when reached.
  Read,
  // At once, with a reply.
  Allocate,
  AllocateShared,
  Free,
  MemoryInfo,
  FindAllocation,
  Progress,
  ClearFailure,
  TimestampValue,
  ModuleData,  // appends to the connection's module buffer; no reply
  LoadModule,
  UnloadModule,
  Occupancy,
  Clock,
  // Trusted only.
  NewClient,
  SetLimits,
  DrainLog,
  CloseClients,
  SynchronizeAll,
};

// A vector that does not zero what is about to be overwritten: bulk data pass through it.
template <typename T>
struct DefaultInitAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = DefaultInitAllocator<U>;
  };
  template <typename U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};
using Bytes = std::vector<std::byte, DefaultInitAllocator<std::byte>>;

struct Header {
  u32 size = 0;    // payload bytes
  u16 opcode = 0;  // a reply repeats the request's
  u16 failed = 0;  // reply only: the payload is the message of an Error
};
static_assert(sizeof(Header) == 8);

class Writer {
 public:
  template <typename T>
    requires(std::is_integral_v<T> || std::is_enum_v<T> || std::is_floating_point_v<T>)
  void put(T value) {
    bytes({reinterpret_cast<const std::byte*>(&value), sizeof value});
  }
  void put(std::string_view text) {
    put(static_cast<u32>(text.size()));
    bytes(std::as_bytes(std::span(text)));
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const Dim3& dim) {
    put(dim.x);
    put(dim.y);
    put(dim.z);
  }
  void bytes(std::span<const std::byte> data) { data_.insert(data_.end(), data.begin(), data.end()); }
  const std::vector<std::byte>& data() const { return data_; }

 private:
  std::vector<std::byte> data_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> data) : rest_(data) {}

  template <typename T>
    requires(std::is_integral_v<T> || std::is_enum_v<T> || std::is_floating_point_v<T>)
  T get() {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto data = bytes(get<u32>());
    return std::string(reinterpret_cast<const char*>(data.data()), data.size());
  }
  Dim3 dim() {
    const u32 x = get<u32>(), y = get<u32>(), z = get<u32>();
    return Dim3{x, y, z};
  }
  // How many elements a list claims to have; more than the rest could hold is a failure.
  u32 count() {
    const u32 n = get<u32>();
    if (n > rest_.size()) {
      fail();
      return 0;
    }
    return n;
  }
  std::span<const std::byte> bytes(size_t size) {
    if (rest_.size() < size) {
      fail();
      return {};
    }
    const auto front = rest_.first(size);
    rest_ = rest_.subspan(size);
    return front;
  }
  std::span<const std::byte> rest() { return bytes(rest_.size()); }
  // Everything was there and nothing is left over.
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

// A whole message in one system call where the socket takes it. `body` follows `payload`. False = the other end is
// gone.
bool send_message(int fd, Opcode opcode, bool failed, std::span<const std::byte> payload,
                  std::span<const std::byte> body = {}, int attached_fd = -1);

struct Message {
  Header header;
  Bytes payload;
  UniqueFd attached_fd;
  Opcode opcode() const { return static_cast<Opcode>(header.opcode); }
};

// Nothing when the other end closed, broke off in the middle, or sent a message longer than `limit`. A payload of
// exactly the size of `place` goes there instead of into the Message, unless the message is a failure.
std::optional<Message> receive_message(int fd, u32 limit, std::span<std::byte> place = {});

// Sockets of both ends: the largest buffers that the kernel lets us have.
void enlarge_buffers(int fd);

}  // namespace hipbench::emulator::wire
