# Vector instructions that the other files leave out.
== 16-bit integers: {op}
@ op = v_add_i16 v_sub_i16
@ value = 0xabcd8002 0xabcd7ffc
v0 = 0x11117fff; v1 = 0x22220003; v2 = 0xabcdffff
> {op} v2, v0, v1
v2 = {value}
== 16-bit integers that clear the upper half: {op}
@ op = v_max_i16 v_min_u16 v_subrev_u16
@ value = 3 3 5
v0 = 0x1111fffe; v1 = 0x22220003; v2 = 0xabcdffff
> {op} v2, v0, v1
v2 = {value}
== 16-bit integers of three operands, the upper half stays: {op}
@ op = v_max3_i16 v_max3_u16 v_min3_i16 v_min3_u16 v_med3_u16 v_mad_i16
@ value = 0xabcd0007 0xabcdfffe 0xabcdfffe 0xabcd0003 0xabcd0007 0xabcd0001
v0 = 0x1111fffe; v1 = 0x22220003; v2 = 0x33330007; v3 = 0xabcd0000
> {op} v3, v0, v1, v2
v3 = {value}
== 16-bit multiply and add that clear the upper half: {op}
@ op = v_mad_legacy_i16 v_mad_legacy_u16
v0 = 0x1111fffe; v1 = 0x22220003; v2 = 0x33330007; v3 = 0xabcd0000
> {op} v3, v0, v1, v2
v3 = 1
== 32-bit logic and subtraction: {op}
@ op = v_and_b32 v_or_b32 v_xor_b32 v_sub_i32
@ value = 0x000f0000 0xffff0f0f 0xfff00f0f 0x1e0ff0f1
v0 = 0x0f0f0000; v1 = 0xf0ff0f0f
> {op} v2, v0, v1
v2 = {value}
== v_subrev_co_u32 and v_subbrev_co_u32
v0 = 5 3; v1 = 4 4; vcc = 0
> v_subrev_co_u32 v2, vcc, v0, v1
> s_mov_b64 s[0:1], vcc
> v_subbrev_co_u32 v3, vcc, v0, v1, vcc
v2 = -1 1; s[0:1] = 0x5555555555555555; v3 = -2 1; vcc = 0x5555555555555555
== v_nop and v_clrexcp
v0 = 5
> v_nop
> v_clrexcp
v0 = 5
== f16: {op}
@ op = v_sub_f16 v_subrev_f16 v_max_f16 v_min_f16
@ value = 0xbe00 0x3e00 0x4200 0x3e00
v0 = 0x77773e00; v1 = 0x88884200; v2 = -1
> {op} v2, v0, v1
v2 = {value}
== f16 multiply and add in two roundings: {line}
@ line = v_mad_f16 v3, v0, v1, v2 | v_mad_legacy_f16 v3, v0, v1, v2 | v_mac_f16 v3, v0, v1 | v_madak_f16 v3, v0, v1, 0xbc00 | v_madmk_f16 v3, v0, 0x3bfe, v2
@ value = 0xabcd1400 0x1400 0xabcd1400 0xabcd1400 0xabcd1400
v0 = 0x3c02; v1 = 0x3bfe; v2 = 0xbc00; v3 = 0xabcdbc00
> {line}
v3 = {value}
== v_fma_legacy_f16 rounds once and clears the upper half
v0 = 0x3c02; v1 = 0x3bfe; v2 = 0xbc00; v3 = -1
> v_fma_legacy_f16 v3, v0, v1, v2
v3 = 0x13fc
== f16 of three operands, the upper half stays: {op}
@ op = v_max3_f16 v_med3_f16
@ value = 0xabcd4400 0xabcd4000
v0 = 2h; v1 = 4h; v2 = -1h; v3 = 0xabcd0000
> {op} v3, v0, v1, v2
v3 = {value}
== f16 functions: {op}
@ op = exp log sin cos
@ x = 3h 8h 0.25h 0.5h
@ value = 8h 3h 1h -1h
v0 = {x}
> v_{op}_f16 v1, v0
v1 = {value}~1
== v_exp_legacy_f32, v_log_legacy_f32, v_rcp_iflag_f32
v0 = 3f; v1 = 8f; v2 = 4f
> v_exp_legacy_f32 v3, v0
> v_log_legacy_f32 v4, v1
> v_rcp_iflag_f32 v5, v2
v3 = 8f~1; v4 = 3f~1; v5 = 0.25f~1
== f64 roots: exact squares
v[0:1] = 4d
> v_rcp_f64 v[2:3], v[0:1]
> v_rsq_f64 v[4:5], v[0:1]
> v_sqrt_f64 v[6:7], v[0:1]
v[2:3] = 0.25d; v[4:5] = 0.5d; v[6:7] = 2d
== v_div_fixup_f16: special quotients; operands quotient, denominator, numerator
v0 = 7h; v1 = 0h 2h infh 0h; v2 = 1h -4h 1h 0h; v3 = 0xabcd0000; v4 = 0xabcd0000
> v_div_fixup_f16 v3, v0, v1, v2
> v_div_fixup_legacy_f16 v4, v0, v1, v2
v3 = 0xabcd7c00 0xabcdc700 0xabcd0000 nanh:0xabcd; v4 = infh -7h 0h nanh
== normalised conversions from f16
v0 = 1h:-1h; v1 = 0.5h:2h
> v_cvt_norm_i16_f16 v2, v0
> v_cvt_norm_u16_f16 v3, v1
> v_cvt_pknorm_i16_f16 v4, v0, v1
> v_cvt_pknorm_u16_f16 v5, v0, v1
v2 = 32767; v3 = 0x8000; v4 = 0x40007fff; v5 = 0x8000ffff
== v_cvt_pkaccum_u8_f32 inserts a byte
v0 = 200.7f 300f -5f; v1 = 2; v2 = 0x11223344
> v_cvt_pkaccum_u8_f32 v2, v0, v1
v2 = 0x11c93344 0x11ff3344 0x11003344
== v_cvt_f32_bf8 and stochastic FP8
v0 = 0x45; v1 = 1.15625f; v2 = 0xbfffffff; v3 = 0xc0000000; v4 = 0; v5 = 0; v6 = -1.0625f
> v_cvt_f32_bf8 v7, v0
> v_cvt_sr_fp8_f32 v4, v1, v2
> v_cvt_sr_fp8_f32 v4, v1, v3 op_sel:[0,0,0,1]
> v_cvt_sr_bf8_f32 v5, v6, v2
> v_cvt_sr_bf8_f32 v5, v6, v3 op_sel:[0,0,1,1]
v7 = 2.5f; v4 = 0x00420041; v5 = 0xc10000c0
== v_sat_pk_u8_i16
v0 = 300:-5 100:255
> v_sat_pk_u8_i16 v1, v0
v1 = 0x00ff 0xff64
== sums of absolute differences at four byte offsets
v[0:1] = 0x0807060504030201; v2 = 0x01000301; v[4:5] = 0x000a000000010000
> v_qsad_pk_u16_u8 v[6:7], v[0:1], v2, v[4:5]
> v_mqsad_pk_u16_u8 v[16:17], v[0:1], v2, v[4:5]
v[6:7] = 0x001b000d000a0007; v[16:17] = 0x0015000800060004
== v_mqsad_u32_u8
v[0:1] = 0x0807060504030201; v2 = 0x01000301; v4 = 0; v5 = 100; v6 = 0; v7 = -1
> v_mqsad_u32_u8 v[16:19], v[0:1], v2, v[4:7]
v16 = 4; v17 = 105; v18 = 8; v19 = 10
== dot products of integers: {op}
@ op = v_dot2_u32_u16 v_dot8_i32_i4 v_dot8_u32_u4
@ value = 0x00050015 0x00000015 0x00000065
v0 = 0xfffe0003; v1 = 0x00050007; v2 = 10
> {op} v3, v0, v1, v2
v3 = {value}
== accumulating dot products: {op}
@ op = v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4
@ value = 0x00000015 0x00000015 0x00000015
v0 = 0xfffe0003; v1 = 0x00050007; v3 = 10
> {op} v3, v0, v1
v3 = {value}
== v_dot2c_f32_f16
v0 = 1h:2h; v1 = 3h:4h; v2 = 10f; v3 = 0f
> v_dot2c_f32_f16 v2, v0, v1
> v_dot2c_f32_f16 v3, 4.0, v1
v2 = 21f; v3 = 12f
== inline constants of 16-bit operations: halves for floats, the low half of an f32 for integers
v0 = 1; v1 = 1h:1h
> v_add_f16 v2, 1.0, v1
> v_add_u16 v3, 1.0, v0
> v_pk_add_f16 v4, 1.0, v1
> v_pk_add_u16 v5, 1.0, v0
> v_pk_add_u16 v6, -1, v0
v2 = 2h; v3 = 1; v4 = 2h:1h; v5 = 1:0x3f80; v6 = 0:0xffff
== packed: {op}
@ op = v_pk_mad_u16 v_pk_max_i16 v_pk_min_u16 v_pk_sub_u16
@ line = v_pk_mad_u16 v3, v0, v1, v2 | v_pk_max_i16 v3, v0, v1 | v_pk_min_u16 v3, v0, v1 | v_pk_sub_u16 v3, v0, v1
@ value = 5:65519 3:5 3:5 65531:65525
v0 = -2:-6; v1 = 3:5; v2 = 11:13
> {line}
v3 = {value}
== v_pk_fmac_f16
v0 = 1h:2h; v1 = 3h:-4h; v2 = 10h:20h
> v_pk_fmac_f16 v2, v0, v1
v2 = 13h:12h
== v_screen_partition_4se_b32: engines that a rectangle touches
v0 = 0 1 2 3 4 5 17 18 19 21 25 16
> v_screen_partition_4se_b32 v1, v0
v1 = 1 3 7 15 5 15 2 6 14 10 11 15
== v_lshl_add_u64 shifts by up to 4; larger amounts stand for 0
v[0:1] = 0xf00000001; v[2:3] = 5; v4 = 0 1 4 5 7 12
> v_lshl_add_u64 v[6:7], v[0:1], v4, v[2:3]
v[6:7] = 0xf00000006 0x1e00000007 0xf000000015 0xf00000006 0xf00000006 0xf000000015
