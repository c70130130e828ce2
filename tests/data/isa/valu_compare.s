# Vector comparisons into VCC, SGPR pairs and EXEC; classes.
== v_cmp_lt_f32 with NaN and zeros
v0 = 1f nanf -0f -inff; v1 = 2f 2f 0f 0f
> v_cmp_lt_f32 vcc, v0, v1
> v_cmp_nlt_f32 s[0:1], v0, v1
> v_cmp_eq_f32 s[2:3], v0, v1
> v_cmp_neq_f32 s[4:5], v0, v1
vcc = 0x9999999999999999; s[0:1] = 0x6666666666666666; s[2:3] = 0x4444444444444444; s[4:5] = 0xbbbbbbbbbbbbbbbb
== v_cmp_o, v_cmp_u, v_cmp_lg, v_cmp_nge
v0 = 1f nanf 2f 3f; v1 = 2f 2f 2f nanf
> v_cmp_o_f32 vcc, v0, v1
> v_cmp_u_f32 s[0:1], v0, v1
> v_cmp_lg_f32 s[2:3], v0, v1
> v_cmp_nge_f32 s[4:5], v0, v1
vcc = 0x5555555555555555; s[0:1] = 0xaaaaaaaaaaaaaaaa; s[2:3] = 0x1111111111111111; s[4:5] = 0xbbbbbbbbbbbbbbbb
== v_cmp: signed and unsigned
v0 = -1 1; v1 = 1 1
> v_cmp_lt_i32 vcc, v0, v1
> v_cmp_lt_u32 s[0:1], v0, v1
> v_cmp_ge_u32 s[2:3], v0, v1
vcc = 0x5555555555555555; s[0:1] = 0; s[2:3] = -1
== v_cmp_eq_u64 and v_cmp_gt_i64
v[0:1] = 0x100000000 -1; v[2:3] = 0
> v_cmp_gt_i64 vcc, v[0:1], v[2:3]
> v_cmp_gt_u64 s[0:1], v[0:1], v[2:3]
> v_cmp_eq_u64 s[2:3], v[0:1], v[2:3]
vcc = 0x5555555555555555; s[0:1] = -1; s[2:3] = 0
== v_cmp_lt_i16 looks at the low half
v0 = 0x0001ffff; v1 = 0
> v_cmp_lt_i16 vcc, v0, v1
> v_cmp_lt_u16 s[0:1], v0, v1
vcc = -1; s[0:1] = 0
== v_cmp_lt_f16
v0 = 1h nanh; v1 = 2h
> v_cmp_lt_f16 vcc, v0, v1
vcc = 0x5555555555555555
== inactive lanes give 0
v0 = 1; v1 = 1; exec = 0xff00; vcc = -1
> v_cmp_eq_u32 vcc, v0, v1
> s_mov_b64 exec, -1
vcc = 0xff00
== v_cmpx writes EXEC and its destination
v0 := lane; v2 = 1
> v_cmpx_gt_u32 vcc, 10, v0
> v_mov_b32 v2, 2
> s_mov_b64 s[0:1], exec
> s_mov_b64 exec, -1
v2 := lane < 10 ? 2 : 1; s[0:1] = 0x3ff; vcc = 0x3ff
== v_cmp_t and v_cmp_f
v0 = 0
> v_cmp_t_u32 vcc, v0, v0
> v_cmp_f_u32 s[0:1], v0, v0
vcc = -1; s[0:1] = 0
== v_cmp_class_f32, one class each
v0 = 0x7f800001 0x7fc00000 -inff -1f -0x1p-149f -0f 0f 0x1p-149f 1f inff; v1 := 1 << lane % 10
> v_cmp_class_f32 vcc, v0, v1
vcc = -1
== v_cmp_class_f32, every other class
v0 = 0x7f800001 0x7fc00000 -inff -1f -0x1p-149f -0f 0f 0x1p-149f 1f inff; v1 := 1023 ^ 1 << lane % 10
> v_cmp_class_f32 vcc, v0, v1
vcc = 0
== v_cmp_class_f64 and f16
v[0:1] = 1d -infd; v2 = 0x100 0x004; v3 = -0h 1h
> v_cmp_class_f64 vcc, v[0:1], v2
> v_cmp_class_f16 s[0:1], v3, 0x20
vcc = -1; s[0:1] = 0x5555555555555555
