#include "emulator/protocol/client.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "emulator/protocol/messages.hpp"
#include "emulator/protocol/wire.hpp"

namespace hipbench::emulator {

using wire::Message;
using wire::Opcode;
using wire::Reader;
using wire::Rows;
using wire::Writer;

namespace {
// A waiting call asks the server in slices of this length, so that other threads of the program get their turn in
// between.
constexpr u32 kWaitSliceMs = 10;

Error garbled() {
  return Error{"the device server sent a reply that makes no sense; client and server must come from the same build"};
}
}  // namespace

struct Client::Link {
  UniqueFd fd;
  mutable std::mutex mutex;
  bool connected = true;
  u64 submitted = 0;
  u64 clean = 0;  // operations up to this one are done and nothing failed: no need to ask again
  std::map<u64, u64> shared;  // base and size of what allocate_shared mapped here
  std::function<void(std::string_view)> print;

  Error lost() {
    connected = false;
    fd.reset();
    return Error{"the connection to the device server is closed: the server ended or was killed"};
  }

  // Sends without waiting. With `queued`, the server will count it as the next operation.
  Result<void> send(Opcode opcode, const Writer& payload, std::span<const std::byte> body = {}, bool queued = false) {
    const std::lock_guard lock(mutex);
    return send_locked(opcode, payload, body, queued);
  }

  Result<void> send_locked(Opcode opcode, const Writer& payload, std::span<const std::byte> body, bool queued) {
    if (!connected || !wire::send_message(fd.get(), opcode, false, payload.data(), body)) return lost();
    if (queued) ++submitted;
    return {};
  }

  Result<Message> ask(Opcode opcode, const Writer& payload) {
    const std::lock_guard lock(mutex);
    return ask_locked(opcode, payload);
  }

  Result<Message> ask_locked(Opcode opcode, const Writer& payload) {
    TRY(send_locked(opcode, payload, {}, false));
    std::optional<Message> reply = wire::receive_message(fd.get(), wire::kMaxReply);
    if (!reply) return lost();
    if (reply->opcode() != opcode) return garbled();
    if (reply->header.failed)
      return Error{std::string(reinterpret_cast<const char*>(reply->payload.data()), reply->payload.size())};
    return std::move(*reply);
  }

  struct Progress {
    u64 completed = 0;
    std::optional<OperationFailure> failure;
  };
  // `take`: the failure, if any, once `operation` is done.
  Result<Progress> progress(u64 operation, u32 wait_ms, bool take) {
    Writer request;
    request.put(operation);
    request.put(wait_ms);
    request.put(u8{take});
    const std::lock_guard lock(mutex);
    const Message reply = TRY(ask_locked(Opcode::Progress, request));
    Reader reader(reply.payload);
    Progress progress;
    progress.completed = reader.get<u64>();
    if (reader.get<u8>() != 0) progress.failure = wire::get_failure(reader);
    const std::string text = reader.text();
    if (!reader.complete()) return garbled();
    if (!text.empty() && print) print(text);
    if (take && progress.completed >= operation && !progress.failure) clean = std::max(clean, operation);
    return progress;
  }

  // Until an operation is done. With `take`, whether it or one before it failed. With `ask`, the server is asked even
  // if the answer is known, so that a server that is gone shows.
  Result<std::optional<OperationFailure>> wait(u64 operation, bool take, bool ask = false) {
    if (!ask) {
      const std::lock_guard lock(mutex);
      if (!connected) return lost();
      if (operation <= clean) return std::optional<OperationFailure>();
    }
    for (;;) {
      Progress now = TRY(progress(operation, kWaitSliceMs, take));
      if (now.completed >= operation) return std::move(now.failure);
      std::this_thread::yield();
    }
  }

  // Several requests are under way at a time, so that the server need not wait for us between two pieces.
  Result<void> read_pieces(std::span<const Rows> pieces, std::span<const std::span<std::byte>> places) {
    constexpr size_t kUnderWay = 4;
    const std::lock_guard lock(mutex);
    std::optional<Error> refused;
    for (size_t sent = 0, received = 0; received < pieces.size(); ++received) {
      for (; sent < pieces.size() && sent < received + kUnderWay; ++sent) {
        Writer request;
        put(request, pieces[sent]);
        TRY(send_locked(Opcode::Read, request, {}, false));
      }
      const std::optional<Message> reply = wire::receive_message(fd.get(), wire::kMaxReply, places[received]);
      if (!reply) return lost();
      if (reply->opcode() != Opcode::Read || (!reply->header.failed && reply->header.size != places[received].size()))
        return garbled();
      if (reply->header.failed && !refused)
        refused = Error{std::string(reinterpret_cast<const char*>(reply->payload.data()), reply->payload.size())};
    }
    if (refused) return *std::move(refused);
    return {};
  }

  // Repeats a request that the server answers with "not yet" (0) or "done" (1). False: not done by the deadline.
  using Clock = std::chrono::steady_clock;
  Result<bool> ask_until_done(Opcode opcode, Clock::time_point deadline) {
    for (;;) {
      const Message reply = TRY(ask(opcode, Writer{}));
      Reader reader(reply.payload);
      const bool done = reader.get<u8>() != 0;
      if (!reader.complete()) return garbled();
      if (done || Clock::now() >= deadline) return done;
      std::this_thread::yield();
    }
  }
};

const KernelInfo* ModuleInfo::find_kernel(std::string_view name) const {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

const GlobalInfo* ModuleInfo::find_global(std::string_view name) const {
  const auto found =
      std::find_if(globals.begin(), globals.end(), [&](const GlobalInfo& global) { return global.name == name; });
  return found == globals.end() ? nullptr : &*found;
}

Client::Client(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(UniqueFd fd) {
  wire::enlarge_buffers(fd.get());
  auto link = std::make_unique<Link>();
  link->fd = std::move(fd);
  Writer hello;
  hello.put(wire::kHello);
  hello.put(wire::kVersion);
  Result<void> sent = link->send(Opcode::Hello, hello);
  if (!sent) return std::move(sent).error().with_context("cannot connect to the device server");
  std::optional<Message> reply;
  // A program that had the connection before may have left replies that it never read.
  do {
    reply = wire::receive_message(link->fd.get(), wire::kMaxReply);
  } while (reply && reply->opcode() != Opcode::Hello);
  if (!reply) return link->lost().with_context("cannot connect to the device server");
  Reader reader(reply->payload);
  auto client = std::unique_ptr<Client>(new Client(std::move(link)));
  client->trusted_ = reader.get<u8>() != 0;
  if (!reader.complete()) return garbled();
  return client;
}

bool Client::connected() const {
  const std::lock_guard lock(link_->mutex);
  return link_->connected;
}

void Client::set_print_handler(std::function<void(std::string_view)> handler) {
  const std::lock_guard lock(link_->mutex);
  link_->print = std::move(handler);
}

// --- memory ---

Result<u64> Client::allocate(u64 bytes, std::string label) {
  Writer request;
  request.put(bytes);
  request.put(label);
  const Message reply = TRY(link_->ask(Opcode::Allocate, request));
  Reader reader(reply.payload);
  const u64 address = reader.get<u64>();
  if (!reader.complete()) return garbled();
  return address;
}

Result<void*> Client::allocate_shared(u64 bytes, std::string label) {
  Writer request;
  request.put(bytes);
  request.put(label);
  const Message reply = TRY(link_->ask(Opcode::AllocateShared, request));
  Reader reader(reply.payload);
  const u64 base = reader.get<u64>();
  if (!reader.complete() || !reply.attached_fd.valid()) return garbled();
  void* wanted = reinterpret_cast<void*>(base);
  void* mapped =
      ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, reply.attached_fd.get(), 0);
  if (mapped != wanted) {
    const int reason = errno;
    if (mapped != MAP_FAILED) ::munmap(mapped, bytes);
    Writer release;
    release.put(base);
    (void)link_->ask(Opcode::Free, release);
    return Error{fmt::format("cannot map {} bytes of shared memory at {:#x}: {}", bytes, base, std::strerror(reason))};
  }
  const std::lock_guard lock(link_->mutex);
  link_->shared[base] = bytes;
  return mapped;
}

Result<void> Client::free(u64 address) {
  // Wait in slices first: the request itself holds the connection until it is answered.
  TRY(link_->wait(submitted(), false));
  Writer request;
  request.put(address);
  TRY(link_->ask(Opcode::Free, request));
  const std::lock_guard lock(link_->mutex);
  if (const auto found = link_->shared.find(address); found != link_->shared.end()) {
    ::munmap(reinterpret_cast<void*>(found->first), found->second);
    link_->shared.erase(found);
  }
  return {};
}

Result<MemoryInfo> Client::memory_info() {
  const Message reply = TRY(link_->ask(Opcode::MemoryInfo, Writer{}));
  Reader reader(reply.payload);
  MemoryInfo info;
  info.free_bytes = reader.get<u64>();
  info.total_bytes = reader.get<u64>();
  if (!reader.complete()) return garbled();
  return info;
}

Result<AllocationInfo> Client::find_allocation(u64 address) {
  Writer request;
  request.put(address);
  const Message reply = TRY(link_->ask(Opcode::FindAllocation, request));
  Reader reader(reply.payload);
  AllocationInfo info;
  info.base = reader.get<u64>();
  info.size = reader.get<u64>();
  info.shared = reader.get<u8>() != 0;
  if (!reader.complete()) return garbled();
  return info;
}

// --- queued operations ---

Result<void> Client::write(u64 address, std::span<const std::byte> data) {
  return write_rows(address, data.size(), data.data(), data.size(), data.size(), 1);
}

Result<void> Client::write_rows(u64 address, u64 pitch, const std::byte* data, u64 data_pitch, u64 width, u64 rows) {
  if (width == 0 || rows == 0) return {};
  if (width > wire::kMaxChunk) {
    for (u64 row = 0; row < rows; ++row)
      for (u64 at = 0; at < width; at += wire::kMaxChunk) {
        const u64 size = std::min<u64>(wire::kMaxChunk, width - at);
        Writer request;
        put(request, Rows{address + row * pitch + at, size, size, 1});
        TRY(link_->send(Opcode::Write, request, {data + row * data_pitch + at, size}, true));
      }
    return {};
  }
  const u64 batch = std::max<u64>(1, wire::kMaxChunk / width);
  std::vector<std::byte> packed;
  for (u64 row = 0; row < rows; row += batch) {
    const u64 count = std::min(batch, rows - row);
    std::span<const std::byte> body(data + row * data_pitch, width * count);
    if (data_pitch != width && count > 1) {
      packed.resize(width * count);
      for (u64 i = 0; i < count; ++i) std::memcpy(packed.data() + i * width, data + (row + i) * data_pitch, width);
      body = packed;
    }
    Writer request;
    put(request, Rows{address + row * pitch, pitch, width, count});
    TRY(link_->send(Opcode::Write, request, body, true));
  }
  return {};
}

Result<void> Client::fill(u64 address, u32 value, u32 value_size, u64 count) {
  return fill_rows(address, count * value_size, value, value_size, count, 1);
}

Result<void> Client::fill_rows(u64 address, u64 pitch, u32 value, u32 value_size, u64 count, u64 rows) {
  if (count == 0 || rows == 0) return {};
  Writer request;
  put(request, wire::FillRequest{Rows{address, pitch, count * value_size, rows}, value, value_size});
  return link_->send(Opcode::Fill, request, {}, true);
}

Result<void> Client::copy(u64 to, u64 from, u64 bytes) { return copy_rows(to, bytes, from, bytes, bytes, 1); }

Result<void> Client::copy_rows(u64 to, u64 to_pitch, u64 from, u64 from_pitch, u64 width, u64 rows) {
  if (width == 0 || rows == 0) return {};
  Writer request;
  put(request, wire::CopyRequest{Rows{to, to_pitch, width, rows}, from, from_pitch});
  return link_->send(Opcode::Copy, request, {}, true);
}

Result<void> Client::launch(const LaunchRequest& launch) {
  if (launch.kernargs.size() > kMaxKernargBytes)
    return Error{
        fmt::format("{} bytes of kernel arguments; at most {} are possible", launch.kernargs.size(), kMaxKernargBytes)};
  Writer request;
  put(request, launch);
  return link_->send(Opcode::Launch, request, {}, true);
}

Result<void> Client::timestamp(u32 slot) {
  if (slot >= kMaxTimestampSlots) return Error{fmt::format("timestamp slot {} is too large", slot)};
  Writer request;
  request.put(slot);
  return link_->send(Opcode::Timestamp, request, {}, true);
}

// --- waiting ---

Result<void> Client::read(u64 address, std::span<std::byte> data) {
  return read_rows(data.data(), data.size(), address, data.size(), data.size(), 1);
}

Result<void> Client::read_rows(std::byte* data, u64 data_pitch, u64 address, u64 pitch, u64 width, u64 rows) {
  if (width == 0 || rows == 0) return {};
  TRY(link_->wait(submitted(), false));
  // Whole rows go straight to their place; narrow rows of a 2-D read share a message and are unpacked here.
  const bool packed = rows > 1 && width <= wire::kMaxChunk / 2;
  const u64 batch = packed ? wire::kMaxChunk / width : 1;
  wire::Bytes unpacked;
  for (u64 row = 0; packed && row < rows; row += batch) {
    const u64 count = std::min(batch, rows - row);
    unpacked.resize(width * count);
    const Rows piece{address + row * pitch, pitch, width, count};
    const std::span<std::byte> place(unpacked);
    TRY(link_->read_pieces({&piece, 1}, {&place, 1}));
    for (u64 i = 0; i < count; ++i) std::memcpy(data + (row + i) * data_pitch, unpacked.data() + i * width, width);
  }
  if (packed) return {};
  std::vector<Rows> pieces;
  std::vector<std::span<std::byte>> places;
  for (u64 row = 0; row < rows; ++row)
    for (u64 at = 0; at < width; at += wire::kMaxChunk) {
      const u64 size = std::min<u64>(wire::kMaxChunk, width - at);
      pieces.push_back({address + row * pitch + at, size, size, 1});
      places.emplace_back(data + row * data_pitch + at, size);
    }
  return link_->read_pieces(pieces, places);
}

u64 Client::submitted() const {
  const std::lock_guard lock(link_->mutex);
  return link_->submitted;
}

Result<u64> Client::completed() { return TRY(link_->progress(0, 0, false)).completed; }

Result<std::optional<OperationFailure>> Client::wait_for(u64 operation) { return link_->wait(operation, true); }

Result<std::optional<OperationFailure>> Client::synchronize() { return link_->wait(submitted(), true, true); }

Result<void> Client::clear_failure() {
  TRY(link_->ask(Opcode::ClearFailure, Writer{}));
  return {};
}

Result<std::optional<u64>> Client::timestamp_value(u32 slot) {
  Writer request;
  request.put(slot);
  const Message reply = TRY(link_->ask(Opcode::TimestampValue, request));
  Reader reader(reply.payload);
  const bool reached = reader.get<u8>() != 0;
  const u64 value = reader.get<u64>();
  if (!reader.complete()) return garbled();
  return reached ? std::optional<u64>(value) : std::nullopt;
}

// --- modules ---

Result<ModuleInfo> Client::load_module(std::span<const std::byte> code) {
  if (code.size() > kMaxModuleBytes)
    return Error{fmt::format("a code object of {} bytes; at most {} are accepted", code.size(), kMaxModuleBytes)};
  // One lock over all pieces: another thread's module must not mix into the server's buffer.
  const std::lock_guard lock(link_->mutex);
  for (size_t at = 0; at < code.size(); at += wire::kMaxChunk)
    TRY(link_->send_locked(Opcode::ModuleData, Writer{},
                           code.subspan(at, std::min<size_t>(wire::kMaxChunk, code.size() - at)), false));
  const Message reply = TRY(link_->ask_locked(Opcode::LoadModule, Writer{}));
  Reader reader(reply.payload);
  ModuleInfo module = wire::get_module(reader);
  if (!reader.complete()) return garbled();
  return module;
}

Result<void> Client::unload_module(ModuleHandle module) {
  Writer request;
  request.put(module);
  TRY(link_->ask(Opcode::UnloadModule, request));
  return {};
}

Result<u32> Client::occupancy(ModuleHandle module, std::string_view kernel, u32 block_size, u32 dynamic_lds) {
  Writer request;
  request.put(module);
  request.put(kernel);
  request.put(block_size);
  request.put(dynamic_lds);
  const Message reply = TRY(link_->ask(Opcode::Occupancy, request));
  Reader reader(reply.payload);
  const u32 workgroups = reader.get<u32>();
  if (!reader.complete()) return garbled();
  return workgroups;
}

Result<u64> Client::clock_ns() {
  const Message reply = TRY(link_->ask(Opcode::Clock, Writer{}));
  Reader reader(reply.payload);
  const u64 now = reader.get<u64>();
  if (!reader.complete()) return garbled();
  return now;
}

// --- trusted ---

Result<UniqueFd> Client::new_client_fd() {
  Message reply = TRY(link_->ask(Opcode::NewClient, Writer{}));
  if (!reply.attached_fd.valid()) return garbled();
  return std::move(reply.attached_fd);
}

Result<void> Client::set_limits(const Limits& limits) {
  Writer request;
  put(request, limits);
  TRY(link_->ask(Opcode::SetLimits, request));
  return {};
}

Result<OperationLog> Client::drain_log() {
  const Message reply = TRY(link_->ask(Opcode::DrainLog, Writer{}));
  Reader reader(reply.payload);
  OperationLog log;
  log.dropped = reader.get<u64>();
  for (u32 n = reader.count(); n > 0; --n) log.operations.push_back(wire::get_operation(reader));
  if (!reader.complete()) return garbled();
  return log;
}

Result<bool> Client::synchronize_all(std::chrono::milliseconds patience) {
  return link_->ask_until_done(Opcode::SynchronizeAll, Link::Clock::now() + patience);
}

Result<void> Client::close_clients() {
  TRY(link_->ask_until_done(Opcode::CloseClients, Link::Clock::time_point::max()));
  return {};
}

}  // namespace hipbench::emulator
