# Scalar instructions that the other files leave out: logic, bits, program flow, messages and modes.
== s_{op}_b32
@ op = xor not
@ text = s_xor_b32 s2, s0, s1 | s_not_b32 s2, s0
@ value = 0x00ffff00 0xff00ff00
s0 = 0x00ff00ff; s1 = 0x0000ffff
> {text}
s2 = {value}; scc = 1
== s_{op}_b64
@ op = or xor nand nor xnor andn2 orn2
@ value = 0x00ffff00ffffffff 0x00ff000000ff00ff 0xffff00ff00ff00ff 0xff0000ff00000000 0xff00ffffff00ff00 0x0000000000000000 0xff00ffffff00ff00
@ scc = 1 1 1 1 1 0 1
s[0:1] = 0x0000ff00ff00ff00; s[2:3] = 0x00ffff00ffffffff
> s_{op}_b64 s[4:5], s[0:1], s[2:3]
s[4:5] = {value}; scc = {scc}
== s_{op}_saveexec_b64
@ op = nand or nor xnor orn1
@ value = 0xfffffffffffffff0 0xfff 0xfffffffffffff000 0xfffffffffffff00f 0xfffffffffffff0ff
exec = 0x0ff; s[0:1] = 0xf0f
> s_{op}_saveexec_b64 s[2:3], s[0:1]
> s_cselect_b32 s6, 1, 0
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
s[2:3] = 0xff; s[4:5] = {value}; s6 = 1
== s_andn1_wrexec_b64: EXEC and not S0
exec = 0xff; s[0:1] = 0x0f
> s_andn1_wrexec_b64 s[2:3], s[0:1]
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
s[2:3] = 0xf0; s[4:5] = 0xf0
== s_bcnt, s_ff, s_flbit
s0 = 0x80000013; s[2:3] = 0x000f00000000ffff; s1 = 0x7; s[4:5] = 0x100000000000; s[6:7] = 0xffff800000000000
> s_bcnt1_i32_b32 s16, s0
> s_bcnt0_i32_b64 s17, s[2:3]
> s_ff0_i32_b32 s18, s1
> s_ff0_i32_b32 s19, -1
> s_ff1_i32_b64 s20, s[4:5]
> s_flbit_i32_b64 s21, s[4:5]
> s_flbit_i32_i64 s22, s[6:7]
> s_flbit_i32_i64 s23, 0
s16 = 4; s17 = 44; s18 = 3; s19 = -1; s20 = 44; s21 = 19; s22 = 17; s23 = -1
== s_bitset0_b64 and s_bitset1_b64
s[0:1] = -1; s[2:3] = 0; s4 = 101
> s_bitset0_b64 s[0:1], s4
> s_bitset1_b64 s[2:3], s4
s[0:1] = 0xffffffdfffffffff; s[2:3] = 0x2000000000
== s_quadmask_b64 and s_wqm_b64
s[0:1] = 0x8000000000000102
> s_quadmask_b64 s[2:3], s[0:1]
> s_cselect_b32 s6, 1, 0
> s_wqm_b64 s[4:5], s[0:1]
s[2:3] = 0x8005; s6 = 1; s[4:5] = 0xf000000000000f0f; scc = 1
== s_lshl3_add_u32 and s_lshr_b32
s0 = 0x30000001; s1 = 5; s2 = 0x80000010; s3 = 36
> s_lshl3_add_u32 s4, s0, s1
> s_cselect_b32 s6, 1, 0
> s_lshr_b32 s5, s2, s3
s4 = 0x8000000d; s6 = 1; s5 = 0x08000001; scc = 1
== s_cmov_b64
s[0:1] = 0x100000002; s[2:3] = 5; s[4:5] = 6; scc = 1
> s_cmov_b64 s[2:3], s[0:1]
> s_cmp_eq_u32 s0, 3
> s_cmov_b64 s[4:5], s[0:1]
s[2:3] = 0x100000002; s[4:5] = 6
== s_movrels_b64 and s_movreld_b64
m0 = 2; s[2:3] = 0x300000002; s[4:5] = 0x500000004; s[6:7] = 0
> s_movrels_b64 s[0:1], s[2:3]
> s_movreld_b64 s[4:5], s[2:3]
s[0:1] = 0x500000004; s[6:7] = 0x300000002
== s_cbranch_scc0, vccz, execnz; no debugger is attached
s0 = 0; scc = 0; vcc = 0
> s_cbranch_cdbgsys wrong
> s_cbranch_cdbguser wrong
> s_cbranch_cdbgsys_or_user wrong
> s_cbranch_cdbgsys_and_user wrong
> s_cbranch_scc0 first
> s_branch wrong
> first:
> s_cbranch_vccz second
> s_branch wrong
> second:
> s_cbranch_execnz third
> wrong:
> s_mov_b32 s0, 99
> third:
> s_add_u32 s0, s0, 1
s0 = 1
== conditional branches that are not taken
s0 = 0; scc = 1; vcc = 1
> s_cbranch_scc0 wrong
> s_cbranch_vccz wrong
> s_mov_b64 exec, 0
> s_cbranch_execnz wrong
> s_mov_b32 s0, 1
> wrong:
> s_mov_b64 exec, -1
s0 = 1
== s_cbranch_i_fork: {which} lanes run first
@ which = passing failing
@ mask = 0x0f 0x3f
@ border = 4 6
@ order = 0x12 0x21
exec = 0xff; s[16:17] = {mask}; s20 = 0; s21 = 0; v0 = 1
> s_mov_b64 s[18:19], exec
> s_cbranch_i_fork s[16:17], pass
> v_add_u32 v0, v0, 10
> s_lshl_b32 s21, s21, 4
> s_or_b32 s21, s21, 2
> s_branch joined
> pass:
> v_add_u32 v0, v0, 20
> s_lshl_b32 s21, s21, 4
> s_or_b32 s21, s21, 1
> joined:
> s_cbranch_join s20
> s_mov_b64 exec, s[18:19]
> v_add_u32 v0, 100, v0
> s_mov_b64 exec, -1
> s_getreg_b32 s22, hwreg(HW_REG_MODE, 29, 3)
v0 := lane < {border} ? 121 : lane < 8 ? 111 : 1; s21 = {order}; s22 = 0
== s_cbranch_g_fork: the target is in registers
exec = 0xff; s[16:17] = 0x07; s20 = 0; v0 = 1
> s_mov_b64 s[18:19], exec
> s_getpc_b64 s[22:23]
> base:
> s_add_u32 s22, s22, pass-base
> s_addc_u32 s23, s23, 0
> s_cbranch_g_fork s[16:17], s[22:23]
> v_add_u32 v0, v0, 10
> s_branch joined
> pass:
> v_add_u32 v0, v0, 20
> joined:
> s_cbranch_join s20
> s_mov_b64 exec, -1
v0 := lane < 3 ? 21 : lane < 8 ? 11 : 1
== forks that all lanes take the same way leave the stack alone
exec = 0xff; s[16:17] = -1; s0 = 5; s1 = 6; s4 = 0
> s_cbranch_i_fork s[16:17], taken
> s_mov_b32 s4, 1
> taken:
> s_not_b64 s[16:17], s[16:17]
> s_cbranch_i_fork s[16:17], never
> s_add_u32 s4, s4, 2
> never:
> s_getreg_b32 s5, hwreg(HW_REG_MODE, 29, 3)
> s_mov_b64 exec, -1
s0 = 5; s1 = 6; s4 = 2; s5 = 0
== s_setvskip: vector instructions are skipped
v0 = 1; s0 = 2; mem = 5
> s_setvskip s0, 1
> v_mov_b32 v0, 7
> global_store_dword v0, v0, s[8:9]
> s_mov_b32 s1, 3
> s_setvskip s0, 0
> v_add_u32 v0, v0, 1
v0 = 2; s1 = 3; mem[0] = 5
== s_set_gpr_idx_mode changes what is indexed
v4 = 44; v5 = 55; v6 = 66; s0 = 1; v0 = 7
> s_set_gpr_idx_on s0, gpr_idx(SRC0)
> v_mov_b32 v1, v4
> s_set_gpr_idx_mode gpr_idx(DST)
> v_mov_b32 v5, v0
> s_set_gpr_idx_off
v1 = 55; v5 = 55; v6 = 7
== messages, priorities and counters change nothing
s0 = 5
> s_setprio 3
> s_wakeup
> s_sendmsg sendmsg(MSG_INTERRUPT)
> s_incperflevel 1
> s_decperflevel 1
> s_ttracedata
> s_sethalt 0
> s_setkill 0
> s_barrier
> s_trap 3
s0 = 5
== s_memrealtime counts on
> s_memrealtime s[0:1]
> s_waitcnt lgkmcnt(0)
> s_memrealtime s[2:3]
> s_waitcnt lgkmcnt(0)
> s_cmp_ge_u32 s2, s0
scc = 1; s1 = 0
== {text} ends the wave
@ text = s_endpgm | s_endpgm_saved | s_setkill 1
s0 = 1
> s_add_u32 s0, s0, 1
> {text}
> s_add_u32 s0, s0, 1
s0 = 2
== {text} ends the launch
@ text = s_sethalt 1 | s_sendmsghalt sendmsg(MSG_INTERRUPT) | s_trap 2 | s_trap 1
@ words = halted itself | halted itself | trapped | trapped
s0 = 1
> {text}
fault {words}
== instructions that are not for compute kernels are faults
@ text = s_rfe_b64 s[0:1] | s_endpgm_ordered_ps_done | ds_gws_barrier v0 gds
> {text}
fault not for compute kernels
