# Vector shifts, bitfields, permutations and counts.
== shifts take the amount modulo 32
v0 = 0 1 31 32 33; v1 = 0x80000001
> v_lshlrev_b32 v2, v0, v1
> v_lshrrev_b32 v3, v0, v1
> v_ashrrev_i32 v4, v0, v1
v2 = 0x80000001 2 0x80000000 0x80000001 2
v3 = 0x80000001 0x40000000 1 0x80000001 0x40000000
v4 = 0x80000001 0xc0000000 -1 0x80000001 0xc0000000
== 64-bit shifts
v0 = 4 63 64; v[2:3] = 0x8000000000000001
> v_lshlrev_b64 v[4:5], v0, v[2:3]
> v_lshrrev_b64 v[6:7], v0, v[2:3]
> v_ashrrev_i64 v[10:11], v0, v[2:3]
v[4:5] = 0x10 0x8000000000000000 0x8000000000000001
v[6:7] = 0x0800000000000000 1 0x8000000000000001
v[10:11] = 0xf800000000000000 -1 0x8000000000000001
== v_bfe_u32 and v_bfe_i32
v0 = 0x12345678; v1 = 8 28 0; v2 = 12 8 0
> v_bfe_u32 v3, v0, v1, v2
> v_bfe_i32 v4, v0, v1, v2
v3 = 0x456 1 0; v4 = 0x456 1 0
== v_bfe_i32: sign
v0 = 0x00000f00
> v_bfe_i32 v1, v0, 8, 4
v1 = -1
== v_bfi_b32
v0 = 0x00ffff00; v1 = 0x11223344; v2 = 0xaabbccdd
> v_bfi_b32 v3, v0, v1, v2
v3 = 0xaa2233dd
== v_bfm_b32
v0 = 5 0; v1 = 4
> v_bfm_b32 v2, v0, v1
v2 = 0x1f0 0
== v_alignbit_b32 and v_alignbyte_b32
v0 = 0x11223344; v1 = 0x55667788; v2 = 4 36 3
> v_alignbit_b32 v3, v0, v1, v2
> v_alignbyte_b32 v4, v0, v1, v2
v3 = 0x45566778 0x45566778 0x8aaccef1; v4 = 0x55667788 0x55667788 0x22334455
== v_perm_b32
v0 = 0x8899aabb; v1 = 0x11f23344; v2 = 0x07060100 0x0c0d0504 0x0b0a0908
> v_perm_b32 v3, v0, v1, v2
v3 = 0x88993344 0x00ffaabb 0xffff0000
== v_lerp_u8
v0 = 0x0002ff05; v1 = 0x0004ff08; v2 = 0x01010100
> v_lerp_u8 v3, v0, v1, v2
v3 = 0x0003ff06
== v_bcnt, v_mbcnt
v0 = 0xf0f0; v1 = 10
> v_bcnt_u32_b32 v2, v0, v1
> v_mbcnt_lo_u32_b32 v3, -1, 0
> v_mbcnt_hi_u32_b32 v3, -1, v3
v2 = 18; v3 := lane
== v_ffbh, v_ffbl
v0 = 1 0 0x80000000 -1
> v_ffbh_u32 v1, v0
> v_ffbl_b32 v2, v0
> v_ffbh_i32 v3, v0
v1 = 31 -1 0 0; v2 = 0 -1 31 0; v3 = 31 -1 1 -1
== v_bfrev_b32 and v_not_b32
v0 = 0x80000006
> v_bfrev_b32 v1, v0
> v_not_b32 v2, v0
v1 = 0x60000001; v2 = 0x7ffffff9
== v_xnor_b32
v0 = 0xff00ff00; v1 = 0xffff0000
> v_xnor_b32 v2, v0, v1
v2 = 0xff0000ff
== v_cndmask_b32
v0 = 1; v1 = 2; vcc = 0x5555555555555555; s[0:1] = 0xffffffff00000000
> v_cndmask_b32 v2, v0, v1, vcc
> v_cndmask_b32 v3, v0, v1, s[0:1]
v2 = 2 1; v3 := lane < 32 ? 1 : 2
== 16-bit shifts
v0 = 4 20; v1 = 0xffff8001
> v_lshlrev_b16 v2, v0, v1
> v_lshrrev_b16 v3, v0, v1
> v_ashrrev_i16 v4, v0, v1
v2 = 0x0010; v3 = 0x0800; v4 = 0xf800
== v_swap_b32
v0 := lane; v1 := lane + 100
> v_swap_b32 v0, v1
v0 := lane + 100; v1 := lane
== v_pack_b32_f16
v0 = 1h:2h; v1 = 3h:4h
> v_pack_b32_f16 v2, v0, v1
> v_pack_b32_f16 v3, v0, v1 op_sel:[1,1,0]
v2 = 1h:3h; v3 = 2h:4h
