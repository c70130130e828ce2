# Loads and stores of every width and kind of memory. The memory holds 0x80ff7f01 0xfedcba98 …; small loads read at byte 2.
== {kind}_load_{op}: the result fills the register
@ op = ubyte sbyte ushort sshort
@ value = 0xff -1 0x80ff 0xffff80ff
@@ kind = global flat buffer
@ text = global_load_{op} v2, v0, s[8:9] offset:2 | flat_load_{op} v2, v[4:5] offset:2 | buffer_load_{op} v2, off, s[12:15], 0 offset:2
v0 = 0; v2 = 0x11112222; mem = 0x80ff7f01 0xfedcba98
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
v2 = {value}
== {kind}_load_{op}: the other half stays
@ op = ubyte_d16 ubyte_d16_hi sbyte_d16 sbyte_d16_hi short_d16 short_d16_hi
@ value = 0x111100ff 0x00ff2222 0x1111ffff 0xffff2222 0x111180ff 0x80ff2222
@@ kind = global flat buffer
@ text = global_load_{op} v2, v0, s[8:9] offset:2 | flat_load_{op} v2, v[4:5] offset:2 | buffer_load_{op} v2, off, s[12:15], 0 offset:2
v0 = 0; v2 = 0x11112222; mem = 0x80ff7f01 0xfedcba98
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
v2 = {value}
== {kind}_load of whole dwords
@ kind = global flat buffer
@ at = v0, s[8:9] | v[4:5] | off, s[12:15], 0
v0 = 0; mem := i * 3 + 1
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {kind}_load_dword v6, {at} offset:8
> {kind}_load_dwordx2 v[16:17], {at} offset:8
> {kind}_load_dwordx3 v[20:22], {at} offset:8
> {kind}_load_dwordx4 v[24:27], {at} offset:8
> s_waitcnt vmcnt(0) lgkmcnt(0)
v6 = 7; v16 = 7; v17 = 10; v20 = 7; v21 = 10; v22 = 13; v24 = 7; v25 = 10; v26 = 13; v27 = 16
== {kind}_store_{op}
@ op = byte byte_d16_hi short short_d16_hi
@ value = 0x11dd1111 0x11bb1111 0xccdd1111 0xaabb1111
@@ kind = global flat buffer
@ text = global_store_{op} v0, v1, s[8:9] offset:2 | flat_store_{op} v[4:5], v1 offset:2 | buffer_store_{op} v1, off, s[12:15], 0 offset:2
v0 = 0; v1 = 0xaabbccdd; mem = 0x11111111
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {text}
> s_waitcnt vmcnt(0) lgkmcnt(0)
mem[0] = {value} 0x11111111
== {kind}_store of whole dwords
@ kind = global flat buffer
@ d = dword dword dword
@ one = v0, v20, s[8:9] | v[4:5], v20 | v20, off, s[12:15], 0
@ two = v0, v[20:21], s[8:9] | v[4:5], v[20:21] | v[20:21], off, s[12:15], 0
@ three = v0, v[20:22], s[8:9] | v[4:5], v[20:22] | v[20:22], off, s[12:15], 0
@ four = v0, v[20:23], s[8:9] | v[4:5], v[20:23] | v[20:23], off, s[12:15], 0
v0 = 0; v20 = 1; v21 = 2; v22 = 3; v23 = 4
> v_mov_b32 v4, s8
> v_mov_b32 v5, s9
> {kind}_store_dword {one} offset:4
> {kind}_store_dwordx2 {two} offset:16
> {kind}_store_dwordx3 {three} offset:32
> {kind}_store_dwordx4 {four} offset:48
> s_waitcnt vmcnt(0) lgkmcnt(0)
mem[0] = 0 1 0 0 1 2 0 0 1 2 3 0 1 2 3 4 0
== scratch_load_{op}
@ op = ubyte sbyte ushort sshort ubyte_d16 ubyte_d16_hi sbyte_d16 sbyte_d16_hi short_d16 short_d16_hi
@ value = 0xff -1 0x80ff 0xffff80ff 0x111100ff 0x00ff2222 0x1111ffff 0xffff2222 0x111180ff 0x80ff2222
v1 = 0x80ff7f01; v2 = 0x11112222; v3 = 4
> scratch_store_dword off, v1, off offset:8
> scratch_load_{op} v2, v3, off offset:6
> s_waitcnt vmcnt(0)
v2 = {value}
== scratch_store_{op}
@ op = byte byte_d16_hi short short_d16_hi
@ value = 0x11dd1111 0x11bb1111 0xccdd1111 0xaabb1111
v0 = 0x11111111; v1 = 0xaabbccdd; v3 = 4
> scratch_store_dword off, v0, off offset:8
> scratch_store_{op} v3, v1, off offset:6
> scratch_load_dword v2, off, off offset:8
> s_waitcnt vmcnt(0)
v2 = {value}
== scratch memory: each lane has its own dwords
v0 := lane; v1 := lane * 2; v2 := lane * 3; v3 := lane * 5; v4 = 16; s0 = 32
> scratch_store_dwordx2 off, v[0:1], off offset:16
> scratch_store_dwordx3 off, v[0:2], s0
> scratch_store_dwordx4 v4, v[0:3], off offset:32
> scratch_load_dwordx2 v[16:17], off, off offset:32
> scratch_load_dwordx3 v[18:20], v4, off offset:32
> scratch_load_dwordx4 v[24:27], off, s0 offset:16
> scratch_load_dwordx2 v[6:7], off, off offset:16
> s_waitcnt vmcnt(0)
v16 := lane; v17 := lane * 2; v18 := lane; v19 := lane * 2; v20 := lane * 3
v24 := lane; v25 := lane * 2; v26 := lane * 3; v27 := lane * 5; v6 := lane; v7 := lane * 2
== {kind}_load_lds_{op}: small loads fill a dword each
@ op = ubyte sbyte ushort sshort dword
@ value = 0xff -1 0x80ff 0xffff80ff 0xba9880ff
@@ kind = global scratch
@ text = global_load_lds_{op} v0, s[8:9] | scratch_load_lds_{op} v0, off
v0 = 2; v2 = 0x80ff7f01; v3 = 0xfedcba98; mem = 0x80ff7f01 0xfedcba98; m0 = 64
> scratch_store_dwordx2 off, v[2:3], off
> {text}
> s_waitcnt vmcnt(0)
lds[60] = 0 {value} {value} {value}
== ds_read_{op} keep the other half
@ op = u8_d16 u8_d16_hi i8_d16 i8_d16_hi
@ value = 0x111100ff 0x00ff2222 0x1111ffff 0xffff2222
v0 = 2; v2 = 0x11112222; lds = 0x80ff7f01
> ds_read_{op} v2, v0
> s_waitcnt lgkmcnt(0)
v2 = {value}
== ds_write2_b64 and ds_write2st64_b32
v0 = 0; v[2:3] = 0x200000001; v[4:5] = 0x400000003; exec = 1
> ds_write2_b64 v0, v[2:3], v[4:5] offset0:1 offset1:3
> ds_write2st64_b32 v0, v2, v4 offset0:1 offset1:3
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
lds[0] = 0 0 1 2 0 0 3 4 0; lds[256] = 1 0; lds[768] = 3 0
== ds_nop
v0 = 5
> ds_nop
> s_waitcnt lgkmcnt(0)
v0 = 5
== ds_read_addtid_b32 and ds_write_addtid_b32: M0, offset, four bytes a lane
v0 := lane * 7; m0 = 16; lds := i
> ds_read_addtid_b32 v1 offset:8
> ds_write_addtid_b32 v0 offset:1024
> s_waitcnt lgkmcnt(0)
v1 := lane + 6; lds[1036] = 259 0 7 14 21
== s_load of every width
mem := i * 3 + 1
> s_load_dword s0, s[8:9], 0x4
> s_load_dwordx2 s[2:3], s[8:9], 0x8
> s_load_dwordx4 s[4:7], s[8:9], 0x10
> s_load_dwordx8 s[16:23], s[8:9], 0x20
> s_waitcnt lgkmcnt(0)
s0 = 4; s2 = 7; s3 = 10; s4 = 13; s7 = 22; s16 = 25; s19 = 34; s20 = 37; s23 = 46
== s_load_dwordx16
mem := i * 3 + 1
> s_load_dwordx16 s[16:31], s[8:9], 0x40
> s_waitcnt lgkmcnt(0)
s16 = 49; s17 = 52; s23 = 70; s24 = 73; s30 = 91; s31 = 94
== s_buffer_load of every width: zero past the end
mem := i * 3 + 1; s14 = 44; s11 = 8
> s_buffer_load_dword s0, s[12:15], 0x28
> s_buffer_load_dword s1, s[12:15], 0x2c
> s_buffer_load_dwordx2 s[2:3], s[12:15], s11
> s_buffer_load_dwordx4 s[4:7], s[12:15], 0x10
> s_buffer_load_dwordx8 s[16:23], s[12:15], 0x20
> s_waitcnt lgkmcnt(0)
s0 = 31; s1 = 0; s2 = 7; s3 = 10; s4 = 13; s7 = 22; s16 = 25; s17 = 28; s18 = 31; s19 = 0; s23 = 0
== s_buffer_load_dwordx16
mem := i * 3 + 1
> s_buffer_load_dwordx16 s[16:31], s[12:15], 0x40
> s_waitcnt lgkmcnt(0)
s16 = 49; s17 = 52; s24 = 73; s31 = 94
== s_store and s_buffer_store: past the end nothing is written
s0 = 1; s1 = 2; s2 = 3; s3 = 4; s14 = 72; s11 = 4
> s_store_dword s0, s[8:9], s11
> s_store_dwordx2 s[0:1], s[8:9], 0x8
> s_store_dwordx4 s[0:3], s[8:9], 0x10
> s_buffer_store_dword s0, s[12:15], 0x20
> s_buffer_store_dwordx2 s[0:1], s[12:15], 0x28
> s_buffer_store_dwordx4 s[0:3], s[12:15], 0x30
> s_buffer_store_dwordx4 s[0:3], s[12:15], 0x40
> s_waitcnt lgkmcnt(0)
> s_dcache_wb
mem[0] = 0 1 1 2 1 2 3 4 1 0 1 2 1 2 3 4 1 2 0 0
== s_scratch_load and s_scratch_store: an SGPR counts 64 bytes
s0 = 1; s1 = 2; s2 = 3; s3 = 4; s11 = 2; mem := i * 3
> s_scratch_store_dword s0, s[8:9], s11
> s_scratch_store_dwordx2 s[0:1], s[8:9], 0x88
> s_scratch_store_dwordx4 s[0:3], s[8:9], 0x90
> s_scratch_load_dword s16, s[8:9], s11 offset:0x4
> s_scratch_load_dwordx2 s[18:19], s[8:9], 0x20
> s_scratch_load_dwordx4 s[20:23], s[8:9], s11
> s_waitcnt lgkmcnt(0)
s16 = 99; s18 = 24; s19 = 27; s20 = 1; s21 = 99; s22 = 1; s23 = 2; mem[124] = 93 1 99 1 2 1 2 3 4 120
== instructions of caches and translations change nothing
s0 = 3; mem = 5
> s_dcache_inv
> s_dcache_inv_vol
> s_dcache_wb_vol
> s_dcache_discard s[8:9], 0x0
> s_dcache_discard_x2 s[8:9], s0
> s_atc_probe 7, s[8:9], 0x0
> s_atc_probe_buffer 7, s[12:15], s0
> s_icache_inv
> buffer_wbl2 sc1
> buffer_inv sc1
> s_waitcnt vmcnt(0) lgkmcnt(0)
mem[0] = 5; s0 = 3
== tbuffer_load_format_d16: halves, two a register
mem = 1h:2h 3h:4h; v6 = -1; v7 = -1; v16 = -1; v17 = -1; v4 = -1
> tbuffer_load_format_x v0, off, s[12:15], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT] offset:2
> tbuffer_load_format_d16_x v4, off, s[12:15], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT] offset:2
> tbuffer_load_format_d16_xyz v[6:7], off, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
> tbuffer_load_format_d16_xyzw v[16:17], off, s[12:15], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
> s_waitcnt vmcnt(0)
v0 = 2f; v4 = 0xffff4000; v6 = 1h:2h; v7 = 0xffff4200; v16 = 1h:2h; v17 = 3h:4h
== tbuffer_store_format_d16
v2 = 1h:0.5h; v3 = 0.25h:1h; exec = 1
> tbuffer_store_format_d16_x v2, off, s[12:15], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]
> tbuffer_store_format_d16_xy v2, off, s[12:15], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_FLOAT] offset:8
> tbuffer_store_format_d16_xyz v[2:3], off, s[12:15], 0 format:[BUF_DATA_FORMAT_32_32_32,BUF_NUM_FORMAT_FLOAT] offset:16
> tbuffer_store_format_d16_xyzw v[2:3], off, s[12:15], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UNORM] offset:32
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 1f 0 1f 0.5f 1f 0.5f 0.25f 0 0xff4080ff
== buffer_load_format: the resource's format, 8_8_8_8 unorm, components x y z w
mem = 0xff80ff00; s15 = 0x00050fac; v16 = -1; v18 = -1; v20 = -1; v21 = -1; v22 = -1; v23 = -1; v24 = 0x11112222
> buffer_load_format_x v0, off, s[12:15], 0
> buffer_load_format_xy v[2:3], off, s[12:15], 0
> buffer_load_format_xyz v[4:6], off, s[12:15], 0
> buffer_load_format_xyzw v[28:31], off, s[12:15], 0
> buffer_load_format_d16_x v16, off, s[12:15], 0
> buffer_load_format_d16_xy v18, off, s[12:15], 0
> buffer_load_format_d16_xyz v[20:21], off, s[12:15], 0
> buffer_load_format_d16_xyzw v[22:23], off, s[12:15], 0
> buffer_load_format_d16_hi_x v24, off, s[12:15], 0
> s_waitcnt vmcnt(0)
v0 = 0f; v2 = 0f; v3 = 1f; v4 = 0f; v5 = 1f; v6 = 0x3f008081; v28 = 0f; v29 = 1f; v30 = 0x3f008081; v31 = 1f
v16 = 0xffff0000; v18 = 0h:1h; v20 = 0h:1h; v21 = 0xffff3804; v22 = 0h:1h; v23 = 0x3c003804; v24 = 0x00002222
== buffer_store_format: the resource's formats, one after the other
v0 = 1f; v1 = 0.5f; v2 = 0f; v3 = 1f; v4 = 1h:0.5h; v5 = 0h:1h; exec = 1
> s_mov_b32 s15, 0x00008fac
> buffer_store_format_x v0, off, s[12:15], 0
> buffer_store_format_d16_x v4, off, s[12:15], 0 offset:16
> buffer_store_format_d16_hi_x v4, off, s[12:15], 0 offset:32
> s_mov_b32 s15, 0x00018fac
> buffer_store_format_xy v[0:1], off, s[12:15], 0 offset:4
> buffer_store_format_d16_xy v4, off, s[12:15], 0 offset:20
> s_mov_b32 s15, 0x0006ffac
> buffer_store_format_xyz v[0:2], off, s[12:15], 0 offset:36
> buffer_store_format_d16_xyz v[4:5], off, s[12:15], 0 offset:48
> s_mov_b32 s15, 0x00050fac
> buffer_store_format_xyzw v[0:3], off, s[12:15], 0 offset:12
> buffer_store_format_d16_xyzw v[4:5], off, s[12:15], 0 offset:28
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 0xff 0x80ff 0 0xff0080ff 0xff 0x80ff 0 0xff0080ff 0x80 1f 0.5f 0 1f 0.5f 0
== buffer_wbinvl1 and buffer_wbinvl1_vol
v0 = 5
> buffer_wbinvl1
> buffer_wbinvl1_vol
> s_waitcnt vmcnt(0)
v0 = 5
