#include "emulator/hip_runtime/runtime.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace hipbench::hip {

using emulator::FaultKind;
using emulator::OperationFailure;

namespace {

thread_local hipError_t t_last_error = hipSuccess;
thread_local hipError_t t_last_command_error = hipSuccess;

// The server's program lies one folder above this library (build/lib), or beside it.
std::filesystem::path server_program() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&server_program), &self) == 0 || self.dli_fname == nullptr) return {};
  std::error_code failed;
  const std::filesystem::path library = std::filesystem::canonical(self.dli_fname, failed);
  if (failed) return {};
  for (const auto& folder : {library.parent_path().parent_path(), library.parent_path()})
    if (std::filesystem::exists(folder / "hipbench-device", failed)) return folder / "hipbench-device";
  return library.parent_path().parent_path() / "hipbench-device";
}

std::optional<int> inherited_connection() {
  const char* text = std::getenv("HIPBENCH_DEVICE_FD");
  if (text == nullptr || *text == 0) return std::nullopt;
  int fd = -1;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, fd).ptr != end) fd = -1;
  return fd;
}

hipError_t error_of(const OperationFailure& failure) {
  if (failure.refused) return failure.text.starts_with("out of memory") ? hipErrorOutOfMemory : hipErrorLaunchFailure;
  switch (failure.report.kind) {
    case FaultKind::OutOfBounds:
    case FaultKind::Misaligned:
    case FaultKind::WriteToReadOnly: return hipErrorIllegalAddress;
    case FaultKind::InstructionLimit:
    case FaultKind::Deadlock: return hipErrorLaunchTimeOut;
    case FaultKind::OutOfMemory: return hipErrorOutOfMemory;
    default: return hipErrorLaunchFailure;
  }
}

constexpr u64 kPage = 4096;

}  // namespace

hipError_t finish(hipError_t error) {
  t_last_command_error = error;
  // "Not ready" is an answer, not an error that anybody wants to find later.
  if (error != hipSuccess && error != hipErrorNotReady) t_last_error = error;
  return error;
}

hipError_t last_error(bool reset) {
  const hipError_t error = t_last_error;
  if (reset) t_last_error = hipSuccess;
  return error;
}

hipError_t last_command_error() { return std::exchange(t_last_command_error, hipSuccess); }

void complain_once(const std::string& line) {
  static std::mutex* mutex = new std::mutex;
  static auto* said = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (said->size() < 1000 && said->insert(line).second) fmt::print(stderr, "hipbench: {}\n", line);
}

Runtime& Runtime::get() {
  static Runtime* runtime = new Runtime;
  return *runtime;
}

Client* Runtime::client() {
  std::call_once(connected_, [this] { connect(); });
  return client_;
}

void Runtime::connect() {
  default_stream_ = std::make_unique<ihipStream_t>();
  if (const std::optional<int> fd = inherited_connection()) {
    // The descriptor stays open for programs that this one starts (a shell, a test driver): the connection is theirs in
    // turn.
    Result<std::unique_ptr<Client>> client = Client::connect(UniqueFd(::fcntl(*fd, F_DUPFD_CLOEXEC, 3)));
    if (!client) return complain_once("HIPBENCH_DEVICE_FD names no device server: " + client.error().message);
    borrowed_ = std::move(client).value();
    client_ = borrowed_.get();
  } else {
    emulator::DeviceServerOptions options;
    options.program = server_program();
    options.detached = true;
    Result<emulator::DeviceServer> server = emulator::DeviceServer::start(options);
    if (!server) return complain_once(server.error().message);
    server_.emplace(std::move(server).value());
    client_ = &server_->trusted();
  }
  client_->set_print_handler([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  // What kernels printed, and a fault that nobody asked for, still come out when the program ends.
  std::atexit([] {
    Runtime& runtime = Runtime::get();
    if (runtime.sticky() == hipSuccess) (void)runtime.synchronize();
    std::fflush(stdout);
  });
}

hipError_t Runtime::note(const OperationFailure& failure) {
  const hipError_t error = error_of(failure);
  if (!failure.refused) {
    if (sticky_ != hipSuccess) return sticky_;
    sticky_ = error;
  }
  std::fflush(stdout);
  complain_once(failure.text);
  return error;
}

hipError_t Runtime::failed(const Error& error, hipError_t otherwise) {
  if (client_->connected()) return otherwise;
  complain_once(error.message);
  sticky_ = hipErrorDeinitialized;
  return sticky_;
}

// --- buffers ---

hipError_t Runtime::allocate(void** pointer, size_t size, MemoryKind kind, unsigned flags) {
  if (pointer == nullptr) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return hipSuccess;
  Buffer buffer;
  buffer.size = size;
  buffer.kind = kind;
  buffer.flags = flags;
  // What fault reports call it: the number counts this process's allocations, in order.
  static std::atomic<u64> count{0};
  const char* names[] = {"hipMalloc", "hipHostMalloc", "hipMallocManaged"};
  const std::string label = fmt::format("{} #{}", names[static_cast<int>(kind)], ++count);
  if (kind == MemoryKind::Device) {
    Result<u64> address = client_->allocate(size, label);
    if (!address) return failed(address.error(), hipErrorOutOfMemory);
    buffer.address = *address;
  } else {
    Result<void*> shared = client_->allocate_shared(size, label);
    if (!shared) return failed(shared.error(), hipErrorOutOfMemory);
    buffer.host = *shared;
    buffer.address = reinterpret_cast<u64>(*shared);
  }
  *pointer = reinterpret_cast<void*>(buffer.address);
  const std::lock_guard lock(buffers_mutex_);
  buffers_[buffer.address] = buffer;
  return hipSuccess;
}

hipError_t Runtime::release(void* pointer, bool host_only) {
  if (pointer == nullptr) return hipSuccess;
  const u64 address = reinterpret_cast<u64>(pointer);
  {
    const std::lock_guard lock(buffers_mutex_);
    const auto found = buffers_.find(address);
    if (found == buffers_.end() || found->second.kind == MemoryKind::Registered) return hipErrorInvalidValue;
    if (host_only && found->second.kind == MemoryKind::Device) return hipErrorInvalidValue;
    buffers_.erase(found);
  }
  const Result<void> freed = client_->free(address);
  return freed ? hipSuccess : failed(freed.error(), hipErrorInvalidValue);
}

// The host's pages are replaced by shared ones, in place, with their content: the program keeps its pointer, the device
// sees the same bytes. Whole pages, so the neighbours on the first and last page move along.
hipError_t Runtime::register_host(void* pointer, size_t size, unsigned flags) {
  const u64 first = reinterpret_cast<u64>(pointer) / kPage * kPage;
  const u64 last = (reinterpret_cast<u64>(pointer) + size + kPage - 1) / kPage * kPage;
  const u64 span = last - first;
  {
    const std::lock_guard lock(buffers_mutex_);
    const auto next = registered_.lower_bound(first);
    if (next != registered_.end() && next->first < last) return hipErrorHostMemoryAlreadyRegistered;
    if (next != registered_.begin()) {
      const auto& [host, device] = *std::prev(next);
      if (host + buffers_[device].size > first) return hipErrorHostMemoryAlreadyRegistered;
    }
  }
  Result<void*> shared = client_->allocate_shared(span, "hipHostRegister");
  if (!shared) return failed(shared.error(), hipErrorOutOfMemory);
  std::memcpy(*shared, reinterpret_cast<void*>(first), span);
  // A duplicate of the shared mapping, moved over the program's pages in one step.
  void* duplicate = ::mremap(*shared, 0, span, MREMAP_MAYMOVE);
  if (duplicate == MAP_FAILED ||
      ::mremap(duplicate, span, span, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(first)) == MAP_FAILED) {
    (void)client_->free(reinterpret_cast<u64>(*shared));
    return hipErrorOutOfMemory;
  }
  const std::lock_guard lock(buffers_mutex_);
  const u64 address = reinterpret_cast<u64>(*shared);
  buffers_[address] = Buffer{address, span, MemoryKind::Registered, flags, reinterpret_cast<void*>(first)};
  registered_[first] = address;
  return hipSuccess;
}

hipError_t Runtime::unregister_host(void* pointer) {
  Buffer buffer;
  {
    const std::lock_guard lock(buffers_mutex_);
    const auto found = registered_.find(reinterpret_cast<u64>(pointer) / kPage * kPage);
    if (found == registered_.end()) return hipErrorHostMemoryNotRegistered;
    buffer = buffers_[found->second];
    buffers_.erase(found->second);
    registered_.erase(found);
  }
  if (const hipError_t error = synchronize(); error != hipSuccess) return error;
  // Private pages again, with the content of the shared ones.
  void* pages = ::mmap(nullptr, buffer.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return hipErrorOutOfMemory;
  std::memcpy(pages, reinterpret_cast<void*>(buffer.address), buffer.size);
  if (::mremap(pages, buffer.size, buffer.size, MREMAP_MAYMOVE | MREMAP_FIXED, buffer.host) == MAP_FAILED)
    return hipErrorOutOfMemory;
  const Result<void> freed = client_->free(buffer.address);
  return freed ? hipSuccess : failed(freed.error(), hipErrorUnknown);
}

std::optional<Buffer> Runtime::find(const void* pointer) {
  u64 address = reinterpret_cast<u64>(pointer);
  {
    const std::lock_guard lock(buffers_mutex_);
    const auto registered = registered_.upper_bound(address);
    if (registered != registered_.begin()) {
      const auto& [host, device] = *std::prev(registered);
      if (address - host < buffers_[device].size) address = device + (address - host);
    }
    const auto next = buffers_.upper_bound(address);
    if (next != buffers_.begin()) {
      const Buffer& buffer = std::prev(next)->second;
      if (address - buffer.address < buffer.size) return buffer;
    }
  }
  const bool device_range =
      address >= emulator::kDeviceMemoryBase && address < emulator::kHostSharedBase + emulator::kHostSharedSize;
  if (!device_range) return std::nullopt;
  // Not ours: a module's variable, or a buffer that the process which started the server handed us.
  const Result<emulator::AllocationInfo> info = client_->find_allocation(address);
  if (!info || info->shared) return std::nullopt;
  return Buffer{info->base, info->size, MemoryKind::Device, 0, nullptr};
}

std::optional<u64> Runtime::device_address(const void* pointer, size_t size) {
  const std::optional<Buffer> buffer = find(pointer);
  if (!buffer) return std::nullopt;
  u64 offset = reinterpret_cast<u64>(pointer) - buffer->address;
  if (buffer->kind == MemoryKind::Registered && offset >= buffer->size)
    offset = reinterpret_cast<u64>(pointer) - reinterpret_cast<u64>(buffer->host);
  if (buffer->size - offset < size) return std::nullopt;
  return buffer->address + offset;
}

// --- waiting ---

hipError_t Runtime::wait_for(u64 operation) {
  const Result<std::optional<OperationFailure>> failure = client_->wait_for(operation);
  if (!failure) return failed(failure.error(), hipErrorUnknown);
  return *failure ? note(**failure) : hipSuccess;
}

hipError_t Runtime::synchronize() {
  const hipError_t error = wait_for(client_->submitted());
  order.host_waited_for_all();
  return error;
}

hipError_t Runtime::reset() {
  (void)client_->synchronize();
  for (hipModule_t module : modules.all()) (void)unload(module);
  {
    const std::lock_guard lock(registration_mutex);
    for (FatBinary* binary : binaries) {
      const std::lock_guard binary_lock(binary->mutex);
      binary->module.reset();
    }
  }
  std::vector<Buffer> all;
  {
    const std::lock_guard lock(buffers_mutex_);
    for (const auto& [address, buffer] : buffers_) all.push_back(buffer);
  }
  for (const Buffer& buffer : all) {
    // Managed variables live as long as the program's pointer to them.
    if (buffer.kind == MemoryKind::Registered)
      (void)unregister_host(buffer.host);
    else if (buffer.flags != kManagedVariable)
      (void)release(reinterpret_cast<void*>(buffer.address), false);
  }
  (void)client_->clear_failure();
  sticky_ = hipSuccess;
  return hipSuccess;
}

// --- streams ---

bool Runtime::valid(hipStream_t stream) const {
  return stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread || streams.contains(stream);
}

ihipStream_t* Runtime::stream_state(hipStream_t stream) {
  if (stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread) return default_stream_.get();
  return stream;
}

}  // namespace hipbench::hip
