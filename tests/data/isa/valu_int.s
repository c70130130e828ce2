# Vector integer arithmetic.
== v_add_u32 and EXEC
v0 := lane; v1 = 100; v2 = 7; exec = 0xffff
> v_add_u32 v2, v0, v1
> s_mov_b64 exec, -1
v2 := lane < 16 ? lane + 100 : 7
== v_add_u32 clamp
v0 = 0xfffffff0 5; v1 = 0x20
> v_add_u32_e64 v2, v0, v1 clamp
v2 = 0xffffffff 0x25
== v_sub_u32 clamp
v0 = 3 9; v1 = 5
> v_sub_u32_e64 v2, v0, v1 clamp
v2 = 0 4
== v_add_i32 clamp
v0 = 0x7fffffff 0x80000000 1; v1 = 1 -1 1
> v_add_i32 v2, v0, v1 clamp
v2 = 0x7fffffff 0x80000000 2
== v_subrev_u32
v0 = 3; v1 = 10
> v_subrev_u32 v2, v0, v1
v2 = 7
== v_add_co_u32
v0 = 0xffffffff 1; v1 = 1
> v_add_co_u32 v2, vcc, v0, v1
v2 = 0 2; vcc = 0x5555555555555555
== v_addc_co_u32
v0 = 0xffffffff 1 5 7; v1 = 0; vcc = 0x3333333333333333
> v_addc_co_u32 v2, vcc, v0, v1, vcc
v2 = 0 2 5 7; vcc = 0x1111111111111111
== v_sub_co_u32 to an SGPR pair
v0 = 1 2; v1 = 2 1
> v_sub_co_u32 v2, s[0:1], v0, v1
v2 = -1 1; s[0:1] = 0x5555555555555555
== v_subb_co_u32
v0 = 5 5; v1 = 5 4; vcc = 0xffffffffffffffff
> v_subb_co_u32 v2, vcc, v0, v1, vcc
v2 = -1 0; vcc = 0x5555555555555555
== carries of inactive lanes are 0
v0 = -1; v1 = 1; exec = 0xf; vcc = 0xffffffffffffffff
> v_add_co_u32 v2, vcc, v0, v1
> s_mov_b64 exec, -1
vcc = 0xf
== v_mul_lo_u32 and v_mul_hi
v0 = 0xffffffff 0x12345678; v1 = 0xffffffff 0x9abcdef0
> v_mul_lo_u32 v2, v0, v1
> v_mul_hi_u32 v3, v0, v1
> v_mul_hi_i32 v4, v0, v1
v2 = 1 0x242d2080; v3 = 0xfffffffe 0x0b00ea4e; v4 = 0 0xf8cc93d6
== v_mul_i32_i24 and v_mul_hi_i32_i24
v0 = 0x01800000; v1 = 0xff7fffff
> v_mul_i32_i24 v2, v0, v1
> v_mul_hi_i32_i24 v3, v0, v1
v2 = 0x00800000; v3 = 0xffffc000
== v_mul_u32_u24 and v_mul_hi_u32_u24
v0 = 0xffffffff; v1 = 0x00ffffff
> v_mul_u32_u24 v2, v0, v1
> v_mul_hi_u32_u24 v3, v0, v1
v2 = 0xfe000001; v3 = 0x0000ffff
== v_mad_u32_u24 and v_mad_i32_i24
v0 = 0xff000003; v1 = 5; v2 = 7
> v_mad_u32_u24 v3, v0, v1, v2
> v_mad_i32_i24 v4, v0, v1, v2
v3 = 22; v4 = 22
== v_mad_u64_u32
v0 = 0xffffffff 2; v1 = 0xffffffff 3; v[2:3] = 0xffffffffffffffff 0x100000000
> v_mad_u64_u32 v[4:5], vcc, v0, v1, v[2:3]
v[4:5] = 0xfffffffe00000000 0x100000006; vcc = 0x5555555555555555
== v_mad_i64_i32
v0 = -3; v1 = 5; v[2:3] = 1
> v_mad_i64_i32 v[4:5], vcc, v0, v1, v[2:3]
v[4:5] = -14
== v_lshl_add_u64
v[0:1] = 0x123456789; v[2:3] = 0xffffffff00000001
> v_lshl_add_u64 v[4:5], v[0:1], 3, v[2:3]
v[4:5] = 0x000000081a2b3c49
== v_add3, v_lshl_add, v_add_lshl, v_xad
v0 = 3; v1 = 4; v2 = 5
> v_add3_u32 v3, v0, v1, v2
> v_lshl_add_u32 v4, v0, v1, v2
> v_add_lshl_u32 v5, v0, v1, v2
> v_xad_u32 v6, v0, v1, v2
v3 = 12; v4 = 53; v5 = 224; v6 = 12
== v_and_or, v_or3, v_lshl_or
v0 = 0xff; v1 = 0x3c; v2 = 0x100
> v_and_or_b32 v3, v0, v1, v2
> v_or3_b32 v4, v0, v1, v2
> v_lshl_or_b32 v5, v0, 4, v2
v3 = 0x13c; v4 = 0x1ff; v5 = 0xff0
== v_min3, v_max3, v_med3 of i32
v0 = -1 7; v1 = 5 -9; v2 = 2 3
> v_min3_i32 v3, v0, v1, v2
> v_max3_i32 v4, v0, v1, v2
> v_med3_i32 v5, v0, v1, v2
v3 = -1 -9; v4 = 5 7; v5 = 2 3
== v_min3, v_max3, v_med3 of u32
v0 = -1 7; v1 = 5 -9; v2 = 2 3
> v_min3_u32 v3, v0, v1, v2
> v_max3_u32 v4, v0, v1, v2
> v_med3_u32 v5, v0, v1, v2
v3 = 2 3; v4 = -1 -9; v5 = 5 7
== v_min_i32, v_max_u32
v0 = -1; v1 = 1
> v_min_i32 v2, v0, v1
> v_max_i32 v3, v0, v1
> v_min_u32 v4, v0, v1
> v_max_u32 v5, v0, v1
v2 = -1; v3 = 1; v4 = 1; v5 = -1
== v_sad
v0 = 0x10ff0005; v1 = 0x2000ff07; v2 = 1000
> v_sad_u8 v3, v0, v1, v2
> v_sad_hi_u8 v4, v0, v1, v2
> v_sad_u16 v5, v0, v1, v2
> v_sad_u32 v6, v0, v1, v2
v3 = 1528; v4 = 0x021003e8; v5 = 0x000111eb; v6 = 0x0f0202ea
== v_msad_u8 skips zero bytes of the reference
v0 = 0x10ff0005; v1 = 0x2000ff07; v2 = 1000
> v_msad_u8 v3, v0, v1, v2
v3 = 1273
== 16-bit arithmetic clears the high half
v0 = 0x1234ffff; v1 = 0x56780002
> v_add_u16 v2, v0, v1
> v_mul_lo_u16 v3, v0, v1
> v_sub_u16 v4, v0, v1
v2 = 1; v3 = 0xfffe; v4 = 0xfffd
== 16-bit min and max
v0 = 0x0000ffff; v1 = 2
> v_min_i16 v2, v0, v1
> v_max_u16 v3, v0, v1
v2 = 0xffff; v3 = 0xffff
== v_mad_u16, v_mad_i32_i16, v_mad_u32_u16
v0 = 0xffff; v1 = 3; v2 = 10; v3 = 0
> v_mad_u16 v3, v0, v1, v2
> v_mad_i32_i16 v4, v0, v1, v2
> v_mad_u32_u16 v5, v0, v1, v2
v3 = 7; v4 = 7; v5 = 0x30007
== v_dot4_i32_i8 and v_dot4_u32_u8
v0 = 0xff020304; v1 = 0x01020304; v2 = 100
> v_dot4_i32_i8 v3, v0, v1, v2
> v_dot4_u32_u8 v4, v0, v1, v2
v3 = 128; v4 = 384
== v_dot2_i32_i16
v0 = -2:3; v1 = 5:7; v2 = 1
> v_dot2_i32_i16 v3, v0, v1, v2
v3 = 12
