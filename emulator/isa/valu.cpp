// Vector ALU: integer and floating-point arithmetic, logic, shifts. CDNA3 ISA, chapter "Vector ALU operations".

#include <cmath>

#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

namespace {

constexpr Op kRows[] = {
    lanes<[](u32 a) { return a; }>("v_mov_b32"),
    lanes<[](f32 a, f32 b) { return a + b; }>("v_add_f32"),
    lanes<[](f32 a, f32 b) { return a * b; }>("v_mul_f32"),
    lanes<[](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }>("v_fma_f32"),
    lanes<[](f32 a, f32 b, Tied<f32> d) { return std::fma(a, b, d.value); }>("v_fmac_f32"),
    lanes<[](u32 a, u32 b) { return a + b; }, [](u32 a, u32 b) { return a + b < a ? ~0u : a + b; }>("v_add_u32"),
    lanes<[](u32 n, u32 a) { return a << (n & 31); }>("v_lshlrev_b32"),
    lanes<[](u32 n, u64 a) { return a << (n & 63); }>("v_lshlrev_b64"),
    lanes<[](u64 a, u32 n, u64 b) { return (a << (n & 7)) + b; }>("v_lshl_add_u64"),
    lanes<[](u32 a, u32 b, bool carry) {
      const u64 sum = u64{a} + b + (carry ? 1u : 0u);
      return WithMask<u32>{static_cast<u32>(sum), sum >> 32 != 0};
    }>("v_addc_co_u32"),
    lanes<[](u32 a, u32 b, bool select) { return select ? b : a; }>("v_cndmask_b32"),
    lanes<[](f32 a, f32 b, f32 c, Vcc scale) { return std::fma(a, b, c) * (scale.value ? 0x1p32f : 1.0f); }>("v_div_fmas_f32"),
};

}  // namespace

std::span<const Op> valu_ops() { return kRows; }

}  // namespace hipbench::emulator
