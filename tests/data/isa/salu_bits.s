# Scalar logic, shifts, bitfields, counts and moves.
== s_and_b64: nonzero
s[0:1] = 0xff00ff00ff00ff00; s[2:3] = 0x8000000000000001
> s_and_b64 s[4:5], s[0:1], s[2:3]
s[4:5] = 0x8000000000000000; scc = 1
== s_and_b32: zero
s0 = 0xf0; s1 = 0x0f; scc = 1
> s_and_b32 s2, s0, s1
s2 = 0; scc = 0
== s_andn2_b32
s0 = 0xff; s1 = 0x0f
> s_andn2_b32 s2, s0, s1
s2 = 0xf0; scc = 1
== s_orn2_b32
s0 = 0xf; s1 = 0xffffff00
> s_orn2_b32 s2, s0, s1
s2 = 0xff; scc = 1
== s_nand_b32
s0 = -1; s1 = -1; scc = 1
> s_nand_b32 s2, s0, s1
s2 = 0; scc = 0
== s_nor_b32
s0 = 1; s1 = 2
> s_nor_b32 s2, s0, s1
s2 = 0xfffffffc; scc = 1
== s_xnor_b32
s0 = 0xff00ff00; s1 = 0xffff0000
> s_xnor_b32 s2, s0, s1
s2 = 0xff0000ff; scc = 1
== s_not_b64
s[0:1] = 0xffffffffffffffff; scc = 1
> s_not_b64 s[2:3], s[0:1]
s[2:3] = 0; scc = 0
== s_lshl_b32: amount modulo 32
s0 = 3; s1 = 33
> s_lshl_b32 s2, s0, s1
s2 = 6; scc = 1
== s_lshl_b64: amount modulo 64
s[0:1] = 0x180000001; s2 = 95
> s_lshl_b64 s[4:5], s[0:1], s2
s[4:5] = 0xc000000080000000; scc = 1
== s_lshr_b64
s[0:1] = 0x8000000000000000; s2 = 63
> s_lshr_b64 s[4:5], s[0:1], s2
s[4:5] = 1; scc = 1
== s_ashr_i32
s0 = 0x80000000; s1 = 31
> s_ashr_i32 s2, s0, s1
s2 = -1; scc = 1
== s_ashr_i64
s[0:1] = 0x8000000000000000; s2 = 4
> s_ashr_i64 s[4:5], s[0:1], s2
s[4:5] = 0xf800000000000000; scc = 1
== s_bfe_u32
s0 = 0x12345678; s1 = 0x000c0008
> s_bfe_u32 s2, s0, s1
s2 = 0x456; scc = 1
== s_bfe_u32: width 0
s0 = 0x12345678; s1 = 0x00000008; scc = 1
> s_bfe_u32 s2, s0, s1
s2 = 0; scc = 0
== s_bfe_i32: sign
s0 = 0x00000f00; s1 = 0x00040008
> s_bfe_i32 s2, s0, s1
s2 = -1; scc = 1
== s_bfe_u64
s[0:1] = 0x123456789abcdef0; s2 = 0x00200010
> s_bfe_u64 s[4:5], s[0:1], s2
s[4:5] = 0x56789abc; scc = 1
== s_bfe_i64
s[0:1] = 0x0000008000000000; s2 = 0x00080020
> s_bfe_i64 s[4:5], s[0:1], s2
s[4:5] = 0xffffffffffffff80; scc = 1
== s_bfm_b32
s0 = 5; s1 = 4
> s_bfm_b32 s2, s0, s1
s2 = 0x1f0
== s_bfm_b64
s0 = 40; s1 = 8
> s_bfm_b64 s[2:3], s0, s1
s[2:3] = 0x0000ffffffffff00
== s_bcnt1_i32_b64
s[0:1] = 0x8000000000000001
> s_bcnt1_i32_b64 s2, s[0:1]
s2 = 2; scc = 1
== s_bcnt0_i32_b32
s0 = -1; scc = 1
> s_bcnt0_i32_b32 s2, s0
s2 = 0; scc = 0
== s_ff1_i32_b32
s0 = 0x00100000
> s_ff1_i32_b32 s2, s0
s2 = 20
== s_ff1_i32_b32: none
s0 = 0
> s_ff1_i32_b32 s2, s0
s2 = -1
== s_ff0_i32_b64
s[0:1] = 0x00000fffffffffff
> s_ff0_i32_b64 s2, s[0:1]
s2 = 44
== s_flbit_i32_b32
s0 = 0x0000ffff
> s_flbit_i32_b32 s2, s0
s2 = 16
== s_flbit_i32: run of the sign bit
s0 = 0xffff0000
> s_flbit_i32 s2, s0
s2 = 16
== s_flbit_i32: all the same
s0 = -1
> s_flbit_i32 s2, s0
s2 = -1
== s_brev_b32
s0 = 0x00000003
> s_brev_b32 s2, s0
s2 = 0xc0000000
== s_brev_b64
s[0:1] = 1
> s_brev_b64 s[2:3], s[0:1]
s[2:3] = 0x8000000000000000
== s_wqm_b32
s0 = 0x00100401
> s_wqm_b32 s2, s0
s2 = 0x00f00f0f; scc = 1
== s_quadmask_b32
s0 = 0x00100401
> s_quadmask_b32 s2, s0
s2 = 0x00000025; scc = 1
== s_bitreplicate_b64_b32
s0 = 0x80000005
> s_bitreplicate_b64_b32 s[2:3], s0
s[2:3] = 0xc000000000000033
== s_sext_i32_i8
s0 = 0x17f80
> s_sext_i32_i8 s2, s0
s2 = 0xffffff80
== s_sext_i32_i16
s0 = 0x17fff
> s_sext_i32_i16 s2, s0
s2 = 0x7fff
== s_bitset0_b32 and s_bitset1_b32
s0 = 3; s1 = 31; s2 = 0x0000000f
> s_bitset0_b32 s2, s0
> s_bitset1_b32 s2, s1
s2 = 0x80000007
== s_pack
s0 = 0x11112222; s1 = 0x33334444
> s_pack_ll_b32_b16 s2, s0, s1
> s_pack_lh_b32_b16 s3, s0, s1
> s_pack_hh_b32_b16 s4, s0, s1
s2 = 0x44442222; s3 = 0x33332222; s4 = 0x33331111
== s_cselect_b32 and s_cmov_b32
s0 = 1; s1 = 2; s3 = 7; scc = 1
> s_cselect_b32 s2, s0, s1
> s_cmov_b32 s3, s1
s2 = 1; s3 = 2
== s_cselect_b64: false
s[0:1] = 0x1111111111111111; s[2:3] = 0x2222222222222222; scc = 0
> s_cselect_b64 s[4:5], s[0:1], s[2:3]
s[4:5] = 0x2222222222222222
== s_movk_i32
> s_movk_i32 s2, 0x8000
s2 = 0xffff8000
== s_cmovk_i32: not taken
s2 = 5; scc = 0
> s_cmovk_i32 s2, 0x1234
s2 = 5
== inline constants
> s_mov_b32 s2, -16
> s_mov_b32 s3, 64
> s_mov_b32 s4, -4.0
> s_mov_b64 s[6:7], 0.5
> s_mov_b32 s5, 0.15915494
s2 = 0xfffffff0; s3 = 64; s4 = 0xc0800000; s[6:7] = 0x3fe0000000000000; s5 = 0x3e22f983
== s_movrels_b32 and s_movreld_b32
s4 = 44; s5 = 55; s6 = 66; m0 = 2
> s_movrels_b32 s0, s4
> s_movreld_b32 s1, s5
s0 = 66; s3 = 55
