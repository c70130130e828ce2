// Code objects, bundles and compressed bundles of any bytes: parsed, loaded, asked for source lines.
#include <memory>

#include "emulator/loader/code_object.hpp"
#include "emulator/memory/address_space.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {
hipbench::emulator::AddressSpace& address_space() {
  static const auto space = hipbench::emulator::AddressSpace::create(uint64_t{256} << 20).value();
  return *space;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hipbench::emulator;
  const auto object = CodeObject::parse(std::as_bytes(std::span(data, size)));
  if (!object) return 0;
  for (const Kernel& kernel : (*object)->kernels()) {
    (void)kernel.allocated_vgprs();
    (void)kernel.accum_offset();
    (void)(*object)->source_location(kernel.entry_offset);
    (void)(*object)->find_kernel(kernel.name);
  }
  for (const CodeObject::CodeRange& range : (*object)->code_ranges())
    (void)(*object)->source_location(range.offset + range.size / 2);
  if (const auto base = (*object)->load(address_space())) (void)address_space().free(*base);
  return 0;
}
