# Hardware registers, time, waits, and moves that fit nowhere else.
== s_getreg_b32 reads MODE
> s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 8)
s0 = 0xf0
== s_setreg_b32 writes a field
s0 = 2
> s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s0
> s_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 4)
> s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0
s1 = 2
== s_memtime advances
> s_memtime s[0:1]
> s_waitcnt lgkmcnt(0)
> s_sleep 1
> s_memtime s[2:3]
> s_waitcnt lgkmcnt(0)
> s_sub_u32 s4, s2, s0
> s_subb_u32 s5, s3, s1
> s_cmp_gt_u32 s4, 0
scc = 1; s5 = 0
== v_mov_b64 and literal constants
> v_mov_b64 v[0:1], 0x3ff00000
> v_mov_b32 v2, 0xdeadbeef
> v_mov_b32 v3, 0.15915494
v[0:1] = 0x3ff00000; v2 = 0xdeadbeef; v3 = 0x3e22f983
== special registers as vector operands
vcc = 0x500000003; exec = -1; m0 = 77
> v_mov_b32 v0, vcc_lo
> v_mov_b32 v1, vcc_hi
> v_mov_b32 v2, m0
> v_mov_b32 v3, exec_lo
v0 = 3; v1 = 5; v2 = 77; v3 = -1
== inline constants of each operand width
> v_add_f16 v0, 1.0, 1.0
> v_add_f32 v1, 1.0, 1.0
> v_add_f64 v[2:3], 1.0, 1.0
> v_add_u16 v4, -1, 0
v0 = 2h; v1 = 2f; v[2:3] = 2d; v4 = 0xffff
== s_mov of EXEC halves and VCC
> s_mov_b32 exec_lo, 0xff
> s_mov_b32 exec_hi, 0
> s_mov_b32 vcc_lo, exec_lo
> s_mov_b32 vcc_hi, 7
vcc = 0x7000000ff; exec = 0xff
