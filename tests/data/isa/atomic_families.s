# The atomics of every kind of memory: 32 and 64 bits, once returning the value before, once not.
== global_atomic_{op}
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0x8000000c 0x7ffffffe 0x80000005 7 7 0x80000005 5 0x80000007 0x80000002 0 7
@ low = 7 10 -4 3 3 7 7 3 7 4 4 2
v0 = 0; v1 = 7; v2 = 0; mem = 1 2 0x80000005 3; exec = 1
> global_atomic_{op} v2, v0, v1, s[8:9] offset:8 sc0
> global_atomic_{op} v0, v1, s[8:9] offset:12
> s_waitcnt vmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
mem[0] = 1 2 {new} {low}; s0 = 0x80000005
== flat_atomic_{op}
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0x8000000c 0x7ffffffe 0x80000005 7 7 0x80000005 5 0x80000007 0x80000002 0 7
@ low = 7 10 -4 3 3 7 7 3 7 4 4 2
v1 = 7; v2 = 0; mem = 1 2 0x80000005 3; exec = 1
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> flat_atomic_{op} v2, v[4:5], v1 offset:8 sc0
> flat_atomic_{op} v[4:5], v1 offset:12
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
mem[0] = 1 2 {new} {low}; s0 = 0x80000005
== buffer_atomic_{op}
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0x8000000c 0x7ffffffe 0x80000005 7 7 0x80000005 5 0x80000007 0x80000002 0 7
@ low = 7 10 -4 3 3 7 7 3 7 4 4 2
v1 = 7; v2 = 7; mem = 1 2 0x80000005 3; exec = 1
> buffer_atomic_{op} v2, off, s[12:15], 0 offset:8 sc0
> buffer_atomic_{op} v1, off, s[12:15], 0 offset:12
> s_waitcnt vmcnt(0)
> v_readfirstlane_b32 s0, v2
> v_readfirstlane_b32 s1, v1
> s_mov_b64 exec, -1
mem[0] = 1 2 {new} {low}; s0 = 0x80000005; s1 = 7
== s_atomic_{op} and s_buffer_atomic
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0x8000000c 0x7ffffffe 0x80000005 7 7 0x80000005 5 0x80000007 0x80000002 0 7
@ low = 7 10 -4 3 3 7 7 3 7 4 4 2
s0 = 7; s1 = 7; s2 = 7; s3 = 7; s4 = 8; mem = 0x80000005 3 0x80000005 3
> s_atomic_{op} s0, s[8:9], 0x0 glc
> s_atomic_{op} s1, s[8:9], 0x4
> s_buffer_atomic_{op} s2, s[12:15], s4 glc
> s_buffer_atomic_{op} s3, s[12:15], 0xc
> s_waitcnt lgkmcnt(0)
mem[0] = {new} {low} {new} {low}; s0 = 0x80000005; s1 = 7; s2 = 0x80000005; s3 = 7
== 64 bits: {op}_x2 of global and flat memory
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0 | 0xc 0x80000000 | 0xfffffffe 0x7fffffff | 5 0x80000000 | 7 0 | 7 0 | 5 0x80000000 | 5 0 | 7 0x80000000 | 2 0x80000000 | 0 0 | 7 0
@ low = 7 0 | 10 0 | -4 -1 | 3 0 | 3 0 | 7 0 | 7 0 | 3 0 | 7 0 | 4 0 | 4 0 | 2 0
v0 = 0; v[2:3] = 7; v[6:7] = 0; v[16:17] = 0; mem = 5 0x80000000 3 0 5 0x80000000 3 0; exec = 1
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> global_atomic_{op}_x2 v[6:7], v0, v[2:3], s[8:9] sc0
> global_atomic_{op}_x2 v0, v[2:3], s[8:9] offset:8
> flat_atomic_{op}_x2 v[16:17], v[4:5], v[2:3] offset:16 sc0
> flat_atomic_{op}_x2 v[4:5], v[2:3] offset:24
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s0, v6
> v_readfirstlane_b32 s1, v7
> v_readfirstlane_b32 s2, v16
> v_readfirstlane_b32 s3, v17
> s_mov_b64 exec, -1
mem[0] = {new} {low} {new} {low}; s[0:1] = 0x8000000000000005; s[2:3] = 0x8000000000000005
== 64 bits: {op}_x2 of buffers and scalar memory
@ op = swap add sub smin umin smax umax and or xor inc dec
@ new = 7 0 | 0xc 0x80000000 | 0xfffffffe 0x7fffffff | 5 0x80000000 | 7 0 | 7 0 | 5 0x80000000 | 5 0 | 7 0x80000000 | 2 0x80000000 | 0 0 | 7 0
@ low = 7 0 | 10 0 | -4 -1 | 3 0 | 3 0 | 7 0 | 7 0 | 3 0 | 7 0 | 4 0 | 4 0 | 2 0
v[2:3] = 7; v[6:7] = 7; mem = 5 0x80000000 3 0 5 0x80000000 3 0 5 0x80000000 3 0; exec = 1; s[0:1] = 7; s[2:3] = 7; s[4:5] = 7
> buffer_atomic_{op}_x2 v[6:7], off, s[12:15], 0 sc0
> buffer_atomic_{op}_x2 v[2:3], off, s[12:15], 0 offset:8
> s_atomic_{op}_x2 s[0:1], s[8:9], 0x10 glc
> s_atomic_{op}_x2 s[2:3], s[8:9], 0x18
> s_buffer_atomic_{op}_x2 s[4:5], s[12:15], 0x20 glc
> s_buffer_atomic_{op}_x2 s[2:3], s[12:15], 0x28
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s6, v6
> v_readfirstlane_b32 s7, v7
> s_mov_b64 exec, -1
mem[0] = {new} {low} {new} {low} {new} {low}
s[0:1] = 0x8000000000000005; s[2:3] = 7; s[4:5] = 0x8000000000000005; s[6:7] = 0x8000000000000005
== cmpswap: the new value first, the value to compare with second
@ text = global_atomic_cmpswap v2, v0, v[4:5], s[8:9] sc0 | flat_atomic_cmpswap v2, v[6:7], v[4:5] sc0
v0 = 0 4; v4 = 50; v5 = 1; exec = 3; mem = 1 2
> v_add_co_u32 v6, vcc, s8, v0
> v_mov_b32 v7, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
> s_mov_b64 exec, -1
v2 := lane == 0 ? 1 : lane == 1 ? 2 : 0xbad00bad; mem[0] = 50 2
== cmpswap_x2: both dwords are compared
@ text = global_atomic_cmpswap_x2 v[2:3], v0, v[4:7], s[8:9] sc0 | flat_atomic_cmpswap_x2 v[2:3], v[16:17], v[4:7] sc0
v0 = 0 8; v4 = 50; v5 = 51; v6 = 1; v7 = 2; exec = 3; mem = 1 2 1 3
> v_add_co_u32 v16, vcc, s8, v0
> v_mov_b32 v17, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
> s_mov_b64 exec, -1
v2 := lane < 2 ? 1 : 0xbad00bad; v3 := lane == 0 ? 2 : lane == 1 ? 3 : 0xbad00bad; mem[0] = 50 51 1 3
== buffer_atomic_cmpswap and cmpswap_x2
v0 = 0 16; v4 = 50; v5 = 1; v16 = 60; v17 = 61; v18 = 3; v19 = 4; exec = 3; mem = 1 9 3 4 2 9 3 5
> buffer_atomic_cmpswap v[4:5], v0, s[12:15], 0 offen sc0
> buffer_atomic_cmpswap_x2 v[16:19], v0, s[12:15], 0 offen offset:8 sc0
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 50 9 60 61 2 9 3 5; v4 := lane == 0 ? 1 : lane == 1 ? 2 : 50; v16 := lane < 2 ? 3 : 60; v17 := lane == 0 ? 4 : lane == 1 ? 5 : 61
== s_atomic_cmpswap and s_buffer_atomic_cmpswap
s0 = 50; s1 = 1; s2 = 50; s3 = 3; s4 = 60; s5 = 1; s6 = 60; s7 = 2; mem = 1 2 1 2
> s_atomic_cmpswap s[0:1], s[8:9], 0x0 glc
> s_atomic_cmpswap s[2:3], s[8:9], 0x4 glc
> s_buffer_atomic_cmpswap s[4:5], s[12:15], 0x8
> s_buffer_atomic_cmpswap s[6:7], s[12:15], 0xc glc
> s_waitcnt lgkmcnt(0)
mem[0] = 50 2 60 60; s[0:1] = 0x100000001; s[2:3] = 0x300000002; s[4:5] = 0x10000003c; s[6:7] = 0x200000002
== s_atomic_cmpswap_x2 and s_buffer_atomic_cmpswap_x2
s[0:1] = 50; s[2:3] = 0x200000001; s[4:5] = 60; s[6:7] = 0x400000001; s[16:17] = 70; s[18:19] = 6; mem = 1 2 1 3 6 0
> s_atomic_cmpswap_x2 s[0:3], s[8:9], 0x0 glc
> s_atomic_cmpswap_x2 s[4:7], s[8:9], 0x8 glc
> s_buffer_atomic_cmpswap_x2 s[16:19], s[12:15], 0x10 glc
> s_waitcnt lgkmcnt(0)
mem[0] = 50 0 1 3 70 0; s[0:1] = 0x200000001; s[4:5] = 0x300000001; s[16:17] = 6
== scalar buffers: nothing past the end is changed, and it reads as zero
s[0:1] = 5; s2 = 5; s14 = 8; mem = 1 2 3 4
> s_buffer_atomic_add_x2 s[0:1], s[12:15], 0x8 glc
> s_buffer_atomic_add s2, s[12:15], 0x4 glc
> s_waitcnt lgkmcnt(0)
mem[0] = 1 7 3 4; s[0:1] = 0; s2 = 2
== a scalar atomic of 64 bits must be aligned
s[0:1] = 5; mem = 1
> s_atomic_add_x2 s[0:1], s[8:9], 0x4
fault not a multiple of its size
== {kind} float atomics, 32 bits: {op}
@ op = add_f32 pk_add_f16
@ data = -2.5f 0.5h:-2h
@ new = 3f 6h:1h
@ old = 5.5f 5.5h:3h
@@ kind = global flat buffer
@ text = global_atomic_{op} v2, v0, v1, s[8:9] offset:8 sc0 | flat_atomic_{op} v2, v[4:5], v1 offset:8 sc0 | buffer_atomic_{op} v2, off, s[12:15], 0 offset:8 sc0
v0 = 0; v1 = {data}; v2 = {data}; mem = 0 0 {old} 0; exec = 1
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
mem[0] = 0 0 {new} 0; s0 = {old}
== bf16 pairs: {kind}_atomic_pk_add_bf16 rounds to nearest even
@ kind = global flat
@ text = global_atomic_pk_add_bf16 v2, v0, v1, s[8:9] offset:8 sc0 | flat_atomic_pk_add_bf16 v2, v[4:5], v1 offset:8 sc0
v0 = 0; v1 = 0x3b803f80; v2 = 0; mem = 0 0 0x3f814000 0; exec = 1  # 1 and 2^-8, to 2 and 1 + 2^-7
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
mem[0] = 0 0 0x3f824040 0; s0 = 0x3f814000
== {kind} float atomics, 64 bits: {op}
@ op = add_f64 min_f64 max_f64
@ new = 0x40080000 0xc0040000 0x40160000
@@ kind = global flat buffer
@ text = global_atomic_{op} v[2:3], v0, v[6:7], s[8:9] offset:8 sc0 | flat_atomic_{op} v[2:3], v[4:5], v[6:7] offset:8 sc0 | buffer_atomic_{op} v[2:3], off, s[12:15], 0 offset:8 sc0
v0 = 0; v[6:7] = -2.5d; v[2:3] = -2.5d; mem = 0 0 0 0x40160000; exec = 1  # 5.5
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> v_readfirstlane_b32 s1, v3
> s_mov_b64 exec, -1
mem[0] = 0 0 0 {new}; s[0:1] = 5.5d
== LDS: ds_{op}_{t} and ds_{op}_rtn
@ op = add sub rsub inc dec min max min max and or xor
@ t = u32 u32 u32 u32 u32 i32 i32 u32 u32 b32 b32 b32
@ new = 0x8000000c 0x7ffffffe 0x80000002 0 7 0x80000005 7 7 0x80000005 5 0x80000007 0x80000002
@ low = 10 -4 4 4 2 3 7 3 7 3 7 4
v0 = 0; v1 = 7; v2 = 0; lds = 1 2 0x80000005 3; exec = 1
> ds_{op}_rtn_{t} v2, v0, v1 offset:8
> ds_{op}_{t} v0, v1 offset:12
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
lds[0] = 1 2 {new} {low}; s0 = 0x80000005
== LDS: ds_{op}_{t} and ds_{op}_rtn, 64 bits
@ op = add sub rsub inc dec min max min max and or xor
@ t = u64 u64 u64 u64 u64 i64 i64 u64 u64 b64 b64 b64
@ new = 0xc 0x80000000 | 0xfffffffe 0x7fffffff | 2 0x80000000 | 0 0 | 7 0 | 5 0x80000000 | 7 0 | 7 0 | 5 0x80000000 | 5 0 | 7 0x80000000 | 2 0x80000000
@ low = 10 0 | -4 -1 | 4 0 | 4 0 | 2 0 | 3 0 | 7 0 | 3 0 | 7 0 | 3 0 | 7 0 | 4 0
v0 = 0; v[2:3] = 7; v[6:7] = 0; lds = 5 0x80000000 3 0; exec = 1
> ds_{op}_rtn_{t} v[6:7], v0, v[2:3]
> ds_{op}_{t} v0, v[2:3] offset:8
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v6
> v_readfirstlane_b32 s1, v7
> s_mov_b64 exec, -1
lds[0] = {new} {low}; s[0:1] = 0x8000000000000005
== LDS floats: ds_{op}_{t} and ds_{op}_rtn
@ op = add min max pk_add pk_add
@ t = f32 f32 f32 f16 bf16
@ data = -2.5f -2.5f -2.5f 0.5h:-2h 0x3b803f80
@ old = 5.5f 5.5f 5.5f 5.5h:3h 0x3f814000
@ new = 3f -2.5f 5.5f 6h:1h 0x3f824040
v0 = 0; v1 = {data}; v2 = 0; lds = {old} {old}; exec = 1
> ds_{op}_rtn_{t} v2, v0, v1
> ds_{op}_{t} v0, v1 offset:4
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> s_mov_b64 exec, -1
lds[0] = {new} {new}; s0 = {old}
== LDS floats, 64 bits: ds_{op}_f64 and ds_{op}_rtn_f64
@ op = add min max
@ new = 0x40080000 0xc0040000 0x40160000
v0 = 0; v[6:7] = -2.5d; v[2:3] = 0; lds = 0 0x40160000 0 0x40160000; exec = 1
> ds_{op}_rtn_f64 v[2:3], v0, v[6:7]
> ds_{op}_f64 v0, v[6:7] offset:8
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v2
> v_readfirstlane_b32 s1, v3
> s_mov_b64 exec, -1
lds[0] = 0 {new} 0 {new}; s[0:1] = 5.5d
== ds_mskor: the first data operand is the mask
v0 = 0; v1 = 0x80000001; v2 = 0x30; v3 = 0; lds = 0x80000005 0x80000005; exec = 1
> ds_mskor_rtn_b32 v3, v0, v1, v2
> ds_mskor_b32 v0, v1, v2 offset:4
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v3
> s_mov_b64 exec, -1
lds[0] = 0x34 0x34; s0 = 0x80000005
== ds_mskor, 64 bits
v0 = 0; v[2:3] = 0x8000000000000001; v[4:5] = 0x3000000000; v[6:7] = 0; lds = 5 0x80000000 5 0x80000000; exec = 1
> ds_mskor_rtn_b64 v[6:7], v0, v[2:3], v[4:5]
> ds_mskor_b64 v0, v[2:3], v[4:5] offset:8
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v6
> v_readfirstlane_b32 s1, v7
> s_mov_b64 exec, -1
lds[0] = 4 0x30 4 0x30; s[0:1] = 0x8000000000000005
== ds_cmpst_{t}: the first data operand is compared
@ t = b32 f32
@ compare = 1 -0f
@ there = 1 0f
v0 = 0 4; v1 = {compare}; v2 = 50; v3 = 0; lds = {there} 2 {there} 2; exec = 3
> ds_cmpst_rtn_{t} v3, v0, v1, v2
> ds_cmpst_{t} v0, v1, v2 offset:8
> s_waitcnt lgkmcnt(0)
> v_readlane_b32 s0, v3, 0
> v_readlane_b32 s1, v3, 1
> s_mov_b64 exec, -1
lds[0] = 50 2 50 2; s0 = {there}; s1 = 2
== ds_cmpst_{t}, 64 bits
@ t = b64 f64
@ compare = 0x200000001 -0d
@ low = 1 0
@ high = 2 0
v0 = 0 8; v[2:3] = {compare}; v[4:5] = 50; v[6:7] = 0; lds = {low} {high} 1 3 {low} {high} 1 3; exec = 3
> ds_cmpst_rtn_{t} v[6:7], v0, v[2:3], v[4:5]
> ds_cmpst_{t} v0, v[2:3], v[4:5] offset:16
> s_waitcnt lgkmcnt(0)
> v_readlane_b32 s0, v6, 0
> v_readlane_b32 s1, v7, 1
> s_mov_b64 exec, -1
lds[0] = 50 0 1 3 50 0 1 3; s0 = {low}; s1 = 3
== ds_wrxchg_rtn_b64 and ds_wrxchg2_rtn_b32
v0 = 0; v[2:3] = 0x700000006; v[4:5] = 0; v16 = 8; v17 = 9; v[6:7] = 0; lds = 1 2 3 4; exec = 1
> ds_wrxchg_rtn_b64 v[4:5], v0, v[2:3]
> ds_wrxchg2_rtn_b32 v[6:7], v0, v16, v17 offset0:3 offset1:2
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v4
> v_readfirstlane_b32 s1, v5
> v_readfirstlane_b32 s2, v6
> v_readfirstlane_b32 s3, v7
> s_mov_b64 exec, -1
lds[0] = 6 7 9 8; s[0:1] = 0x200000001; s[2:3] = 0x300000004
== ds_wrxchg2st64_rtn_b32: offsets count 64 elements
v0 = 0; v1 = 8; v2 = 9; v[6:7] = 0; lds := i; exec = 1
> ds_wrxchg2st64_rtn_b32 v[6:7], v0, v1, v2 offset0:1 offset1:2
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v6
> v_readfirstlane_b32 s1, v7
> s_mov_b64 exec, -1
lds[256] = 8 65; lds[512] = 9 129; s0 = 64; s1 = 128
== ds_wrxchg2{st}_b64
@ st = _rtn st64_rtn
@ far = 8 512
@ first = 2 128
v0 = 0; v[2:3] = 0x700000006; v[4:5] = 0x900000008; v[16:17] = 0; v[18:19] = 0; lds := i; exec = 1
> ds_wrxchg2{st}_b64 v[16:19], v0, v[2:3], v[4:5] offset0:0 offset1:1
> s_waitcnt lgkmcnt(0)
> v_readfirstlane_b32 s0, v16
> v_readfirstlane_b32 s1, v17
> v_readfirstlane_b32 s2, v18
> s_mov_b64 exec, -1
lds[0] = 6 7; lds[{far}] = 8 9; s0 = 0; s1 = 1; s2 = {first}
== ds_append and ds_consume: one count for the wave, at M0 plus the offset
m0 = 8; exec = 0xff0; v1 = 77; v2 = 77; lds := i * 100
> ds_append v1 offset:4
> ds_consume v2 offset:8
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0 100 200 308 392 500; v1 := lane >= 4 && lane < 12 ? 300 : 77; v2 := lane >= 4 && lane < 12 ? 400 : 77
