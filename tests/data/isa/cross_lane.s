# Lanes exchanging values: permutes, swizzles, readlane, writelane, MFMA accumulators, relative register indexing.
== ds_bpermute_b32 pulls
v0 := (lane * 7 % 64) * 4; v1 := lane + 1000
> ds_bpermute_b32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
v2 := lane * 7 % 64 + 1000
== ds_bpermute_b32: the address wraps, the offset adds
v0 := lane * 4 + 256; v1 := lane
> ds_bpermute_b32 v2, v0, v1 offset:8
> s_waitcnt lgkmcnt(0)
v2 := (lane + 2) % 64
== ds_bpermute_b32 from an inactive lane gives 0
v0 := (lane ^ 1) * 4; v1 = 5; v2 = 99; exec = 0x5555555555555557
> ds_bpermute_b32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
v2 := lane < 2 ? 5 : lane % 2 ? 99 : 0
== ds_permute_b32 pushes
v0 := (lane * 7 % 64) * 4; v1 := lane + 1000
> ds_permute_b32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
v2 := lane * 55 % 64 + 1000
== ds_permute_b32: active lanes that nobody writes to get 0
v0 := lane * 8; v1 := lane + 1; v2 = 99; exec = 0xffffffff
> ds_permute_b32 v2, v0, v1
> s_waitcnt lgkmcnt(0)
> s_mov_b64 exec, -1
v2 := lane >= 32 ? 99 : lane % 2 ? 0 : lane / 2 + 1
== ds_swizzle_b32: bit masks within 32 lanes
v0 := lane
> ds_swizzle_b32 v1, v0 offset:swizzle(BITMASK_PERM, "00p1i")
> ds_swizzle_b32 v2, v0 offset:swizzle(SWAP, 16)
> ds_swizzle_b32 v3, v0 offset:swizzle(REVERSE, 8)
> ds_swizzle_b32 v4, v0 offset:swizzle(BROADCAST, 8, 3)
> s_waitcnt lgkmcnt(0)
v1 := lane / 32 * 32 + (lane & 4) + 2 + (~lane & 1); v2 := lane ^ 16; v3 := lane ^ 7; v4 := lane / 8 * 8 + 3
== ds_swizzle_b32: quad permutation
v0 := lane
> ds_swizzle_b32 v1, v0 offset:swizzle(QUAD_PERM, 2, 0, 3, 1)
> s_waitcnt lgkmcnt(0)
v1 := lane / 4 * 4 + (lane % 4 == 0 ? 2 : lane % 4 == 1 ? 0 : lane % 4 == 2 ? 3 : 1)
== v_readlane_b32 ignores EXEC, lane number modulo 64
v0 := lane * 10; s1 = 70; exec = 1
> v_readlane_b32 s0, v0, 5
> v_readlane_b32 s2, v0, s1
> s_mov_b64 exec, -1
s0 = 50; s2 = 60
== v_writelane_b32
v0 = 7; s0 = 42; exec = 0
> v_writelane_b32 v0, s0, 9
> s_mov_b64 exec, -1
v0 := lane == 9 ? 42 : 7
== v_readfirstlane_b32
v0 := lane * 10; exec = 0xf0
> v_readfirstlane_b32 s0, v0
> s_mov_b64 exec, 0
> s_nop 4
> v_readfirstlane_b32 s1, v0
> s_mov_b64 exec, -1
s0 = 40; s1 = 0
== v_accvgpr_write_b32 and v_accvgpr_read_b32
v0 := lane * 3
> v_accvgpr_write_b32 a3, v0
> v_accvgpr_write_b32 a4, 1.0
> s_nop 4
> v_accvgpr_read_b32 v1, a3
> v_accvgpr_mov_b32 a5, a4
v1 := lane * 3; a4 = 1f; a5 = 1f
== s_set_gpr_idx_on: indexed source
v4 = 44; v5 = 55; v6 = 66; s0 = 2
> s_set_gpr_idx_on s0, gpr_idx(SRC0)
> v_mov_b32 v0, v4
> s_set_gpr_idx_off
> v_mov_b32 v1, v4
v0 = 66; v1 = 44
== s_set_gpr_idx_on: indexed destination
v0 = 7; v4 = 44; v5 = 55; v6 = 66; s0 = 1
> s_set_gpr_idx_on s0, gpr_idx(DST)
> v_mov_b32 v4, v0
> s_set_gpr_idx_off
v4 = 44; v5 = 7; v6 = 66
== s_set_gpr_idx_idx changes the index
v4 = 44; v5 = 55; v6 = 66; s0 = 0; s1 = 2
> s_set_gpr_idx_on s0, gpr_idx(SRC0)
> v_mov_b32 v0, v4
> s_set_gpr_idx_idx s1
> v_mov_b32 v1, v4
> s_set_gpr_idx_off
v0 = 44; v1 = 66
== v_mfma_f32_4x4x1_16b_f32: sixteen outer products
v0 := 0x3f800000; v1 = 2f; a0 = 1f; a1 = 1f; a2 = 1f; a3 = 1f
> v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[0:3]
> s_nop 15
a0 = 3f; a1 = 3f; a2 = 3f; a3 = 3f
