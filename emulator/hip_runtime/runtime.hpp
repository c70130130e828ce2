#pragma once
// What stands behind the exported HIP functions: the connection to the device server, the buffers, modules, streams and
// events of this process, and HIP's error state. The exported functions (the *_api.cpp files) check arguments and call
// here.
//
// All streams run serially in submission order, which every HIP program must allow for.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/hip_runtime/hip_api.hpp"
#include "emulator/hip_runtime/stream_order.hpp"
#include "emulator/protocol/client.hpp"
#include "emulator/protocol/device_server.hpp"

namespace hipbench::hip {

using emulator::Client;
using emulator::Dim3;
using emulator::KernelInfo;
using emulator::ModuleInfo;
using emulator::u32;
using emulator::u64;

class Runtime;
struct Capture;

// A set of the handles that are alive, so that a stale or wild handle is an error and not a crash.
template <typename T>
class HandleSet {
 public:
  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  bool contains(const T* handle) const {
    const std::lock_guard lock(mutex_);
    return objects_.contains(const_cast<T*>(handle));
  }
  std::unique_ptr<T> remove(T* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  std::vector<T*> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<T*> handles;
    for (const auto& [handle, object] : objects_) handles.push_back(handle);
    return handles;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<T*, std::unique_ptr<T>> objects_;
};

// Buffer::flags of the memory behind a __managed__ variable.
inline constexpr unsigned kManagedVariable = ~0u;

enum class MemoryKind { Device, Host, Managed, Registered };

struct Buffer {
  u64 address = 0, size = 0;  // as the device sees it
  MemoryKind kind = MemoryKind::Device;
  unsigned flags = 0;
  void* host = nullptr;  // as the host sees it; null for device memory
};

// A fat binary that the program registered at start-up, loaded at its first use.
struct FatBinary {
  const void* bundle = nullptr;
  std::mutex mutex;
  std::optional<ihipModule_t*> module;  // null inside: it could not be loaded
  hipError_t failure = hipSuccess;
};

struct Variable {
  FatBinary* binary = nullptr;
  std::string name;
  size_t size = 0;
  void* managed = nullptr;  // where a managed variable lives; null for others
};

// One thing that a stream does: run now, or kept in a graph to be run later.
using Work = std::function<hipError_t(Runtime&)>;

class Runtime {
 public:
  // The process's one runtime, never destroyed: programs call HIP from their own static destructors.
  static Runtime& get();

  // Null when there is no device server; why has then been said on standard error.
  Client* client();

  // --- errors ---
  // Prints the report (once) and remembers a fault: the context is dead from then on.
  hipError_t note(const emulator::OperationFailure& failure);
  hipError_t sticky() const { return sticky_; }
  // What a failed request means: `otherwise`, unless the connection is gone.
  hipError_t failed(const Error& error, hipError_t otherwise);

  // --- buffers ---
  hipError_t allocate(void** pointer, size_t size, MemoryKind kind, unsigned flags);
  hipError_t release(void* pointer, bool host_only);
  hipError_t register_host(void* pointer, size_t size, unsigned flags);
  hipError_t unregister_host(void* pointer);
  // The buffer that holds an address of either side. Also finds buffers that others share with us.
  std::optional<Buffer> find(const void* pointer);
  // The address under which the device sees [pointer, pointer + size), if it does.
  std::optional<u64> device_address(const void* pointer, size_t size);

  // --- modules ---
  hipError_t load(const void* image, size_t size, hipModule_t* module);
  hipError_t unload(hipModule_t module);
  hipError_t load_registered(FatBinary& binary, hipModule_t* module);
  hipError_t function_of(const void* host_function, hipFunction_t* function);
  hipError_t symbol_of(const void* host_variable, u64* address, size_t* size);
  bool valid_function(hipFunction_t function);

  // --- streams ---
  bool valid(hipStream_t stream) const;
  hipError_t wait_for(u64 operation);
  hipError_t synchronize();
  hipError_t reset();
  // Runs the work, or records it if the stream is being captured.
  hipError_t enqueue(hipStream_t stream, hipGraphNodeType type, Work work);
  ihipStream_t* stream_state(hipStream_t stream);  // the default streams share one

  StreamOrder order;
  HandleSet<ihipStream_t> streams;
  HandleSet<ihipEvent_t> events;
  HandleSet<ihipModule_t> modules;
  std::mutex registration_mutex;  // of the next three and of the functions that are loaded
  std::unordered_set<FatBinary*> binaries;
  std::unordered_map<const void*, std::pair<FatBinary*, std::string>> functions;
  std::unordered_map<const void*, Variable> variables;
  std::mutex slot_mutex;  // of the next two
  std::vector<u32> free_slots;
  u32 next_slot = 0;

 private:
  Runtime() = default;
  void connect();
  hipError_t point_managed_variables(FatBinary& binary, const ihipModule_t& module);

  std::once_flag connected_;
  std::optional<emulator::DeviceServer> server_;  // when we started it ourselves
  std::unique_ptr<Client> borrowed_;              // when HIPBENCH_DEVICE_FD names a connection
  Client* client_ = nullptr;
  hipError_t sticky_ = hipSuccess;
  std::mutex buffers_mutex_;
  std::map<u64, Buffer> buffers_;        // by device address
  std::unordered_set<const ihipModuleSymbol_t*> loaded_functions_;
  std::map<u64, u64> registered_;        // host address → device address of registered memory
  std::unique_ptr<ihipStream_t> default_stream_;
};

// HIP's per-thread error state.
hipError_t finish(hipError_t error);
hipError_t last_error(bool reset);
hipError_t last_command_error();

// Every exported function's frame: no exception leaves, the error is remembered, and without a device or after a fault
// the answer is that.
template <typename Body>
hipError_t api(Body body) {
  hipError_t error = hipSuccess;
  try {
    Runtime& runtime = Runtime::get();
    Client* client = runtime.client();
    if (client == nullptr)
      error = hipErrorNoDevice;
    else if (runtime.sticky() != hipSuccess)
      error = runtime.sticky();
    else
      error = body(runtime, *client);
  } catch (const std::bad_alloc&) {
    error = hipErrorOutOfMemory;
  } catch (const std::exception&) {
    error = hipErrorUnknown;
  }
  return finish(error);
}

// For what works without a device.
template <typename Body>
hipError_t host_api(Body body) {
  try {
    return finish(body());
  } catch (const std::exception&) {
    return finish(hipErrorUnknown);
  }
}

// One line on standard error, the same line only once.
void complain_once(const std::string& line);

hipError_t copy(Runtime& runtime, hipStream_t stream, void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                bool wait);

}  // namespace hipbench::hip

// The types that HIP's handles point to.
struct ihipStream_t {
  unsigned flags = 0;
  int priority = 0;
  hipbench::hip::StreamOrder::StreamId id = hipbench::hip::StreamOrder::kDefault;
  std::atomic<hipbench::hip::u64> last_operation{0};
  std::shared_ptr<hipbench::hip::Capture> capture;  // while it is being captured
};

struct ihipEvent_t {
  unsigned flags = 0;
  hipbench::hip::u32 slot = 0;
  bool recorded = false;
  hipbench::hip::u64 operation = 0;
  hipbench::hip::StreamOrder::Clock after;  // what comes before it
  std::weak_ptr<hipbench::hip::Capture> capture;  // recorded inside a capture: waiting on it joins that capture
};

struct ihipModuleSymbol_t {
  hipModule_t module = nullptr;
  const hipbench::hip::KernelInfo* kernel = nullptr;
};

struct ihipModule_t {
  hipbench::hip::ModuleInfo info;
  std::map<std::string, ihipModuleSymbol_t, std::less<>> functions;  // one a kernel
};
