#include "emulator/protocol/connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "emulator/protocol/messages.hpp"

namespace hipbench::emulator {

using wire::Message;
using wire::Opcode;
using wire::Reader;
using wire::Writer;

namespace {

// What one client may hold. Far above what programs use; there so that a hostile one cannot fill the server's own
// memory.
constexpr size_t kMaxAllocations = 1u << 16;
constexpr size_t kMaxModules = 4096;
constexpr u64 kMaxModuleBytesInAll = u64{1} << 30;
constexpr size_t kMaxLabel = 128;

bool is_queued(Opcode opcode) {
  switch (opcode) {
    case Opcode::Write:
    case Opcode::Fill:
    case Opcode::Copy:
    case Opcode::Launch:
    case Opcode::Timestamp:
    case Opcode::Read:
    case Opcode::Free:
    case Opcode::UnloadModule: return true;
    default: return false;
  }
}

bool is_trusted_only(Opcode opcode) { return opcode >= Opcode::NewClient; }

bool is_hidden(const KernelArgument& argument) { return argument.value_kind.starts_with("hidden_"); }

KernelInfo describe(const Kernel& kernel) {
  KernelInfo info;
  info.name = kernel.name;
  info.demangled = kernel.demangled;
  info.arguments = kernel.arguments;
  info.kernarg_segment_size = kernel.kernarg_segment_size;
  for (const KernelArgument& argument : kernel.arguments)
    if (!is_hidden(argument))
      info.explicit_kernarg_size = std::max(info.explicit_kernarg_size, argument.offset + argument.size);
  info.static_lds = kernel.descriptor.group_segment_fixed_size;
  info.scratch_per_lane = kernel.descriptor.private_segment_fixed_size;
  info.max_flat_workgroup_size = kernel.max_flat_workgroup_size;
  std::copy(std::begin(kernel.required_workgroup_size), std::end(kernel.required_workgroup_size),
            info.required_workgroup_size);
  info.vgprs = kernel.vgpr_count;
  info.agprs = kernel.agpr_count;
  info.sgprs = kernel.sgpr_count;
  info.vgpr_spills = kernel.vgpr_spill_count;
  info.sgpr_spills = kernel.sgpr_spill_count;
  info.allocated_vgprs = kernel.allocated_vgprs();
  info.dynamic_stack = kernel.uses_dynamic_stack;
  return info;
}

}  // namespace

Connection::Connection(Server& server, UniqueFd fd, u32 id, bool trusted)
    : server_(server), fd_(std::move(fd)), id_(id), trusted_(trusted), stream_(*this) {
  wire::enlarge_buffers(fd_.get());
}

Connection::~Connection() {
  shut();
  if (reader_.joinable()) reader_.join();
}

void Connection::start() {
  reader_ = std::thread([this] { read_requests(); });
}

void Connection::shut() { ::shutdown(fd_.get(), SHUT_RDWR); }

void Connection::read_requests() {
  stream_.start();
  while (std::optional<Message> request = wire::receive_message(fd_.get(), wire::kMaxRequest)) {
    const Opcode opcode = request->opcode();
    try {
      if (!handle(std::move(*request))) break;
    } catch (const std::exception& caught) {
      reply_error(opcode, fmt::format("the device server could not do it: {}", caught.what()));
    }
  }
  shut();
  if (trusted_) return;  // the whole process ends now
  stream_.stop();
  give_back();
  ended_ = true;
}

// What a client held goes back when it goes. Its modules first: their code is an allocation too.
void Connection::give_back() {
  const std::lock_guard lock(owned_mutex_);
  for (const auto& [module, bytes] : modules_) (void)server_.device().unload_module(module);
  for (const u64 address : allocations_) (void)server_.memory().free(address);
  modules_.clear();
  allocations_.clear();
}

bool Connection::owns_module(ModuleHandle module) {
  const std::lock_guard lock(owned_mutex_);
  return modules_.contains(module);
}

void Connection::reply(Opcode opcode, const Writer& payload, std::span<const std::byte> body, int attached_fd) {
  const std::lock_guard lock(send_mutex_);
  if (!wire::send_message(fd_.get(), opcode, false, payload.data(), body, attached_fd)) shut();
}

void Connection::reply_error(Opcode opcode, std::string_view message) {
  const std::lock_guard lock(send_mutex_);
  if (!wire::send_message(fd_.get(), opcode, true, std::as_bytes(std::span(message)))) shut();
}

bool Connection::handle(Message request) {
  const Opcode opcode = request.opcode();
  if (opcode == Opcode::Hello) return greet(Reader(request.payload));
  if (!greeted_) return false;
  if (is_queued(opcode)) return stream_.push(std::move(request));
  Reader reader(request.payload);
  if (is_trusted_only(opcode)) {
    if (trusted_) return handle_trusted(opcode, reader);
    reply_error(opcode, "only the process that started the device server may ask for that");
    return true;
  }
  Writer answer;
  switch (opcode) {
    case Opcode::Allocate: allocate(reader, false); return true;
    case Opcode::AllocateShared: allocate(reader, true); return true;
    case Opcode::FindAllocation: find_allocation(reader); return true;
    case Opcode::Progress: progress(reader); return true;
    case Opcode::TimestampValue: timestamp_value(reader); return true;
    case Opcode::ModuleData: return module_data(reader);
    case Opcode::LoadModule: load_module(); return true;
    case Opcode::Occupancy: occupancy(reader); return true;
    case Opcode::ClearFailure: stream_.clear_failure(); break;
    case Opcode::Clock: answer.put(server_.device().clock_ns()); break;
    case Opcode::MemoryInfo:
      answer.put(server_.memory().total() - std::min(server_.memory().total(), server_.memory().used()));
      answer.put(server_.memory().total());
      break;
    default: return false;
  }
  reply(opcode, answer);
  return true;
}

// A second greeting: the program that had the connection ended, and the next one that inherited it (from a shell, say)
// begins.
bool Connection::greet(Reader reader) {
  if (reader.get<u32>() != wire::kHello || reader.get<u32>() != wire::kVersion || !reader.complete()) return false;
  if (greeted_) {
    stream_.reset();
    give_back();
    module_buffer_.clear();
  }
  greeted_ = true;
  Writer hello;
  hello.put(u8{trusted_});
  reply(Opcode::Hello, hello);
  return true;
}

bool Connection::handle_trusted(Opcode opcode, Reader reader) {
  Writer answer;
  switch (opcode) {
    case Opcode::NewClient: {
      Result<UniqueFd> client = server_.add_client();
      if (!client)
        reply_error(opcode, client.error().message);
      else
        reply(opcode, answer, {}, client->get());
      return true;
    }
    case Opcode::SetLimits: {
      const Limits limits = wire::get_limits(reader);
      if (!reader.complete()) return false;
      // From now on, since what was written before cannot be found out later.
      if (limits.check)
        if (const Result<void> tracks = server_.memory().start_tracking(); !tracks) {
          reply_error(opcode, tracks.error().message);
          return true;
        }
      server_.set_limits(limits);
      break;
    }
    case Opcode::DrainLog: {
      const OperationLog log = server_.drain_log();
      answer.put(log.dropped);
      answer.put(static_cast<u32>(log.operations.size()));
      for (const Operation& operation : log.operations) put(answer, operation);
      break;
    }
    // The next two may take as long as a kernel: the client asks again while the answer is "not yet".
    case Opcode::CloseClients:
    case Opcode::SynchronizeAll: {
      bool done = false;
      for (int i = 0; i < 50 && !done; ++i) {
        done = opcode == Opcode::CloseClients ? server_.close_clients() : server_.all_idle();
        if (!done) std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      answer.put(u8{done});
      break;
    }
    default: return false;
  }
  reply(opcode, answer);
  return true;
}

void Connection::allocate(Reader reader, bool shared) {
  const Opcode opcode = shared ? Opcode::AllocateShared : Opcode::Allocate;
  const u64 bytes = reader.get<u64>();
  std::string label = reader.text();
  if (!reader.complete() || bytes == 0) return reply_error(opcode, "an allocation of no bytes");
  label.resize(std::min(label.size(), kMaxLabel));
  const std::lock_guard lock(owned_mutex_);
  if (allocations_.size() >= kMaxAllocations)
    return reply_error(opcode, fmt::format("out of memory: this client already holds {} buffers", kMaxAllocations));
  if (label.empty()) label = fmt::format("buffer of {} bytes", bytes);
  Writer answer;
  if (shared) {
    const Result<AddressSpace::Shared> memory = server_.memory().allocate_shared(bytes, label);
    if (!memory) return reply_error(opcode, memory.error().message);
    allocations_.insert(memory->base);
    answer.put(memory->base);
    return reply(opcode, answer, {}, memory->fd);
  }
  const Result<u64> base = server_.memory().allocate(bytes, label);
  if (!base) return reply_error(opcode, base.error().message);
  server_.memory().track(*base);
  allocations_.insert(*base);
  answer.put(*base);
  reply(opcode, answer);
}

void Connection::release(const Message& request) {
  const Opcode opcode = request.opcode();
  Reader reader(request.payload);
  if (opcode == Opcode::Free) {
    const u64 address = reader.get<u64>();
    {
      const std::lock_guard lock(owned_mutex_);
      if (!reader.complete() || allocations_.erase(address) == 0)
        return reply_error(opcode, fmt::format("{:#x} is not a buffer of this client", address));
    }
    const Result<void> freed = server_.memory().free(address);
    if (!freed) return reply_error(opcode, freed.error().message);
    return reply(opcode, Writer{});
  }
  const ModuleHandle module = reader.get<u32>();
  {
    const std::lock_guard lock(owned_mutex_);
    if (!reader.complete() || modules_.erase(module) == 0)
      return reply_error(opcode, fmt::format("module {} is not loaded by this client", module));
  }
  const Result<void> unloaded = server_.device().unload_module(module);
  if (!unloaded) return reply_error(opcode, unloaded.error().message);
  reply(opcode, Writer{});
}

void Connection::find_allocation(Reader reader) {
  const u64 address = reader.get<u64>();
  const AddressSpace::Pin pin(server_.memory());
  const Allocation* allocation = server_.memory().find(address);
  if (allocation == nullptr) return reply_error(Opcode::FindAllocation, server_.memory().describe(address));
  Writer answer;
  answer.put(allocation->base);
  answer.put(allocation->size);
  answer.put(u8{allocation->base >= kHostSharedBase && allocation->base - kHostSharedBase < kHostSharedSize});
  reply(Opcode::FindAllocation, answer);
}

void Connection::progress(Reader reader) {
  const u64 operation = reader.get<u64>();
  const u32 wait_ms = reader.get<u32>();
  const bool take = reader.get<u8>() != 0;
  const Stream::Progress progress = stream_.progress(operation, wait_ms, take);
  Writer answer;
  answer.put(progress.completed);
  answer.put(u8{progress.failure.has_value()});
  if (progress.failure) put(answer, *progress.failure);
  answer.put(progress.text);
  reply(Opcode::Progress, answer);
}

void Connection::timestamp_value(Reader reader) {
  const std::optional<u64> value = stream_.timestamp(reader.get<u32>());
  Writer answer;
  answer.put(u8{value.has_value()});
  answer.put(value.value_or(0));
  reply(Opcode::TimestampValue, answer);
}

bool Connection::holds_code(std::span<const std::byte> elf) {
  const std::lock_guard lock(owned_mutex_);
  return std::any_of(modules_.begin(), modules_.end(), [&](const auto& owned) {
    const CodeObject* object = server_.device().module(owned.first);
    return object != nullptr && std::ranges::equal(object->elf(), elf);
  });
}

bool Connection::module_data(Reader reader) {
  const std::span<const std::byte> data = reader.rest();
  if (module_buffer_.size() + data.size() > kMaxModuleBytes) return false;
  module_buffer_.insert(module_buffer_.end(), data.begin(), data.end());
  return true;
}

void Connection::load_module() {
  const std::vector<std::byte> code = std::exchange(module_buffer_, {});
  {
    const std::lock_guard lock(owned_mutex_);
    u64 bytes = code.size();
    for (const auto& [module, size] : modules_) bytes += size;
    if (modules_.size() >= kMaxModules || bytes > kMaxModuleBytesInAll)
      return reply_error(Opcode::LoadModule, "out of memory: this client already holds too many modules");
  }
  Device& device = server_.device();
  if (!trusted_ && !server_.may_load(code)) {
    Operation entry;
    entry.client = id_;
    entry.kind = OperationKind::LoadModule;
    entry.bytes = code.size();
    entry.refused = "this code object is not the one that was compiled from the source";
    reply_error(Opcode::LoadModule, entry.refused);
    return server_.log(std::move(entry));
  }
  const Result<ModuleHandle> handle = device.load_module(code);
  if (!handle) return reply_error(Opcode::LoadModule, handle.error().message);
  {
    const std::lock_guard lock(owned_mutex_);
    modules_[*handle] = code.size();
  }
  ModuleInfo info;
  info.handle = *handle;
  const CodeObject* object = device.module(*handle);
  for (const Kernel& kernel : object->kernels()) info.kernels.push_back(describe(kernel));
  for (const GlobalSymbol& symbol : object->globals())
    if (const std::optional<u64> address = device.global_address(*handle, symbol.name))
      info.globals.push_back({symbol.name, *address, symbol.size});
  info.warnings = device.module_warnings(*handle);
  if (trusted_) info.instructions = device.module_instructions(*handle);
  Writer answer;
  put(answer, info);
  if (answer.data().size() > wire::kMaxReply) {
    info.warnings.resize(std::min<size_t>(info.warnings.size(), 1000));
    Writer shorter;
    put(shorter, info);
    return reply(Opcode::LoadModule, shorter);
  }
  reply(Opcode::LoadModule, answer);
}

void Connection::occupancy(Reader reader) {
  const ModuleHandle module = reader.get<u32>();
  const std::string kernel = reader.text();
  const u32 block_size = reader.get<u32>(), dynamic_lds = reader.get<u32>();
  if (!reader.complete() || !owns_module(module)) return reply_error(Opcode::Occupancy, "no such module");
  const Result<u32> workgroups = server_.device().occupancy(module, kernel, block_size, dynamic_lds);
  if (!workgroups) return reply_error(Opcode::Occupancy, workgroups.error().message);
  Writer answer;
  answer.put(*workgroups);
  reply(Opcode::Occupancy, answer);
}

}  // namespace hipbench::emulator
