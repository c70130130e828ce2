#pragma once
// The state of one wave: dumb data that instruction bodies read and write. Registers are structure-of-arrays: the 64
// lanes of a VGPR are contiguous.

#include <cstring>

#include "emulator/isa/code_rules.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/isa/inst.hpp"

namespace hipbench::emulator {

class Program;
struct Workgroup;
class AccessObserver;

// Places of special registers in Wave::sgprs; the numbers are the SGPR operand encodings (CDNA3 ISA, "Scalar
// operands").
inline constexpr u32 kFlatScratch = 102, kXnackMask = 104, kVcc = 106, kTtmp0 = 108, kM0 = 124, kExec = 126;
inline constexpr u32 kVgprs = 512;      // 256 architectural, then 256 accumulation
inline constexpr u32 kAgprBase = 256;

enum class WaveStatus : u8 { Running, Yielded, AtBarrier, Ended };

// MODE register fields.
inline constexpr u32 kModeDefaultFp = 0xf0;  // round to nearest even, no denormal flushed
inline constexpr u32 kModeRoundSingle = 0, kModeRoundDouble = 2, kModeDenormSingle = 4,
                     kModeDenormDouble = 6;  // bit positions
inline constexpr u32 kModeDx10Clamp = 1u << 8, kModeIeee = 1u << 9, kModeFp16Overflow = 1u << 23;
inline constexpr u32 kModeGprIndexEnable = 1u << 27, kModeVskip = 1u << 28;
inline constexpr u32 kModeBranchStack = 29;  // bit position of the stack pointer of s_cbranch_*_fork
inline constexpr u32 kModeUnusualIssue = kModeGprIndexEnable | kModeVskip;

struct Wave {
  explicit Wave(const AddressSpace& space) : memory(space) {}

  u32* vgprs = nullptr;             // [kVgprs][kWaveSize]
  alignas(64) u32 sgprs[128] = {};  // by operand encoding; VCC, M0, EXEC included
  bool scc = false;
  WaveStatus status = WaveStatus::Running;
  u32 mode = kModeDefaultFp | kModeDx10Clamp | kModeIeee;
  bool special_float_mode = false;  // rounding or denormal fields differ from kModeDefaultFp
  const Inst* next = nullptr;       // null: look `pc` up
  u64 pc = 0;                       // guest address of `next`
  i32 spin_budget = 0;              // backward branches left before the wave yields

  Program* program = nullptr;
  Workgroup* group = nullptr;
  AccessObserver* observer = nullptr;  // the memory and race checks; null = none
  std::byte* lds = nullptr;  // of the workgroup
  u32 lds_size = 0;          // bytes allocated to it
  std::byte* scratch = nullptr;  // dword-interleaved: dword d of lane l at ((d * 64) + l) * 4
  u32 scratch_size = 0;          // bytes a lane
  u32 index = 0;                 // in the workgroup
  u32 hw_id = 0, xcc_id = 0;     // as s_getreg reads them: where the wave would run
  u64 clock = 0;  // emulated shader clocks at the wave's last scheduling; s_memtime adds its own instructions
  u64 clock_read = 0;            // what the last clock instruction said; 0 = none was executed
  RegisterCounts registers;      // that the kernel may name
  MemoryView memory;

  u64 counts[kInstClasses] = {};
  u64 mfma_flops = 0, bytes_read = 0, bytes_written = 0, barriers = 0;

  u32* vgpr(u32 register_index) { return vgprs + size_t{register_index} * kWaveSize; }
  u64 scalar64(u32 register_index) const {
    u64 value;
    std::memcpy(&value, &sgprs[register_index], 8);
    return value;
  }
  void set_scalar64(u32 register_index, u64 value) { std::memcpy(&sgprs[register_index], &value, 8); }
  u64 exec() const { return scalar64(kExec); }
  void set_exec(u64 value) { set_scalar64(kExec, value); }
  u64 vcc() const { return scalar64(kVcc); }
  void set_vcc(u64 value) { set_scalar64(kVcc, value); }
  u32 m0() const { return sgprs[kM0]; }

  u64 instructions() const {
    u64 sum = 0;
    for (u64 count : counts) sum += count;
    return sum;
  }
  // Continues at a guest address instead of the following instruction.
  void jump(u64 target) {
    next = nullptr;
    pc = target;
  }
};

// Executes an instruction while MODE has a bit of kModeUnusualIssue. VGPR indexing (GPR_IDX_EN): the vector operands of
// a VALU instruction move by M0[7:0]; M0[15:12] says which (src0, src1, src2, destination). VSKIP: no vector
// instruction is issued.
void execute_unusually(Wave& wave, const Inst& inst);

}  // namespace hipbench::emulator
