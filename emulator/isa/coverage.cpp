#include "emulator/isa/coverage.hpp"

#include <cstring>
#include <set>

namespace hipbench::emulator {

namespace {

// One encoding: the fixed bits of its first word, where the opcode sits, and the operand patterns to try. A pattern is
// or-ed to the words; some instructions only decode with some operands present.
struct Encoding {
  u32 base, opcode_shift, opcodes;
  std::vector<std::pair<u32, u32>> patterns;  // first word, second word
};

constexpr u32 kV2 = 0x102, kV6 = 0x106, kV8 = 0x108;  // source operand codes of VGPRs
constexpr u32 kSdwa = 0xf9;

std::vector<Encoding> encodings() {
  const u32 vop3_all = kV2 | kV6 << 9 | kV8 << 18, vop3_two = kV2 | kV6 << 9;
  return {
      {0x80000000, 23, 128, {{0x00040002, 0}}},                                        // SOP2, SOPK
      {0xbe800000, 8, 256, {{0x00040002, 0}}},                                         // SOP1
      {0xbf000000, 16, 128, {{0x0402, 0}}},                                            // SOPC
      {0xbf800000, 16, 128, {{0, 0}, {1, 0}}},                                         // SOPP
      {0xc0000000, 18, 256, {{0x00020102, 0}, {0x00020000, 0}, {0x0100, 0}, {0, 0}}},  // SMEM
      {0x00000000, 25, 64, {{4 << 17 | 6 << 9 | kV2, 0x40000000}, {4 << 17 | 6 << 9 | kSdwa, 0x06060602}}},  // VOP2
      {0x7e000000, 9, 256, {{4 << 17 | kV2, 0}, {4 << 17 | kSdwa, 0x00060602}, {0, 0}}},                     // VOP1
      {0x7c000000, 17, 256, {{6 << 9 | kV2, 0}, {6 << 9 | kSdwa, 0x06068602}}},                              // VOPC
      {0xd0000000,
       16,
       1024,
       {{4, vop3_all},
        {0x6a04, vop3_all},
        {4, vop3_two | 8 << 18},
        {4, vop3_two},
        {4, kV2 | 6 << 9},
        {4, kV2},
        {0x404, vop3_two},
        {0x6a04, vop3_two | 0x6a << 18},
        {4, 2 | 6 << 9}}},  // VOP3
      {0xd3800000,
       16,
       128,
       {{0x4004, vop3_all | 0x18000000},
        {0x4004, vop3_two | 0x18000000},
        {0x4004, kV2 | 0x18000000},
        {0x4004, kV2 | 0x08000000},
        {0x4004, kV2},
        {0x4004, vop3_all},
        {0x0004, vop3_all},
        {0x0004, vop3_two | 0x180 << 18}}},  // VOP3P
      {0xd8000000,
       17,
       256,
       {{0, 0x04040402},
        {0, 0x02},
        {0, 0x04000000},
        {0x10000, 0x04040402},
        {0x10000, 0},
        {0, 0x02 | 4 << 8},
        {0, 4 << 8},
        {0, 0}}},  // DS
      {0xdc000000,
       18,
       128,
       {{0, 0x04000402},
        {0x8000, 0x047f0402},
        {0x4000, 0x047f0402},
        {0x6000, 0x047f0402},
        {0x4000, 0x04020400},
        {0, 0x04000002}}},                                                      // FLAT
      {0xe0000000, 18, 128, {{0, 0x80040402}, {0x10000, 0x80040402}, {0, 0}}},  // MUBUF
      {0xe8000000, 15, 16, {{0x00080000, 0x80040402}}},                         // MTBUF
  };
}

}  // namespace

Coverage instruction_coverage(Disassembler& disassembler) {
  std::set<std::string> names;
  for (const Encoding& encoding : encodings())
    for (u32 opcode = 0; opcode < encoding.opcodes; ++opcode)
      for (const auto& [first, second] : encoding.patterns) {
        const u32 words[4] = {encoding.base | opcode << encoding.opcode_shift | first, second, 0, 0};
        std::byte bytes[sizeof words];
        std::memcpy(bytes, words, sizeof words);
        Disassembler::Name name = disassembler.name(bytes, 0);
        if (name.size != 0) names.insert(std::move(name.mnemonic));
      }
  Coverage coverage;
  for (const std::string& name : names) {
    coverage.known.push_back(name);
    if (find_op(name) != nullptr) continue;
    if (const std::string_view reason = reason_left_out(name); !reason.empty())
      coverage.left_out.push_back({name, reason});
    else coverage.missing.push_back(name);
  }
  return coverage;
}

}  // namespace hipbench::emulator
