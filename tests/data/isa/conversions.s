# Conversions between integers and floats of every size.
== v_cvt_u32_f32 and v_cvt_i32_f32: truncate and saturate
v0 = 1.9f -1.9f 5e9f -5e9f nanf inff -0.5f
> v_cvt_u32_f32 v1, v0
> v_cvt_i32_f32 v2, v0
v1 = 1 0 -1 0 0 -1 0; v2 = 1 -1 0x7fffffff 0x80000000 0 0x7fffffff 0
== v_cvt_f32_u32 and v_cvt_f32_i32 round to nearest even
v0 = 0x01000001 0x01000003 -1 0
> v_cvt_f32_u32 v1, v0
> v_cvt_f32_i32 v2, v0
v1 = 0x1p24f 0x1.000004p24f 0x1p32f 0f; v2 = 0x1p24f 0x1.000004p24f -1f 0f
== v_cvt_rpi_i32_f32 and v_cvt_flr_i32_f32
v0 = 2.5f -2.5f 1.4f -1.6f
> v_cvt_rpi_i32_f32 v1, v0
> v_cvt_flr_i32_f32 v2, v0
v1 = 3 -2 1 -2; v2 = 2 -3 1 -2
== v_cvt_f32_ubyte
v0 = 0xff804001
> v_cvt_f32_ubyte0 v1, v0
> v_cvt_f32_ubyte1 v2, v0
> v_cvt_f32_ubyte2 v3, v0
> v_cvt_f32_ubyte3 v4, v0
v1 = 1f; v2 = 64f; v3 = 128f; v4 = 255f
== v_cvt_off_f32_i4
v0 = 0 7 8 15
> v_cvt_off_f32_i4 v1, v0
v1 = 0f 0.4375f -0.5f -0.0625f
== v_cvt_f16_f32
v0 = 1f 65504f 65520f 0x1p-24f 0x1p-25f 0x1.8p-25f 0x1.002p0f 0x1.006p0f -0f
> v_cvt_f16_f32 v1, v0
v1 = 1h 65504h infh 0x1p-24h 0h 0x1p-24h 1h 0x1.008p0h -0h
== v_cvt_f32_f16
v0 = 1h infh 0x1p-24h -0h
> v_cvt_f32_f16 v1, v0
v1 = 1f inff 0x1p-24f -0f
== v_cvt_pkrtz_f16_f32 rounds toward zero
v0 = 0x1.007p0f; v1 = 70000f
> v_cvt_pkrtz_f16_f32 v2, v0, v1
v2 = 0x1.004p0h:65504h
== v_cvt_pknorm
v0 = 1f; v1 = -2f
> v_cvt_pknorm_i16_f32 v2, v0, v1
> v_cvt_pknorm_u16_f32 v3, v0, v1
v2 = 32767:-32767; v3 = 65535:0
== v_cvt_pk_u16_u32 and v_cvt_pk_i16_i32 saturate
v0 = 70000; v1 = -70000
> v_cvt_pk_u16_u32 v2, v0, v1
> v_cvt_pk_i16_i32 v3, v0, v1
v2 = 0xffff:0xffff; v3 = 0x7fff:0x8000
== v_cvt_pk_u8_f32
v0 = 200f 300f -5f; v1 = 2; v2 = 0x11223344
> v_cvt_pk_u8_f32 v3, v0, v1, v2
v3 = 0x11c83344 0x11ff3344 0x11003344
== v_cvt_u16_f16 and v_cvt_i16_f16
v0 = 3.5h -3.5h infh
> v_cvt_u16_f16 v1, v0
> v_cvt_i16_f16 v2, v0
v1 = 3 0 0xffff; v2 = 3 0xfffd 0x7fff
== v_cvt_f16_u16 and v_cvt_f16_i16
v0 = 0xffff 2049
> v_cvt_f16_u16 v1, v0
> v_cvt_f16_i16 v2, v0
v1 = infh 2048h; v2 = -1h 2048h
== v_cvt_pk_fp8_f32: FNUZ, two halves of the destination
v0 = 1f; v1 = -2f; v2 = 240f; v3 = 0x1p-10f; v4 = 0
> v_cvt_pk_fp8_f32 v4, v0, v1
> v_cvt_pk_fp8_f32 v4, v2, v3 op_sel:[0,0,1]
v4 = 0x017fc840
== v_cvt_pk_bf8_f32
v0 = 1f; v1 = -2f; v4 = 0
> v_cvt_pk_bf8_f32 v4, v0, v1
v4 = 0x0000c440
== v_cvt_f32_fp8 selects a byte
v0 = 0x80017f40
> v_cvt_f32_fp8 v1, v0
> v_cvt_f32_fp8_sdwa v2, v0 src0_sel:BYTE_1
> v_cvt_f32_fp8_sdwa v3, v0 src0_sel:BYTE_2
> v_cvt_f32_fp8_sdwa v4, v0 src0_sel:BYTE_3
v1 = 1f; v2 = 240f; v3 = 0x1p-10f; v4 = nanf
== v_cvt_pk_f32_fp8 and v_cvt_pk_f32_bf8
v0 = 0x0000c840; v1 = 0x0000c440
> v_cvt_pk_f32_fp8 v[2:3], v0
> v_cvt_pk_f32_bf8 v[4:5], v1
v2 = 1f; v3 = -2f; v4 = 1f; v5 = -2f
== v_frexp and v_ldexp of f16
v0 = 12h; v1 = 3
> v_frexp_mant_f16 v2, v0
> v_frexp_exp_i16_f16 v3, v0
> v_ldexp_f16 v4, v0, v1
v2 = 0.75h; v3 = 4; v4 = 96h
