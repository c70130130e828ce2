# Vector single-precision arithmetic: rounding, denormals, signed zeros, infinities, NaN, modifiers.
== v_add_f32: rounding to nearest even
v0 = 1f 1f 0x1.000002p0f; v1 = 0x1p-24f 0x1.8p-24f 0x1p-24f
> v_add_f32 v2, v0, v1
v2 = 1f 0x1.000002p0f 0x1.000004p0f
== v_add_f32: special values
v0 = inff inff -0f 0f -0f 0x1.fffffep127f; v1 = -inff 1f -0f -0f 0f 0x1.fffffep127f
> v_add_f32 v2, v0, v1
v2 = nanf inff -0f 0f 0f inff
== v_add_f32: denormals are kept
v0 = 0x1p-149f 0x1p-126f; v1 = 0x1p-149f -0x1p-149f
> v_add_f32 v2, v0, v1
v2 = 0x1p-148f 0x1.fffffcp-127f
== v_sub_f32 and v_subrev_f32
v0 = 3f; v1 = 5f
> v_sub_f32 v2, v0, v1
> v_subrev_f32 v3, v0, v1
v2 = -2f; v3 = 2f
== v_mul_f32
v0 = 0x1p-100f 0x1p100f -0f 0f 0x1.000002p0f; v1 = 0x1p-49f 0x1p100f 5f inff 0x1.000002p0f
> v_mul_f32 v2, v0, v1
v2 = 0x1p-149f inff -0f nanf 0x1.000004p0f
== v_mul_legacy_f32: 0 times anything is 0
v0 = 0f 0f 2f; v1 = inff nanf 3f
> v_mul_legacy_f32 v2, v0, v1
v2 = 0f 0f 6f
== v_fma_f32 rounds once
v0 = 0x1.000002p0f; v1 = 0x1.fffffcp-1f; v2 = -1f
> v_fma_f32 v3, v0, v1, v2
v3 = -0x1p-46f
== v_fmac_f32 adds to the destination
v0 = 2f; v1 = 3f; v2 = 10f
> v_fmac_f32 v2, v0, v1
v2 = 16f
== v_fmamk_f32 and v_fmaak_f32
v0 = 2f; v1 = 3f
> v_fmamk_f32 v2, v0, 0x41200000, v1
> v_fmaak_f32 v3, v0, v1, 0x41200000
v2 = 23f; v3 = 16f
== source modifiers
v0 = -3f; v1 = 2f
> v_add_f32_e64 v2, |v0|, -v1
> v_mul_f32_e64 v3, -|v0|, v1
v2 = 1f; v3 = -6f
== negation of zero and NaN bits by modifiers
v0 = 0f; v1 = -0f
> v_add_f32_e64 v2, -v0, v1
v2 = -0f
== clamp
v0 = 2f -1f 0.25f nanf; v1 = 0f
> v_add_f32_e64 v2, v0, v1 clamp
v2 = 1f 0f 0.25f 0f
== output modifiers need denormals flushed and IEEE mode off
v0 = 3f; v1 = 1f
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0
> v_add_f32_e64 v2, v0, v1 mul:2
> v_add_f32_e64 v3, v0, v1 div:2
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 1
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
v2 = 8f; v3 = 2f
== denormals flushed by MODE
v0 = 0x1p-149f -0x1p-130f 0x1p-100f; v1 = 1f 1f 0x1p-40f
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
> v_mul_f32 v2, v0, v1
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
v2 = 0f -0f 0f
== rounding toward zero by MODE
v0 = 1f -1f; v1 = 0x1.8p-24f -0x1.8p-24f
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
> v_add_f32 v2, v0, v1
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0
v2 = 1f -1f
== rounding up by MODE
v0 = 1f -1f; v1 = 0x1p-30f -0x1p-30f
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
> v_add_f32 v2, v0, v1
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0
v2 = 0x1.000002p0f -1f
== v_min_f32 and v_max_f32
v0 = 1f nanf -0f inff; v1 = 2f 5f 0f -inff
> v_min_f32 v2, v0, v1
> v_max_f32 v3, v0, v1
v2 = 1f 5f -0f -inff; v3 = 2f 5f 0f inff
== v_min3, v_max3, v_med3
v0 = 1f -5f; v1 = 3f 7f; v2 = 2f 6f
> v_min3_f32 v3, v0, v1, v2
> v_max3_f32 v4, v0, v1, v2
> v_med3_f32 v5, v0, v1, v2
v3 = 1f -5f; v4 = 3f 7f; v5 = 2f 6f
== v_med3_f32 with a NaN is the minimum
v0 = nanf; v1 = 3f; v2 = 2f
> v_med3_f32 v3, v0, v1, v2
v3 = 2f
== v_floor, v_ceil, v_trunc, v_rndne
v0 = 2.5f -2.5f 3.5f -0.25f 0x1p24f inff
> v_floor_f32 v1, v0
> v_ceil_f32 v2, v0
> v_trunc_f32 v3, v0
> v_rndne_f32 v4, v0
v1 = 2f -3f 3f -1f 0x1p24f inff
v2 = 3f -2f 4f -0f 0x1p24f inff
v3 = 2f -2f 3f -0f 0x1p24f inff
v4 = 2f -2f 4f -0f 0x1p24f inff
== v_fract_f32
v0 = 2.75f -0.25f -0x1p-40f 5f
> v_fract_f32 v1, v0
v1 = 0.75f 0.75f 0x1.fffffep-1f 0f
== v_frexp
v0 = 12f -0.375f 0x1p-149f 0f inff
> v_frexp_mant_f32 v1, v0
> v_frexp_exp_i32_f32 v2, v0
v1 = 0.75f -0.75f 0.5f 0f inff; v2 = 4 -1 -148 0 0
== v_ldexp_f32
v0 = 1.5f 1f 1f 1.5f 0x1p-149f; v1 = 3 200 -200 -149 149
> v_ldexp_f32 v2, v0, v1
v2 = 12f inff 0f 0x1p-148f 1f
== v_rcp, v_rsq, v_sqrt, exactly representable
v0 = 4f 0.25f inff 0f
> v_rcp_f32 v1, v0
> v_rsq_f32 v2, v0
> v_sqrt_f32 v3, v0
v1 = 0.25f~1 4f~1 0f inff; v2 = 0.5f~1 2f~1 0f inff; v3 = 2f~1 0.5f~1 inff 0f
== v_rcp, v_rsq, v_sqrt of negatives
v0 = -1f -inff -0f
> v_rcp_f32 v1, v0
> v_rsq_f32 v2, v0
> v_sqrt_f32 v3, v0
v1 = -1f~1 -0f -inff; v2 = nanf nanf -inff; v3 = nanf nanf -0f
== v_exp_f32 and v_log_f32 are base 2
v0 = 3f 0.5f 0f -inff inff; v1 = 8f 1f 0f inff -1f
> v_exp_f32 v2, v0
> v_log_f32 v3, v1
v2 = 8f~1 1.41421356f~1 1f 0f inff; v3 = 3f~1 0f -inff inff nanf
== v_sin_f32 and v_cos_f32 take turns
v0 = 0f 0.25f 0.5f inff
> v_sin_f32 v1, v0
> v_cos_f32 v2, v0
v1 = 0f 1f ? nanf; v2 = 1f ? -1f nanf
== v_cubeid and friends
v0 = 1f 1f 1f -3f; v1 = 2f 2f -3f 2f; v2 = 3f -3f 2f 1f
> v_cubeid_f32 v3, v0, v1, v2
> v_cubesc_f32 v4, v0, v1, v2
> v_cubetc_f32 v5, v0, v1, v2
> v_cubema_f32 v6, v0, v1, v2
v3 = 4f 5f 3f 1f; v4 = 1f -1f 1f 1f; v5 = -2f -2f -2f -2f; v6 = 6f -6f -6f -6f
== v_div_scale_f32: nothing to scale
v0 = 3f; v1 = 1f; vcc = -1
> v_div_scale_f32 v2, vcc, v0, v0, v1
v2 = 3f; vcc = 0
== v_div_scale_f32: exponents 96 or more apart
v0 = 1f; v1 = 0x1p100f
> v_div_scale_f32 v2, vcc, v0, v0, v1
> v_div_scale_f32 v3, s[0:1], v1, v0, v1
v2 = 0x1p64f; v3 = 0x1p100f; vcc = -1; s[0:1] = -1
== v_div_fmas_f32 undoes v_div_scale, up or down by 2^64 as the addend's exponent says
v0 = 2f; v1 = 3f; v2 = 1f 2f 1f 2f; vcc = 0x3333333333333333
> v_div_fmas_f32 v3, v0, v1, v2
v3 = 0x1.cp-62f 0x1p67f 7f 8f
== v_div_fixup_f32
v0 = 5f; v1 = 2f 0f 0f inff 3f -2f; v2 = 10f 0f 1f inff inff 10f
> v_div_fixup_f32 v3, v0, v1, v2
v3 = 5f nanf inff nanf inff -5f
== v_div_fixup_f32: zero quotients and NaN
v0 = 5f; v1 = inff 3f nanf 3f; v2 = 1f -0f 1f nanf
> v_div_fixup_f32 v3, v0, v1, v2
v3 = 0f -0f nanf nanf
== v_pk_add_f32, v_pk_mul_f32, v_pk_fma_f32
v0 = 1f; v1 = 2f; v2 = 10f; v3 = 20f; v4 = 100f; v5 = 200f
> v_pk_add_f32 v[10:11], v[0:1], v[2:3]
> v_pk_mul_f32 v[16:17], v[0:1], v[2:3]
> v_pk_fma_f32 v[20:21], v[0:1], v[2:3], v[4:5]
v10 = 11f; v11 = 22f; v16 = 10f; v17 = 40f; v20 = 110f; v21 = 240f
== v_pk_add_f32: op_sel and neg
v0 = 1f; v1 = 2f; v2 = 10f; v3 = 20f
> v_pk_add_f32 v[4:5], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]
> v_pk_add_f32 v[6:7], v[0:1], v[2:3] neg_lo:[1,0] neg_hi:[0,1]
v4 = 12f; v5 = 21f; v6 = 9f; v7 = -18f
== v_pk_mov_b32
v0 = 1; v1 = 2; v2 = 3; v3 = 4
> v_pk_mov_b32 v[4:5], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[0,1]
v4 = 2; v5 = 3
