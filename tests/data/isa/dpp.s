# Data-parallel primitives: every control, masks, and what happens to lanes without a source.
== quad_perm
v0 := lane
> v_mov_b32_dpp v1, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
v1 := lane ^ 3
== row_shl: no source keeps the destination
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf
v1 := lane % 16 == 15 ? 99 : lane + 1
== row_shl: bound_ctrl gives 0
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 row_shl:4 row_mask:0xf bank_mask:0xf bound_ctrl:0
v1 := lane % 16 > 11 ? 0 : lane + 4
== row_shr
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 row_shr:3 row_mask:0xf bank_mask:0xf
v1 := lane % 16 < 3 ? 99 : lane - 3
== row_ror
v0 := lane
> v_mov_b32_dpp v1, v0 row_ror:5 row_mask:0xf bank_mask:0xf
v1 := lane / 16 * 16 + (lane + 11) % 16
== row_mirror and row_half_mirror
v0 := lane
> v_mov_b32_dpp v1, v0 row_mirror row_mask:0xf bank_mask:0xf
> v_mov_b32_dpp v2, v0 row_half_mirror row_mask:0xf bank_mask:0xf
v1 := lane ^ 15; v2 := lane ^ 7
== row_bcast:15
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 row_bcast:15 row_mask:0xf bank_mask:0xf
v1 := lane < 16 ? 99 : lane / 16 * 16 - 1
== row_bcast:31
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 row_bcast:31 row_mask:0xf bank_mask:0xf
v1 := lane < 32 ? 99 : 31
== row_newbcast
v0 := lane
> v_mov_b32_dpp v1, v0 row_newbcast:6 row_mask:0xf bank_mask:0xf
v1 := lane / 16 * 16 + 6
== wave_shl and wave_shr
v0 := lane; v1 = 99; v2 = 99
> v_mov_b32_dpp v1, v0 wave_shl:1 row_mask:0xf bank_mask:0xf
> v_mov_b32_dpp v2, v0 wave_shr:1 row_mask:0xf bank_mask:0xf
v1 := lane == 63 ? 99 : lane + 1; v2 := lane == 0 ? 99 : lane - 1
== wave_rol and wave_ror
v0 := lane
> v_mov_b32_dpp v1, v0 wave_rol:1 row_mask:0xf bank_mask:0xf
> v_mov_b32_dpp v2, v0 wave_ror:1 row_mask:0xf bank_mask:0xf
v1 := (lane + 1) % 64; v2 := (lane + 63) % 64
== row_mask
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 quad_perm:[0,1,2,3] row_mask:0xa bank_mask:0xf
v1 := lane / 16 % 2 ? lane : 99
== bank_mask
v0 := lane; v1 = 99
> v_mov_b32_dpp v1, v0 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0x6
v1 := lane / 4 % 4 == 1 || lane / 4 % 4 == 2 ? lane : 99
== a source lane that is off keeps the destination
v0 := lane; v1 = 99; exec = 0xfffffffffffffff0
> v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf
> s_mov_b64 exec, -1
v1 := lane < 5 || lane % 16 == 0 ? 99 : lane - 1
== an inactive source lane under bound_ctrl
v0 := lane + 7; v1 = 99; exec = 0xfffffffffffffff0
> v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
> s_mov_b64 exec, -1
v1 := lane < 4 ? 99 : lane == 4 || lane % 16 == 0 ? 0 : lane + 6
== arithmetic: only src0 moves
v0 := lane; v1 = 1000; v2 = 99
> v_add_u32_dpp v2, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf
v2 := lane % 16 == 0 ? 99 : lane + 999
== arithmetic under bound_ctrl
v0 := lane; v1 = 1000
> v_add_u32_dpp v2, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
v2 := lane % 16 == 0 ? 1000 : lane + 999
== float with modifiers
v0 = 1f 2f; v1 = 10f
> v_add_f32_dpp v2, -v0, |v1| quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
v2 = 8f 9f
== v_mov_b64 with row_newbcast
v[0:1] := lane * 0x100000001
> v_mov_b64_dpp v[2:3], v[0:1] row_newbcast:3 row_mask:0xf bank_mask:0xf
v[2:3] := (lane / 16 * 16 + 3) * 0x100000001
