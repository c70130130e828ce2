# Global, flat, buffer, scalar and scratch memory.
== global_load_dword with a scalar base
v0 := lane * 4; mem := i * 3
> global_load_dword v1, v0, s[8:9] offset:8
> s_waitcnt vmcnt(0)
v1 := lane * 3 + 6
== global_load_dword with a vector address and a negative offset
v0 := lane * 4 + 16; mem := i * 3
> v_mov_b32 v3, s9
> v_add_co_u32 v2, vcc, s8, v0
> v_addc_co_u32 v3, vcc, 0, v3, vcc
> global_load_dword v1, v[2:3], off offset:64
> global_load_dword v4, v[2:3], off offset:-16
> s_waitcnt vmcnt(0)
v1 := lane * 3 + 60; v4 := lane * 3
== flat_load and flat_store
v0 := lane * 4; mem := i * 3; v5 := lane + 500
> v_mov_b32 v3, s9
> v_add_co_u32 v2, vcc, s8, v0
> v_addc_co_u32 v3, vcc, 0, v3, vcc
> flat_load_dword v1, v[2:3]
> flat_store_dword v[2:3], v5 offset:1024
> s_waitcnt vmcnt(0) lgkmcnt(0)
v1 := lane * 3; mem[1024] = 500 501 502 503
== wide global loads
v0 := lane * 16; mem := i + 7
> global_load_dwordx2 v[2:3], v0, s[8:9]
> global_load_dwordx3 v[4:6], v0, s[8:9]
> global_load_dwordx4 v[16:19], v0, s[8:9] offset:16
> s_waitcnt vmcnt(0)
v2 := lane * 4 + 7; v3 := lane * 4 + 8; v6 := lane * 4 + 9; v16 := lane * 4 + 11; v19 := lane * 4 + 14
== wide global stores
v0 = 0; v2 = 1; v3 = 2; v4 = 3; v5 = 4; exec = 1
> global_store_dwordx2 v0, v[2:3], s[8:9]
> global_store_dwordx3 v0, v[2:4], s[8:9] offset:16
> global_store_dwordx4 v0, v[2:5], s[8:9] offset:32
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 1 2 0 0 1 2 3 0 1 2 3 4
== bytes and shorts, unaligned too
v0 := lane; mem = 0x80ff7f01
> global_load_ubyte v1, v0, s[8:9]
> global_load_sbyte v2, v0, s[8:9]
> global_load_sshort v3, v0, s[8:9]
> global_load_dword v4, v0, s[8:9]
> s_waitcnt vmcnt(0)
v1 = 0x01 0x7f 0xff 0x80; v2 = 1 0x7f -1 -128; v3 = 0x7f01 0xffffff7f 0xffff80ff 0x0180; v4 = 0x80ff7f01 0x0180ff7f 0x7f0180ff 0xff7f0180
== d16 and d16_hi loads keep the other half
v0 = 0; v1 = 0x11112222; v2 = 0x11112222; v3 = 0x11112222; v4 = 0x11112222; mem = 0xabcd89ef
> global_load_short_d16 v1, v0, s[8:9]
> global_load_short_d16_hi v2, v0, s[8:9] offset:2
> global_load_ubyte_d16 v3, v0, s[8:9]
> global_load_sbyte_d16_hi v4, v0, s[8:9]
> s_waitcnt vmcnt(0)
v1 = 0x111189ef; v2 = 0xabcd2222; v3 = 0x111100ef; v4 = 0xffef2222
== byte, short and d16_hi stores
v0 = 0; v1 = 0xaabbccdd; exec = 1
> global_store_byte v0, v1, s[8:9]
> global_store_short v0, v1, s[8:9] offset:2
> global_store_byte_d16_hi v0, v1, s[8:9] offset:4
> global_store_short_d16_hi v0, v1, s[8:9] offset:6
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 0xccdd00dd 0xaabb00bb
== inactive lanes touch nothing
v0 := lane * 0x10000000; v1 = 99; mem := i; exec = 1
> global_load_dword v1, v0, s[8:9]
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
v1 := lane ? 99 : 0
== buffer_load_dword: offsets add up
v0 := lane * 4; s0 = 16; mem := i * 2
> buffer_load_dword v1, v0, s[12:15], s0 offen offset:8
> buffer_load_dword v2, off, s[12:15], s0 offset:4
> s_waitcnt vmcnt(0)
v1 := lane * 2 + 12; v2 = 10
== buffer loads out of range give 0, stores are dropped
v0 := lane * 128; v1 = 99; v3 = 5; mem := i + 1
> buffer_load_dword v2, v0, s[12:15], 0 offen offset:0
> buffer_store_dword v3, v0, s[12:15], 0 offen offset:4
> s_waitcnt vmcnt(0)
v2 := lane < 32 ? lane * 32 + 1 : 0; mem[0] = 1 5 3; mem[128] = 33 5 35
== buffer_load_dwordx4 and buffer_store_short_d16_hi
v0 := lane * 16; v1 = 0x12345678; mem := i
> buffer_load_dwordx4 v[4:7], v0, s[12:15], 0 offen
> s_waitcnt vmcnt(0)
> buffer_store_short_d16_hi v1, off, s[12:15], 0 offset:2
> s_waitcnt vmcnt(0)
v4 := lane * 4; v7 := lane * 4 + 3; mem[0] = 0x12340000 1
== s_load and s_buffer_load
mem := i * 11
> s_load_dword s0, s[8:9], 0x4
> s_load_dwordx2 s[2:3], s[8:9], 0x8
> s_load_dwordx4 s[4:7], s[8:9], 0x10
> s_buffer_load_dword s16, s[12:15], 0x40
> s_waitcnt lgkmcnt(0)
s0 = 11; s2 = 22; s3 = 33; s4 = 44; s7 = 77; s16 = 176
== s_load_dword with an SGPR offset
mem := i * 11; s0 = 20
> s_load_dword s1, s[8:9], s0
> s_waitcnt lgkmcnt(0)
s1 = 55
== scratch_store and scratch_load are private to the lane
v0 := lane * 9; v1 = 16; s0 = 32
> scratch_store_dword off, v0, off offset:16
> scratch_store_dword off, v1, s0
> s_waitcnt vmcnt(0)
> scratch_load_dword v2, v1, off
> scratch_load_dword v3, off, s0
> s_waitcnt vmcnt(0)
v2 := lane * 9; v3 = 16
== scratch bytes and quads
v0 = 0x11223344; v1 = 0x55667788; v2 = 3; v3 = 4
> scratch_store_dwordx4 off, v[0:3], off offset:64
> s_waitcnt vmcnt(0)
> scratch_load_ubyte v4, off, off offset:66
> scratch_load_short_d16_hi v5, off, off offset:68
> s_waitcnt vmcnt(0)
> v_lshrrev_b32 v5, 16, v5
v4 = 0x22; v5 = 0x7788
== global_load_lds_dword: M0 and lane give the LDS address
v0 := lane * 8; m0 = 64; mem := i
> global_load_lds_dword v0, s[8:9]
> s_waitcnt vmcnt(0)
lds[64] = 0 2 4 6 8
== s_store_dword
s16 = 7; s17 = 9; s18 = 16
> s_store_dwordx2 s[16:17], s[8:9], 0x8
> s_store_dword s17, s[8:9], s18
> s_dcache_wb
> s_waitcnt lgkmcnt(0)
mem[8] = 7 9 9
== scratch_load_lds_dword
v0 := lane + 5; m0 = 128
> scratch_store_dword off, v0, off offset:16
> s_waitcnt vmcnt(0)
> scratch_load_lds_dword off, off offset:16
> s_waitcnt vmcnt(0)
lds[144] = 5 6 7 8
== flat access to LDS and to private memory
lds := i * 3; v2 := lane * 4; v6 = 32; v8 := lane % 4 + 32; v10 = 0xff; v14 := lane % 3 * 8
> s_mov_b64 s[0:1], src_shared_base
> v_mov_b32 v3, s1
> flat_load_dword v4, v[2:3]
> s_mov_b64 s[2:3], src_private_base
> v_mov_b32 v7, s3
> v_mov_b32 v9, s3
> v_mov_b32 v15, s3
> s_waitcnt vmcnt(0) lgkmcnt(0)
> flat_store_dword v[6:7], v4
> s_waitcnt vmcnt(0) lgkmcnt(0)
> flat_store_byte v[8:9], v10
> s_waitcnt vmcnt(0) lgkmcnt(0)
> scratch_load_dword v11, off, off offset:32
> s_waitcnt vmcnt(0)
> flat_store_dwordx2 v[14:15], v[10:11]
> s_waitcnt vmcnt(0) lgkmcnt(0)
> flat_load_dword v12, v[14:15]
> s_waitcnt vmcnt(0) lgkmcnt(0)
v4 := lane * 3; v11 := lane * 3 | 255 << (lane % 4 * 8); v12 = 0xff
