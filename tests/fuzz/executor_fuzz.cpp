// Any bytes as the code of a kernel: it ends, by itself, by a fault or at the instruction limit, and touches nothing
// but its buffer. The first byte chooses the launch: bit 0 checks, bit 1 two workgroups, bit 2 a workgroup of three
// waves.
#include <elf.h>

#include <algorithm>

#include "emulator/device/device.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace hipbench::emulator;

constexpr uint64_t kBufferBytes = 4096;
constexpr uint64_t kInstructionLimit = 20'000;

// The host program: a kernel whose place in the file is filled with the input.
class Host {
 public:
  Host() : elf_(hipbench::fuzz::device_code("fuzz.elf")) {
    DeviceOptions options;
    options.threads = 1;
    options.resident_budget = uint64_t{512} << 20;
    options.print = [](std::string_view) {};
    device_ = Device::create(std::move(options)).value();
    const auto object = CodeObject::parse(std::as_bytes(std::span(elf_))).value();
    const Kernel* kernel = object->find_kernel("fuzz");
    if (kernel == nullptr) __builtin_trap();
    find_code(kernel->entry_offset);
    buffer_ = device_->memory().allocate(kBufferBytes, "buffer").value();
    guard_ = device_->memory().allocate(kBufferBytes, "not the kernel's", false).value();
  }

  void run(uint8_t choice, std::span<const uint8_t> code) {
    std::string elf = elf_;
    std::copy_n(code.begin(), std::min<size_t>(code.size(), room_), elf.begin() + static_cast<ptrdiff_t>(place_));
    const auto module = device_->load_module(std::as_bytes(std::span(elf)));
    if (!module) return;
    std::byte* const host = device_->memory().host_range(buffer_, kBufferBytes).value();
    for (uint64_t k = 0; k < kBufferBytes; ++k) host[k] = static_cast<std::byte>(k * 7);
    LaunchRequest request;
    request.module = *module;
    request.kernel = "fuzz";
    request.check = (choice & 1) != 0;
    request.grid = {(choice & 2) != 0 ? 2u : 1u, 1, 1};
    request.block = {(choice & 4) != 0 ? 192u : 64u, 1, 1};
    request.instruction_limit = kInstructionLimit;
    request.kernargs.resize(2 * sizeof(uint64_t));
    std::memcpy(request.kernargs.data(), &buffer_, sizeof buffer_);
    std::memcpy(request.kernargs.data() + sizeof buffer_, &guard_, sizeof guard_);
    const auto result = device_->launch(request);
    if (result) (void)result->fault.to_string();
    const std::byte* const guard = device_->memory().host_range(guard_, kBufferBytes).value();
    if (std::any_of(guard, guard + kBufferBytes, [](std::byte b) { return b != std::byte{0}; })) __builtin_trap();
    if (!device_->unload_module(*module)) __builtin_trap();
  }

 private:
  // Where the segment that holds `address` lies in the file; the room is what the kernel's own code took.
  void find_code(uint64_t address) {
    Elf64_Ehdr header;
    std::memcpy(&header, elf_.data(), sizeof header);
    for (unsigned k = 0; k < header.e_phnum; ++k) {
      Elf64_Phdr segment;
      std::memcpy(&segment, elf_.data() + header.e_phoff + k * sizeof segment, sizeof segment);
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      place_ = segment.p_offset + (address - segment.p_vaddr);
      room_ = segment.p_filesz - (address - segment.p_vaddr);
    }
    if (room_ < 256) __builtin_trap();
  }

  std::string elf_;
  std::unique_ptr<Device> device_;
  uint64_t place_ = 0, room_ = 0;
  uint64_t buffer_ = 0, guard_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Host host;
  hipbench::fuzz::Input input(data, size);
  const auto choice = input.take<uint8_t>();
  host.run(choice, input.take_rest());
  return 0;
}
