# Local data share: loads, stores and atomics of every width. M0 is not a limit on gfx9.
== ds_write_b32 and ds_read_b32
v0 := lane * 4; v1 := lane * 3
> ds_write_b32 v0, v1 offset:16
> s_waitcnt lgkmcnt(0)
> ds_read_b32 v2, v0 offset:12
> s_waitcnt lgkmcnt(0)
v2 := lane ? lane * 3 - 3 : 0; lds[16] = 0 3 6 9
== ds_read_b64, b96, b128
v0 := lane * 16; lds := i * 5
> ds_read_b64 v[2:3], v0
> ds_read_b96 v[4:6], v0
> ds_read_b128 v[16:19], v0 offset:16
> s_waitcnt lgkmcnt(0)
v2 := lane * 20; v3 := lane * 20 + 5; v4 := lane * 20; v5 := lane * 20 + 5; v6 := lane * 20 + 10
v16 := lane * 20 + 20; v17 := lane * 20 + 25; v18 := lane * 20 + 30; v19 := lane * 20 + 35
== ds_write_b64, b96, b128
v0 = 0; v2 = 1; v3 = 2; v4 = 3; v5 = 4; exec = 1
> ds_write_b64 v0, v[2:3]
> ds_write_b96 v0, v[2:4] offset:16
> ds_write_b128 v0, v[2:5] offset:32
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 1 2 0 0 1 2 3 0 1 2 3 4 0
== ds_read_u8, i8, u16, i16
v0 := lane; lds = 0x80ff7f01 0xfedcba98
> ds_read_u8 v1, v0
> ds_read_i8 v2, v0
> s_waitcnt lgkmcnt(0)
> v_lshlrev_b32 v0, 1, v0
> ds_read_u16 v3, v0
> ds_read_i16 v4, v0
> s_waitcnt lgkmcnt(0)
v1 = 0x01 0x7f 0xff 0x80 0x98 0xba 0xdc 0xfe; v2 = 1 0x7f -1 -128 0xffffff98 0xffffffba 0xffffffdc 0xfffffffe
v3 = 0x7f01 0x80ff 0xba98 0xfedc; v4 = 0x7f01 0xffff80ff 0xffffba98 0xfffffedc
== ds_read_u16_d16 and d16_hi keep the other half
v0 = 0; v1 = 0x11112222; v2 = 0x11112222; v3 = 0x11112222; lds = 0xabcd89ef
> ds_read_u16_d16 v1, v0
> ds_read_u16_d16_hi v2, v0 offset:2
> ds_read_i8_d16_hi v3, v0
> s_waitcnt lgkmcnt(0)
v1 = 0x111189ef; v2 = 0xabcd2222; v3 = 0xffef2222
== ds_write_b8, b16 and d16_hi
v0 = 0; v1 = 0xaabbccdd; exec = 1
> ds_write_b8 v0, v1
> ds_write_b16 v0, v1 offset:2
> ds_write_b8_d16_hi v0, v1 offset:4
> ds_write_b16_d16_hi v0, v1 offset:6
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0xccdd00dd 0xaabb00bb
== ds_read2 and ds_write2: offsets count elements
v0 := lane * 4; lds := i
> ds_read2_b32 v[2:3], v0 offset0:1 offset1:3
> ds_read2st64_b32 v[4:5], v0 offset0:0 offset1:2
> s_waitcnt lgkmcnt(0)
v2 := lane + 1; v3 := lane + 3; v4 := lane; v5 := lane + 128
== ds_read2_b64 and ds_read2st64_b64
v0 := lane * 8; lds := i
> ds_read2_b64 v[2:5], v0 offset0:0 offset1:2
> ds_read2st64_b64 v[16:19], v0 offset0:1 offset1:3
> s_waitcnt lgkmcnt(0)
v2 := lane * 2; v3 := lane * 2 + 1; v4 := lane * 2 + 4; v5 := lane * 2 + 5
v16 := lane * 2 + 128; v17 := lane * 2 + 129; v18 := lane * 2 + 384; v19 := lane * 2 + 385
== ds_write2_b32 and ds_write2st64_b64
v0 = 0; v2 = 7; v3 = 8; v4 = 9; v5 = 10; exec = 1
> ds_write2_b32 v0, v2, v3 offset0:3 offset1:1
> ds_write2st64_b64 v0, v[2:3], v[4:5] offset0:1 offset1:2
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0 8 0 7; lds[512] = 7 8; lds[1024] = 9 10
== ds_add_u32 by all lanes to one address
v0 = 8; v1 := lane
> ds_add_u32 v0, v1
> s_waitcnt lgkmcnt(0)
lds[8] = 2016
== ds_add_rtn_u32 returns the value before
v0 := lane * 4; v1 = 5; lds := i * 10
> ds_add_rtn_u32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
v2 := lane * 10; lds[0] = 5 15 25
== atomics of signed, unsigned and logic kinds
v0 = 0; v1 = -5; exec = 1; lds = 3 3 3 3 3 3 3 3
> ds_min_i32 v0, v1
> ds_min_u32 v0, v1 offset:4
> ds_max_i32 v0, v1 offset:8
> ds_max_u32 v0, v1 offset:12
> ds_and_b32 v0, v1 offset:16
> ds_or_b32 v0, v1 offset:20
> ds_xor_b32 v0, v1 offset:24
> ds_sub_u32 v0, v1 offset:28
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = -5 3 3 -5 3 -5 0xfffffff8 8
== ds_inc and ds_dec wrap
v0 = 0; v1 = 3; exec = 1; lds = 3 2 0 9
> ds_inc_u32 v0, v1
> ds_inc_u32 v0, v1 offset:4
> ds_dec_u32 v0, v1 offset:8
> ds_dec_u32 v0, v1 offset:12
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0 3 3 3
== ds_cmpst_rtn_b32 compares with the first data operand
v0 = 0 4; v1 = 1; v2 = 50; exec = 3; lds = 1 2
> ds_cmpst_rtn_b32 v3, v0, v1, v2
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
v3 := lane == 0 ? 1 : lane == 1 ? 2 : 0xbad00bad; lds[0] = 50 2
== ds_wrxchg_rtn_b32
v0 := lane * 4; v1 := lane; lds := i + 100
> ds_wrxchg_rtn_b32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
v2 := lane + 100; lds[0] = 0 1 2 3
== ds_add_f32 and ds_add_f64
v0 = 0; v1 = 1.5f; v[2:3] = 0.25d; lds = 1f 0 0 0
> ds_add_f32 v0, v1
> ds_add_f64 v0, v[2:3] offset:8
> s_waitcnt lgkmcnt(0)
lds[0] = 97f 0 0 0x40300000
== ds_add_u64 and ds_max_i64
v0 = 0; v[2:3] = 0xffffffff; v[4:5] = -1; exec = 1; lds = 1 0 0xfffffffe 0xffffffff
> ds_add_u64 v0, v[2:3]
> ds_max_i64 v0, v[4:5] offset:8
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0 1 0xffffffff 0xffffffff
== ds_wrap_rtn_b32 and ds_condxchg32_rtn_b64
v0 = 0; v1 = 10; v2 = 3; v[4:5] = 0x8000000500000007; lds = 8 0 1 2; exec = 1; v3 = 0; v8 = 8; v[6:7] = 0
> ds_wrap_rtn_b32 v3, v0, v1, v2
> ds_wrap_rtn_b32 v3, v0, v1, v2
> ds_condxchg32_rtn_b64 v[6:7], v8, v[4:5]
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v3
> v_readfirstlane_b32 s1, v6
> v_readfirstlane_b32 s2, v7
lds[0] = 1 0 1 5; s0 = 11; s1 = 1; s2 = 2
