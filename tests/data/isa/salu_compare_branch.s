# Scalar comparisons, branches, calls, and EXEC manipulation.
== s_cmp_lt_i32
s0 = -1; s1 = 1
> s_cmp_lt_i32 s0, s1
scc = 1
== s_cmp_lt_u32
s0 = -1; s1 = 1; scc = 1
> s_cmp_lt_u32 s0, s1
scc = 0
== s_cmp_eq_u64
s[0:1] = 0x100000000; s[2:3] = 0x200000000; scc = 1
> s_cmp_eq_u64 s[0:1], s[2:3]
scc = 0
== s_cmp_lg_u64
s[0:1] = 0x100000000; s[2:3] = 0x200000000
> s_cmp_lg_u64 s[0:1], s[2:3]
scc = 1
== s_cmpk_ge_u32: zero extends
s0 = 0xfffe; scc = 1
> s_cmpk_ge_u32 s0, 0xffff
scc = 0
== s_cmpk_gt_i32: sign extends
s0 = 0
> s_cmpk_gt_i32 s0, 0xffff
scc = 1
== s_bitcmp1_b32
s0 = 0x10; s1 = 36
> s_bitcmp1_b32 s0, s1
scc = 1
== s_bitcmp0_b64
s[0:1] = 0x8000000000000000; s2 = 63; scc = 1
> s_bitcmp0_b64 s[0:1], s2
scc = 0
== loop with s_cbranch_scc1
s0 = 0; s1 = 0
> again:
> s_add_u32 s1, s1, s0
> s_add_u32 s0, s0, 1
> s_cmp_lt_u32 s0, 10
> s_cbranch_scc1 again
s0 = 10; s1 = 45; scc = 0
== s_branch skips
s0 = 1
> s_branch over
> s_mov_b32 s0, 2
> over:
> s_add_u32 s0, s0, 10
s0 = 11
== s_cbranch_execz
exec = 0; s0 = 1
> s_cbranch_execz none
> s_mov_b32 s0, 2
> none:
> s_mov_b64 exec, -1
s0 = 1
== s_cbranch_vccnz
vcc = 0x8000000000000000; s0 = 1
> s_cbranch_vccnz some
> s_mov_b32 s0, 2
> some:
> s_nop 0
s0 = 1
== s_call_b64 and s_setpc_b64
s0 = 1
> s_call_b64 s[2:3], callee
> s_add_u32 s0, s0, 100
> s_branch done
> callee:
> s_mul_i32 s0, s0, 7
> s_setpc_b64 s[2:3]
> done:
> s_nop 0
s0 = 107
== s_getpc_b64 and s_swappc_b64
s0 = 1
> s_getpc_b64 s[2:3]
> base:
> s_add_u32 s2, s2, target-base
> s_addc_u32 s3, s3, 0
> s_swappc_b64 s[4:5], s[2:3]
> s_branch end
> target:
> s_mov_b32 s0, 42
> s_setpc_b64 s[4:5]
> end:
> s_nop 0
s0 = 42
== s_and_saveexec_b64
exec = 0xff; s[0:1] = 0x0f0f
> s_and_saveexec_b64 s[2:3], s[0:1]
s[2:3] = 0xff; exec = 0x0f; scc = 1
== s_andn2_saveexec_b64: S0 and not EXEC
exec = 0xff; s[0:1] = 0x0f0f
> s_andn2_saveexec_b64 s[2:3], s[0:1]
s[2:3] = 0xff; exec = 0x0f00; scc = 1
== s_andn1_saveexec_b64: EXEC and not S0
exec = 0xff; s[0:1] = 0x0f0f
> s_andn1_saveexec_b64 s[2:3], s[0:1]
s[2:3] = 0xff; exec = 0xf0; scc = 1
== s_orn2_saveexec_b64
exec = 0xff; s[0:1] = 0
> s_orn2_saveexec_b64 s[2:3], s[0:1]
s[2:3] = 0xff; exec = 0xffffffffffffff00; scc = 1
== s_andn2_wrexec_b64
exec = 0xf0; s[0:1] = 0xff
> s_andn2_wrexec_b64 s[2:3], s[0:1]
s[2:3] = 0x0f; exec = 0x0f; scc = 1
== s_xor_saveexec_b64 to zero
exec = 0xff; s[0:1] = 0xff; scc = 1
> s_xor_saveexec_b64 s[2:3], s[0:1]
> s_cselect_b32 s4, 1, 0
> s_mov_b64 exec, -1
s[2:3] = 0xff; s4 = 0
