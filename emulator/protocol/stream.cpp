#include "emulator/protocol/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "emulator/protocol/connection.hpp"
#include "emulator/protocol/server.hpp"

namespace hipbench::emulator {

using wire::Message;
using wire::Opcode;
using wire::Reader;
using wire::Rows;
using wire::Writer;

namespace {

// What a client may have waiting; then it is no longer read from until the device catches up.
constexpr u64 kMaxQueuedBytes = u64{64} << 20;
constexpr size_t kMaxQueuedOperations = 1u << 14;
// Printed text that nobody has fetched. A kernel that prints more between two waiting calls loses the rest.
constexpr size_t kMaxPrinted = 16u << 20;
constexpr std::string_view kPrintLost =
    "\n[hipbench: device printf output above 16 MiB between two synchronisations is lost]\n";
constexpr u32 kMaxWaitMs = 100;
// Fills and copies look at the resident budget once a piece of this size.
constexpr u64 kPiece = u64{1} << 20;

// The operations that Client counts in submitted().
bool is_counted(Opcode opcode) {
  return opcode == Opcode::Write || opcode == Opcode::Fill || opcode == Opcode::Copy || opcode == Opcode::Launch ||
         opcode == Opcode::Timestamp;
}

// The distance from the first byte of a 2-D range to the last, or nothing if that overflows.
std::optional<u64> extent(u64 pitch, u64 width, u64 rows) {
  u64 span = 0;
  if (rows == 0 || width == 0 || (rows > 1 && pitch < width)) return std::nullopt;
  if (__builtin_mul_overflow(pitch, rows - 1, &span) || __builtin_add_overflow(span, width, &span)) return std::nullopt;
  return span;
}

// The host's view of a 2-D range that lies in one allocation. Its whole span may be larger than what is touched, so the
// budget is asked row by row and piece by piece while touching.
enum class Access { Read, Write };
Result<std::byte*> locate(AddressSpace& memory, Access access, u64 address, u64 pitch, u64 width, u64 rows) {
  const std::optional<u64> span = extent(pitch, width, rows);
  if (!span)
    return Error{fmt::format("a range of {} rows of {} bytes, {} bytes apart, makes no sense", rows, width, pitch)};
  const Allocation* allocation = memory.find(address);
  if (allocation == nullptr || allocation->size - (address - allocation->base) < *span)
    return Error{fmt::format("{} bytes at {:#x} are not in one buffer: {}", *span, address, memory.describe(address))};
  if (access == Access::Write && allocation->code)
    return Error{fmt::format("{} bytes at {:#x} are code, which cannot be written: {}", *span, address,
                             memory.describe(address))};
  return allocation->host + (address - allocation->base);
}

constexpr const char* kOverBudget = "out of memory: the emulated device's resident budget on this machine is used up";

void fill_pattern(std::byte* to, u64 size, u32 value, u32 value_size) {
  if (value_size == 1) {
    std::memset(to, static_cast<int>(value & 0xff), size);
    return;
  }
  for (u64 at = 0; at < size; at += value_size) std::memcpy(to + at, &value, value_size);
}

// The memory checks want to know what the host wrote.
void mark_written(AddressSpace& memory, const Rows& rows) {
  for (u64 row = 0; row < rows.rows; ++row) memory.mark_written(rows.address + row * rows.pitch, rows.width);
}

}  // namespace

void Stream::start() {
  thread_ = std::thread([this] { run(); });
}

void Stream::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Stream::reset() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  queued_bytes_ = 0;
  changed_.wait(lock, [&] { return !busy_; });
  completed_ = 0;
  failure_.reset();
  printed_.clear();
  timestamps_.clear();
}

bool Stream::push(Message request) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return stopping_ || (queue_.size() < kMaxQueuedOperations && queued_bytes_ <= kMaxQueuedBytes);
  });
  if (stopping_) return false;
  if (request.opcode() == Opcode::Timestamp) {
    // From now on the slot's old value is not to be seen.
    Reader reader(request.payload);
    const u32 slot = reader.get<u32>();
    if (!reader.complete() || slot >= kMaxTimestampSlots) return false;
    if (slot >= timestamps_.size()) timestamps_.resize(slot + 1);
    timestamps_[slot].reset();
  }
  queued_bytes_ += request.payload.size();
  queue_.push_back(std::move(request));
  changed_.notify_all();
  return true;
}

bool Stream::idle() {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !busy_;
}

Stream::Progress Stream::progress(u64 operation, u32 wait_ms, bool take) {
  std::unique_lock lock(mutex_);
  if (wait_ms > 0)
    changed_.wait_for(lock, std::chrono::milliseconds(std::min(wait_ms, kMaxWaitMs)),
                      [&] { return stopping_ || completed_ >= operation; });
  Progress progress;
  progress.completed = completed_;
  progress.text = std::exchange(printed_, {});
  if (take && completed_ >= operation) {
    progress.failure = failure_;
    if (failure_ && failure_->refused) failure_.reset();
  }
  return progress;
}

void Stream::clear_failure() {
  const std::lock_guard lock(mutex_);
  failure_.reset();
}

void Stream::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (printed_.size() >= kMaxPrinted) return;
  printed_ += text;
  if (printed_.size() >= kMaxPrinted) printed_ += kPrintLost;
}

std::optional<u64> Stream::timestamp(u32 slot) {
  const std::lock_guard lock(mutex_);
  return slot < timestamps_.size() ? timestamps_[slot] : std::nullopt;
}

void Stream::run() {
  for (;;) {
    Message request;
    bool dead = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      request = std::move(queue_.front());
      queue_.pop_front();
      queued_bytes_ -= request.payload.size();
      busy_ = true;
      dead = failure_ && !failure_->refused;
    }
    changed_.notify_all();
    const Opcode opcode = request.opcode();
    // After a guest fault the context is dead, as on the real device: its operations are not done any more. Requests
    // that want a reply get one, and memory can still be given back.
    if (!dead || !is_counted(opcode)) {
      try {
        if (dead && opcode == Opcode::Read)
          connection_.reply_error(opcode, "a kernel of this context faulted; its memory cannot be read any more");
        else
          execute(request);
      } catch (const std::exception& caught) {
        refuse(fmt::format("the device server could not do it: {}", caught.what()));
      }
    }
    {
      const std::lock_guard lock(mutex_);
      busy_ = false;
      if (is_counted(opcode)) ++completed_;
    }
    changed_.notify_all();
  }
}

void Stream::execute(const Message& request) {
  Reader reader(request.payload);
  switch (request.opcode()) {
    case Opcode::Write: return write(reader);
    case Opcode::Fill: return fill(reader);
    case Opcode::Copy: return copy(reader);
    case Opcode::Launch: return launch(reader);
    case Opcode::Read: return read(reader);
    case Opcode::Timestamp: {
      const u32 slot = reader.get<u32>();
      const u64 now = connection_.server().device().clock_ns();
      {
        const std::lock_guard lock(mutex_);
        timestamps_[slot] = now;
      }
      Operation entry;
      entry.client = connection_.id();
      entry.kind = OperationKind::Timestamp;
      entry.timestamp_slot = slot;
      entry.start_ns = entry.end_ns = now;
      return connection_.server().log(std::move(entry));
    }
    case Opcode::Free:
    case Opcode::UnloadModule: return connection_.release(request);
    default: return;
  }
}

void Stream::refuse(std::string message, std::string kernel) {
  OperationFailure failure;
  failure.refused = true;
  failure.text = message;
  failure.report.message = std::move(message);
  failure.report.kernel = std::move(kernel);
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void Stream::log(OperationKind kind, u64 address, u64 source, u64 bytes) {
  Operation entry;
  entry.client = connection_.id();
  entry.kind = kind;
  entry.address = address;
  entry.source = source;
  entry.bytes = bytes;
  entry.start_ns = entry.end_ns = connection_.server().device().clock_ns();
  connection_.server().log(std::move(entry));
}

void Stream::write(Reader reader) {
  const Rows rows = wire::get_rows(reader);
  const std::span<const std::byte> data = reader.rest();
  u64 bytes = 0;
  if (__builtin_mul_overflow(rows.width, rows.rows, &bytes) || bytes != data.size() || bytes == 0)
    return refuse("a write whose data do not match its size");
  AddressSpace& memory = connection_.server().memory();
  const AddressSpace::Pin pin(memory);
  const Result<std::byte*> to = locate(memory, Access::Write, rows.address, rows.pitch, rows.width, rows.rows);
  if (!to) return refuse(to.error().message);
  if (memory.over_budget()) return refuse(kOverBudget);
  for (u64 row = 0; row < rows.rows; ++row)
    std::memcpy(*to + row * rows.pitch, data.data() + row * rows.width, rows.width);
  mark_written(memory, rows);
  log(OperationKind::Write, rows.address, 0, bytes);
}

void Stream::fill(Reader reader) {
  const wire::FillRequest request = wire::get_fill(reader);
  const Rows& rows = request.to;
  if (!reader.complete() || (request.value_size != 1 && request.value_size != 2 && request.value_size != 4) ||
      rows.width % request.value_size != 0)
    return refuse("a fill whose values are not of 1, 2 or 4 bytes");
  AddressSpace& memory = connection_.server().memory();
  const AddressSpace::Pin pin(memory);
  const Result<std::byte*> to = locate(memory, Access::Write, rows.address, rows.pitch, rows.width, rows.rows);
  if (!to) return refuse(to.error().message);
  for (u64 row = 0; row < rows.rows; ++row)
    for (u64 at = 0; at < rows.width; at += kPiece) {
      if (memory.over_budget()) return refuse(kOverBudget);
      fill_pattern(*to + row * rows.pitch + at, std::min(kPiece, rows.width - at), request.value, request.value_size);
    }
  mark_written(memory, rows);
  log(OperationKind::Fill, rows.address, 0, rows.bytes());
}

void Stream::copy(Reader reader) {
  const wire::CopyRequest request = wire::get_copy(reader);
  const Rows& rows = request.to;
  if (!reader.complete()) return refuse("a copy that makes no sense");
  AddressSpace& memory = connection_.server().memory();
  const AddressSpace::Pin pin(memory);
  const Result<std::byte*> to = locate(memory, Access::Write, rows.address, rows.pitch, rows.width, rows.rows);
  if (!to) return refuse(to.error().message);
  const Result<std::byte*> from = locate(memory, Access::Read, request.from, request.from_pitch, rows.width, rows.rows);
  if (!from) return refuse(from.error().message);
  for (u64 row = 0; row < rows.rows; ++row) {
    std::byte* target = *to + row * rows.pitch;
    const std::byte* source = *from + row * request.from_pitch;
    // Overlapping ranges are undefined in HIP; whole runs keep it simple where they do not overlap, backwards or not.
    if (target < source + rows.width && source < target + rows.width) {
      if (memory.over_budget()) return refuse(kOverBudget);
      std::memmove(target, source, rows.width);
      continue;
    }
    for (u64 at = 0; at < rows.width; at += kPiece) {
      if (memory.over_budget()) return refuse(kOverBudget);
      std::memcpy(target + at, source + at, std::min(kPiece, rows.width - at));
    }
  }
  mark_written(memory, rows);
  log(OperationKind::Copy, rows.address, request.from, rows.bytes());
}

void Stream::read(Reader reader) {
  const Rows rows = wire::get_rows(reader);
  u64 bytes = 0;
  if (!reader.complete() || __builtin_mul_overflow(rows.width, rows.rows, &bytes) || bytes > wire::kMaxChunk)
    return connection_.reply_error(Opcode::Read, "a read that is too large for one message");
  wire::Bytes data;
  {
    AddressSpace& memory = connection_.server().memory();
    const AddressSpace::Pin pin(memory);
    const Result<std::byte*> from = locate(memory, Access::Read, rows.address, rows.pitch, rows.width, rows.rows);
    if (!from) return connection_.reply_error(Opcode::Read, from.error().message);
    if (memory.over_budget()) return connection_.reply_error(Opcode::Read, kOverBudget);
    data.resize(bytes);
    for (u64 row = 0; row < rows.rows; ++row)
      std::memcpy(data.data() + row * rows.width, *from + row * rows.pitch, rows.width);
  }
  log(OperationKind::Read, rows.address, 0, bytes);
  connection_.reply(Opcode::Read, {}, data);
}

void Stream::launch(Reader reader) {
  LaunchRequest request = wire::get_launch(reader);
  if (!reader.complete() || request.kernargs.size() > kMaxKernargBytes)
    return refuse("a launch request that makes no sense");
  if (!connection_.owns_module(request.module))
    return refuse(fmt::format("module {} is not loaded by this client", request.module), request.kernel);
  const std::string kernel = request.kernel;
  std::string refused;
  LaunchResult result = connection_.server().launch(connection_, std::move(request), refused);
  if (!refused.empty()) return refuse(std::move(refused), kernel);
  if (result.completed()) return;
  OperationFailure failure;
  failure.text = result.fault.to_string();
  failure.report = std::move(result.fault);
  const std::lock_guard lock(mutex_);
  if (!failure_ || failure_->refused) failure_ = std::move(failure);
}

}  // namespace hipbench::emulator
