# Buffer instructions beyond the raw ones of global_memory.s: strides, indices, swizzling, formats, LDS.
== buffer_load_dword by index and offset: num_records counts records
v0 := lane; v1 = 4; mem := i * 3; s18 = 50; s19 = 0x20000
> s_mov_b32 s16, s8
> s_or_b32 s17, s9, 0x100000
> buffer_load_dword v2, v[0:1], s[16:19], 0 idxen offen offset:4
> s_waitcnt vmcnt(0)
v2 := (lane < 50) * (lane * 12 + 6)
== a stride without an index counts bytes
v0 := lane * 4; mem := i * 3; s18 = 200; s19 = 0x20000
> s_mov_b32 s16, s8
> s_or_b32 s17, s9, 0x100000
> buffer_load_dword v2, v0, s[16:19], 0 offen
> s_waitcnt vmcnt(0)
v2 := (lane < 50) * lane * 3
== dwords are checked one by one
mem := i * 3 + 1; s18 = 20; s19 = 0x20000; exec = 1; v[2:3] = -1; v[4:5] = -1
> s_mov_b64 s[16:17], s[8:9]
> buffer_load_dwordx4 v[2:5], off, s[16:19], 0 offset:8
> s_waitcnt vmcnt(0)
> buffer_store_dwordx2 v[2:3], off, s[16:19], 0 offset:16
> s_waitcnt vmcnt(0)
mem[0] = 1 4 7 10 7 16
== the thread's number in the address
mem := i * 3; s18 = 4096; s19 = 0x800000
> s_mov_b32 s16, s8
> s_or_b32 s17, s9, 0x40000
> buffer_load_dword v2, off, s[16:19], 0 offset:8
> s_waitcnt vmcnt(0)
v2 := lane * 3 + 6
== swizzled records: rows of 16
v0 := lane; mem := i * 3; s18 = 60; s19 = 0x220000; v4 := lane + 1000
> s_mov_b32 s16, s8
> s_or_b32 s17, s9, 0x80080000
> buffer_load_dwordx2 v[2:3], v0, s[16:19], 0 idxen
> s_waitcnt vmcnt(0)
> buffer_store_dword v4, v0, s[16:19], 0 idxen offset:4
> s_waitcnt vmcnt(0)
v2 := (lane < 60) * (lane / 16 * 32 + lane % 16) * 3; v3 := (lane < 60) * (lane / 16 * 32 + 16 + lane % 16) * 3
mem[64] = 1000 1001 1002 1003; mem[192] = 1016 1017 1018; mem[128] = 96 99
== tbuffer_load_format: the instruction's format
mem = 1h:2h
> tbuffer_load_format_xy v[2:3], off, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT]
> tbuffer_load_format_d16_xy v4, off, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT]
> tbuffer_load_format_xyzw v[6:9], off, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_UINT]
> s_waitcnt vmcnt(0)
v2 = 1f; v3 = 2f; v4 = 1h:2h; v6 = 0; v7 = 0x3c; v8 = 0; v9 = 1
== tbuffer formats with short floats and uneven fields
mem = 0x702003c0; exec = 1
> tbuffer_load_format_xyz v[2:4], off, s[12:15], 0 format:[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT]
> s_waitcnt vmcnt(0)
> tbuffer_store_format_xyz v[2:4], off, s[12:15], 0 format:[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT] offset:4
> tbuffer_load_format_xyzw v[6:9], off, s[12:15], 0 format:[BUF_DATA_FORMAT_2_10_10_10,BUF_NUM_FORMAT_UINT]
> s_waitcnt vmcnt(0)
> v_readfirstlane_b32 s0, v2
> v_readfirstlane_b32 s1, v3
> v_readfirstlane_b32 s2, v4
> v_readfirstlane_b32 s3, v6
> v_readfirstlane_b32 s4, v7
> v_readfirstlane_b32 s5, v8
> v_readfirstlane_b32 s6, v9
s0 = 1f; s1 = 2f; s2 = 0.5f; s3 = 0x3c0; s4 = 0; s5 = 0x302; s6 = 1
mem[4] = 0x702003c0
== tbuffer_store_format: conversion and clamping
v2 = 0.5f; v3 = -1f; v4 = 2f; v5 = 1f; v6 = 300; v7 = -300; exec = 1
> tbuffer_store_format_xyzw v[2:5], off, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM]
> tbuffer_store_format_xyzw v[2:5], off, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_SNORM] offset:4
> tbuffer_store_format_xy v[6:7], off, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_SINT] offset:8
> tbuffer_store_format_x v6, off, s[12:15], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UINT] offset:12
> s_waitcnt vmcnt(0)
mem[0] = 0xffff0080 0x7f7f8140 0x807f 0xff
== buffer_load_dword lds and buffer_store_lds_dword
v0 := lane * 8; mem := i * 3; m0 = 64; s18 = 4096; s19 = 0x800000
> buffer_load_dword v0, s[12:15], 0 offen offset:4 lds
> s_waitcnt vmcnt(0)
> s_mov_b32 s16, s8
> s_or_b32 s17, s9, 0x40000
> buffer_store_lds_dword s[16:19], 0 offset:4 lds
> s_waitcnt vmcnt(0)
lds[64] = 0 3 9 15 21; mem[0] = 0 3 9 15 21
== buffer atomics with return: out of range gives 0
v0 := lane * 4; v1 := lane; mem := i * 3; s18 = 128; s19 = 0x20000
> s_mov_b64 s[16:17], s[8:9]
> buffer_atomic_add v1, v0, s[16:19], 0 offen sc0
> s_waitcnt vmcnt(0)
v1 := (lane < 32) * lane * 3; mem := i * 3 + (i < 32) * i
