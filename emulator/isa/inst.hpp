#pragma once
// A decoded instruction. Whatever its encoding (e32, e64, SDWA, DPP) it becomes one Inst whose operands carry their
// modifiers, so that an instruction's semantics are written once. Made by isa/decode, executed through `execute`;
// executing never parses.

#include <atomic>
#include <memory>
#include <string>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct Wave;
struct Inst;
struct Op;
using Execute = void (*)(Wave&, const Inst&);

// How the bits of an operand are read. Decides how inline constants and literals become bits.
enum class OperandType : u8 {
  None,
  B16, F16, Bf16,  // low half of a dword register
  B32, F32,
  B64, I64, F64,   // I64: a literal is sign-extended; F64: a literal is the upper half
  PackedF16,       // two halves of one dword; an inline constant sits in the low half
  PackedF32,       // two dwords
  Mask,            // a lane mask: SGPR pair, VCC or EXEC
  Wide,            // as many dwords as the text says (memory data, MFMA tuples)
};

enum class OperandKind : u8 {
  None,
  Vgpr,      // index 0–255 architectural, 256–511 accumulation registers
  Scalar,    // index into Wave::sgprs: SGPRs, VCC, M0, EXEC, TTMPs, FLAT_SCRATCH, XNACK_MASK
  Constant,  // bits in `constant`
  Scc, Vccz, Execz,
  LdsDirect,
  Off,       // the word "off" in addresses
};

enum class SdwaSelect : u8 { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };
enum class SdwaUnused : u8 { Pad, SignExtend, Preserve };

struct Operand {
  OperandKind kind = OperandKind::None;
  OperandType type = OperandType::None;
  u16 index = 0;
  u16 dwords = 0;      // registers in the text's range
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;  // SDWA sext()
  SdwaSelect select = SdwaSelect::Dword;
  u64 constant = 0;

  bool is_vgpr() const { return kind == OperandKind::Vgpr; }
  bool is_scalar() const { return kind == OperandKind::Scalar; }
};

// Data-parallel primitives: where a lane's src0 comes from.
enum class DppControl : u8 {
  QuadPerm,
  RowShl,
  RowShr,
  RowRor,
  WaveShl,
  WaveRol,
  WaveShr,
  WaveRor,
  RowMirror,
  RowHalfMirror,
  RowBcast15,
  RowBcast31,
  RowNewBcast,
};

struct Dpp {
  DppControl control = DppControl::QuadPerm;
  u8 amount = 0;             // shift, rotation or source lane
  u8 quad[4] = {0, 1, 2, 3};
  u8 row_mask = 0xf, bank_mask = 0xf;
  bool bound_control = false;  // lanes without a source read 0 instead of being disabled
};

struct Modifiers {
  bool clamp = false;
  u8 omod = 0;  // 0 none, 1 *2, 2 *4, 3 /2
  u8 op_sel = 0, op_sel_hi = 0, neg_lo = 0,
     neg_hi = 0;  // bit k: source k; op_sel bit 3 (or after the last source): destination
  bool op_sel_given = false, op_sel_hi_given = false;
  u8 cbsz = 0, abid = 0, blgp = 0;
  bool sc0 = false, sc1 = false, nt = false, lds = false, gds = false, offen = false, idxen = false, tfe = false;
  bool sdwa = false;
  SdwaSelect destination_select = SdwaSelect::Dword;
  SdwaUnused destination_unused = SdwaUnused::Pad;
  i32 offset = 0;           // memory: byte offset; ds two-address forms: offset0
  i32 offset1 = 0;          // ds two-address forms
  i32 format = 0;           // MTBUF
};

// The issue classes of CDNA3 (rocprofiler-compute's pipeline descriptions).
enum class InstClass : u8 { Valu, Salu, Smem, Vmem, Lds, Mfma, Branch, Other };
inline constexpr u32 kInstClasses = 8;

inline constexpr u32 kMaxOperands = 6;

// What executing needs of an instruction whatever it does comes first: it shares a cache line.
struct alignas(64) Inst {
  Execute execute = nullptr;
  // A run is a row of instructions without effect on the flow of the program (isa/program.cpp): executing it looks at
  // nothing else. run_next is the next one of the run that has an effect, null after the last; run_exit is where the
  // run ends.
  const Inst* run_next = nullptr;
  const Inst* run_exit = nullptr;
  u16 run_length = 0;                    // instructions from this one to the end of the run; 0: not part of a run
  u16 run_counts[kInstClasses] = {};     // the same by class
  const Inst* following = nullptr;  // the next one in memory if already decoded with this one
  const Op* op = nullptr;
  u64 pc = 0;                       // guest address
  u64 target = 0;                   // guest address of a direct branch
  InstClass cls = InstClass::Other;
  u8 size = 0;                      // bytes
  u8 operand_count = 0;
  i16 simm16 = 0;                   // low half of the first word: SOPP and SOPK immediates
  u32 words[4] = {0, 0, 0, 0};      // as encoded
  Operand operands[kMaxOperands];   // in assembler order, destinations first
  Modifiers mods;
  std::unique_ptr<Dpp> dpp;
};

}  // namespace hipbench::emulator
