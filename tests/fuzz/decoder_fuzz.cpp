// Any bytes as instructions: each is decoded, and its text parsed, one after the other.
#include "emulator/isa/decode.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hipbench::emulator;
  static Disassembler disassembler;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const std::unique_ptr<Inst> inst = decode(disassembler, bytes.subspan(at), 0x1000 + at);
    if (inst == nullptr || inst->execute == nullptr) __builtin_trap();
    at += inst->size < 4 ? 4 : inst->size;
  }
  return 0;
}
