# Vector double-precision arithmetic.
== v_add_f64, v_mul_f64
v[0:1] = 1d 0x1p-1074d infd; v[2:3] = 0x1.8p-53d 0x1p-1074d -infd
> v_add_f64 v[4:5], v[0:1], v[2:3]
> v_mul_f64 v[6:7], v[0:1], v[2:3]
v[4:5] = 0x1.0000000000001p0d 0x1p-1073d nand; v[6:7] = 0x1.8p-53d 0d -infd
== v_fma_f64 rounds once
v[0:1] = 0x1.0000000000001p0d; v[2:3] = 0x1.ffffffffffffep-1d; v[4:5] = -1d
> v_fma_f64 v[6:7], v[0:1], v[2:3], v[4:5]
v[6:7] = -0x1p-104d
== v_fmac_f64
v[0:1] = 2d; v[2:3] = 3d; v[4:5] = 10d
> v_fmac_f64_e32 v[4:5], v[0:1], v[2:3]
v[4:5] = 16d
== v_min_f64, v_max_f64
v[0:1] = 1d nand -0d; v[2:3] = -2d 7d 0d
> v_min_f64 v[4:5], v[0:1], v[2:3]
> v_max_f64 v[6:7], v[0:1], v[2:3]
v[4:5] = -2d 7d -0d; v[6:7] = 1d 7d 0d
== modifiers
v[0:1] = -3d; v[2:3] = 2d
> v_add_f64 v[4:5], |v[0:1]|, -v[2:3]
v[4:5] = 1d
== v_floor, v_ceil, v_trunc, v_rndne, v_fract
v[0:1] = 2.5d -2.5d -0.25d
> v_floor_f64 v[2:3], v[0:1]
> v_ceil_f64 v[4:5], v[0:1]
> v_trunc_f64 v[6:7], v[0:1]
> v_rndne_f64 v[10:11], v[0:1]
> v_fract_f64 v[16:17], v[0:1]
v[2:3] = 2d -3d -1d; v[4:5] = 3d -2d -0d; v[6:7] = 2d -2d -0d; v[10:11] = 2d -2d -0d; v[16:17] = 0.5d 0.5d 0.75d
== v_frexp and v_ldexp
v[0:1] = 12d 0x1p-1074d; v2 = 3 1074
> v_frexp_mant_f64 v[4:5], v[0:1]
> v_frexp_exp_i32_f64 v3, v[0:1]
> v_ldexp_f64 v[6:7], v[0:1], v2
v[4:5] = 0.75d 0.5d; v3 = 4 -1073; v[6:7] = 96d 1d
== conversions to and from double
v0 = 1.5f -0f 0x1p-149f; v1 = -7; v[2:3] = 0x1.0000011p0d 1e300d 0x1p-150d
> v_cvt_f64_f32 v[4:5], v0
> v_cvt_f64_i32 v[6:7], v1
> v_cvt_f64_u32 v[10:11], v1
> v_cvt_f32_f64 v16, v[2:3]
v[4:5] = 1.5d -0d 0x1p-149d; v[6:7] = -7d; v[10:11] = 4294967289d; v16 = 0x1.000002p0f inff 0f
== double to integer saturates
v[0:1] = 1e10d -1e10d -1.9d nand
> v_cvt_i32_f64 v2, v[0:1]
> v_cvt_u32_f64 v3, v[0:1]
v2 = 0x7fffffff 0x80000000 -1 0; v3 = -1 0 0 0
== comparisons
v[0:1] = 1d nand 3d; v[2:3] = 2d
> v_cmp_lt_f64 vcc, v[0:1], v[2:3]
> v_cmp_nlt_f64 s[0:1], v[0:1], v[2:3]
vcc = 0x9249249249249249; s[0:1] = 0x6db6db6db6db6db6
== v_trig_preop_f64: the first 53 bits of 2 / pi
v[0:1] = 1d; v2 = 0
> v_trig_preop_f64 v[4:5], v[0:1], v2
v[4:5] = 0x3fe45f306dc9c882
== v_div_scale_f64: nothing to scale
v[0:1] = 3d; v[2:3] = 1d; vcc = -1
> v_div_scale_f64 v[4:5], vcc, v[0:1], v[0:1], v[2:3]
v[4:5] = 3d; vcc = 0
== v_div_fmas_f64 undoes v_div_scale, up or down by 2^128 as the addend's exponent says
v[0:1] = 2d; v[2:3] = 3d; v[4:5] = 1d 2d 1d 2d; vcc = 0x3333333333333333
> v_div_fmas_f64 v[6:7], v[0:1], v[2:3], v[4:5]
v[6:7] = 0x1.cp-126d 0x1p131d 7d 8d
== v_div_fixup_f64
v[0:1] = 5d; v[2:3] = 2d 0d infd -2d; v[4:5] = 10d 1d 1d 10d
> v_div_fixup_f64 v[6:7], v[0:1], v[2:3], v[4:5]
v[6:7] = 5d infd 0d -5d
