#pragma once
// A connection to the device server: what a process that is not the GPU can ask of the emulated GPU. The judge holds
// the trusted connection, a candidate's process holds an untrusted one (through the drop-in libamdhip64).
//
// Stream operations (launch, write, fill, copy, timestamp) are queued and return at once; they run in submission order,
// one connection's after the other. read() and synchronize() wait for all that this connection submitted before.
// Allocation and queries do not wait. What goes wrong in a queued operation shows at the next synchronize(). All calls
// are thread-safe.
//
// An Error from any call means that the request was refused (the message says why), or, if connected() is false
// afterwards, that the server is gone.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "emulator/device/device.hpp"

namespace hipbench::emulator {

// What a client may know of a loaded kernel. The fields of loader/code_object.hpp, without the code.
struct KernelInfo {
  std::string name, demangled;
  std::vector<KernelArgument> arguments;  // explicit, then hidden ("hidden_…")
  u32 kernarg_segment_size = 0;
  u32 explicit_kernarg_size = 0;  // bytes up to the end of the last explicit argument
  u32 static_lds = 0, scratch_per_lane = 0;  // bytes
  u32 max_flat_workgroup_size = 1024;
  u32 required_workgroup_size[3] = {0, 0, 0};  // 0 = none required
  u32 vgprs = 0, agprs = 0, sgprs = 0, vgpr_spills = 0, sgpr_spills = 0;
  u32 allocated_vgprs = 0;  // of the unified file, per lane
  bool dynamic_stack = false;
};

struct GlobalInfo {
  std::string name;
  u64 address = 0, size = 0;
};

struct ModuleInfo {
  ModuleHandle handle = 0;
  std::vector<KernelInfo> kernels;
  std::vector<GlobalInfo> globals;
  std::vector<std::string> warnings;  // instructions without a row, each with its source line
  std::vector<InstructionUse> instructions;  // for trusted connections only
  const KernelInfo* find_kernel(std::string_view name) const;
  const GlobalInfo* find_global(std::string_view name) const;
};

// Why a queued operation did not do its work.
struct OperationFailure {
  FaultReport report;    // for a fault: who and where; for a refusal only message and kernel
  std::string text;      // the report for people, several lines
  bool refused = false;  // it never started (bad range, too many work-items, …). Reported once, later operations go on.
                         // false: a guest fault. Later operations of this connection are skipped until clear_failure().
};

enum class OperationKind : u8 { Launch, Write, Read, Fill, Copy, Timestamp, LoadModule };

// One entry of the server's log: what happened on the device, whoever asked for it, in the order in which it happened.
struct Operation {
  u64 sequence = 0;  // counts every operation since the server started
  u32 client = 0;    // 0 = the trusted connection, then in order of creation
  OperationKind kind = OperationKind::Launch;
  u64 address = 0, source = 0, bytes = 0;  // of a Write, Read, Fill or Copy
  u32 timestamp_slot = 0;
  ModuleHandle module = 0;  // of a launch, from here on
  std::string kernel;
  Dim3 grid, block;
  u32 dynamic_lds = 0;
  LaunchResult result;
  std::string refused;           // not empty: it could not start, and why
  u64 start_ns = 0, end_ns = 0;  // device clock
};

struct OperationLog {
  std::vector<Operation> operations;  // all clients', oldest first, since the last drain
  u64 dropped = 0;  // operations that found the log full. Not 0: the log proves nothing, treat as failed.
};

// What may be used. 0 = no limit.
struct Limits {
  u64 instructions_per_launch = 0;  // wave instructions; of untrusted connections
  u64 instructions_in_all = 0;      // summed over all launches since set_limits, whoever's they are
  // Untrusted connections may load only the code objects that the trusted one has loaded as well; what is refused is
  // logged.
  bool known_code_only = false;
  bool check = false;               // run the launches of untrusted connections with the memory and race checks
  bool time = false;                // model the time that they would take, and that of fills and copies
  bool no_eight_bit_math = false;   // see LaunchRequest; for untrusted connections
  u64 timing_secret = 0;            // see LaunchRequest; of all launches
};

struct MemoryInfo {
  u64 free_bytes = 0, total_bytes = 0;
};

struct AllocationInfo {
  u64 base = 0, size = 0;
  bool shared = false;  // host memory at the same address
};

class Client {
 public:
  // The other end must be a device server. Takes the handshake, so a wrong descriptor is an Error here.
  static Result<std::unique_ptr<Client>> connect(UniqueFd fd);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool trusted() const { return trusted_; }
  bool connected() const;

  // Device memory. The label appears in fault reports. free() waits for the launch that runs, whoever started it.
  Result<u64> allocate(u64 bytes, std::string label = {});
  Result<void> free(u64 address);
  // Memory that both sides see at the same address, mapped here on return. Freed by free().
  Result<void*> allocate_shared(u64 bytes, std::string label = {});
  Result<MemoryInfo> memory_info();
  Result<AllocationInfo> find_allocation(u64 address);  // whichever client's; an Error if there is none

  // Queued.
  Result<void> write(u64 address, std::span<const std::byte> data);
  Result<void> write_rows(u64 address, u64 pitch, const std::byte* data, u64 data_pitch, u64 width, u64 rows);
  Result<void> fill(u64 address, u32 value, u32 value_size, u64 count);  // value_size 1, 2 or 4 bytes; count values
  Result<void> fill_rows(u64 address, u64 pitch, u32 value, u32 value_size, u64 count, u64 rows);
  Result<void> copy(u64 to, u64 from, u64 bytes);
  Result<void> copy_rows(u64 to, u64 to_pitch, u64 from, u64 from_pitch, u64 width, u64 rows);
  // LaunchRequest's instruction_limit, check, time and no_eight_bit_math are the trusted connection's to use; for the
  // others Limits says them.
  Result<void> launch(const LaunchRequest& request);
  // Notes the device clock in a numbered slot (below kMaxTimestampSlots) once all before it is done.
  Result<void> timestamp(u32 slot);

  // Waits for what was submitted before.
  Result<void> read(u64 address, std::span<std::byte> data);
  Result<void> read_rows(std::byte* data, u64 data_pitch, u64 address, u64 pitch, u64 width, u64 rows);
  // Empty = all is well. A refusal is reported once; a fault again and again until clear_failure().
  Result<std::optional<OperationFailure>> synchronize();
  Result<void> clear_failure();

  // Does not wait. submitted() numbers the last queued operation; completed() the last one that is done.
  u64 submitted() const;
  Result<u64> completed();
  Result<std::optional<OperationFailure>> wait_for(u64 operation);
  // Device clock noted in a slot, empty while its timestamp() has not been reached.
  Result<std::optional<u64>> timestamp_value(u32 slot);

  Result<ModuleInfo> load_module(std::span<const std::byte> code);
  Result<void> unload_module(ModuleHandle module);
  Result<u32> occupancy(ModuleHandle module, std::string_view kernel, u32 block_size, u32 dynamic_lds);
  Result<u64> clock_ns();

  // Receives the text that this connection's launches printed, at every waiting call, in order. It must not call the
  // Client. Without a handler the text is lost.
  void set_print_handler(std::function<void(std::string_view)> handler);

  // Trusted connections only.
  Result<UniqueFd> new_client_fd();  // a fresh untrusted connection: hand it to a child by number, HIPBENCH_DEVICE_FD
  Result<void> set_limits(const Limits& limits);
  Result<OperationLog> drain_log();  // does not wait: synchronize() first, or ask once the other clients have ended
  // Waits until every connection's queue is empty, but no longer than `patience`: false if one is not by then.
  Result<bool> synchronize_all(std::chrono::milliseconds patience);
  // Closes every untrusted connection and frees what it held; an operation that runs is finished first.
  Result<void> close_clients();

 private:
  struct Link;
  explicit Client(std::unique_ptr<Link> link);
  std::unique_ptr<Link> link_;
  bool trusted_ = false;
};

inline constexpr u32 kMaxTimestampSlots = 1u << 20;
inline constexpr u64 kMaxModuleBytes = u64{256} << 20;
inline constexpr u32 kMaxKernargBytes = 1u << 16;

}  // namespace hipbench::emulator
