# Scalar addition, subtraction, multiplication, minimum and maximum, and what they leave in SCC.
== s_add_u32: carry
s0 = 0xffffffff; s1 = 2
> s_add_u32 s2, s0, s1
s2 = 1; scc = 1
== s_add_u32: none
s0 = 0x7fffffff; s1 = 1; scc = 1
> s_add_u32 s2, s0, s1
s2 = 0x80000000; scc = 0
== s_addc_u32: carry in
s0 = 0xffffffff; s1 = 0; scc = 1
> s_addc_u32 s2, s0, s1
s2 = 0; scc = 1
== s_sub_u32: borrow
s0 = 1; s1 = 2
> s_sub_u32 s2, s0, s1
s2 = 0xffffffff; scc = 1
== s_subb_u32: borrow in
s0 = 5; s1 = 5; scc = 1
> s_subb_u32 s2, s0, s1
s2 = 0xffffffff; scc = 1
== s_add_i32: overflow
s0 = 0x7fffffff; s1 = 1
> s_add_i32 s2, s0, s1
s2 = 0x80000000; scc = 1
== s_add_i32: wrap without overflow
s0 = -1; s1 = 1; scc = 1
> s_add_i32 s2, s0, s1
s2 = 0; scc = 0
== s_sub_i32: overflow
s0 = 0x80000000; s1 = 1
> s_sub_i32 s2, s0, s1
s2 = 0x7fffffff; scc = 1
== s_mul_i32 keeps SCC
s0 = 0x10001; s1 = 0xffff; scc = 1
> s_mul_i32 s2, s0, s1
s2 = 0xffffffff; scc = 1
== s_mul_hi_u32
s0 = 0xffffffff; s1 = 0xffffffff
> s_mul_hi_u32 s2, s0, s1
s2 = 0xfffffffe
== s_mul_hi_i32
s0 = -2; s1 = 3
> s_mul_hi_i32 s2, s0, s1
s2 = -1
== s_min_i32
s0 = -5; s1 = 3
> s_min_i32 s2, s0, s1
s2 = -5; scc = 1
== s_min_u32
s0 = -5; s1 = 3; scc = 1
> s_min_u32 s2, s0, s1
s2 = 3; scc = 0
== s_max_i32
s0 = -5; s1 = 3; scc = 1
> s_max_i32 s2, s0, s1
s2 = 3; scc = 0
== s_max_u32
s0 = -5; s1 = 3
> s_max_u32 s2, s0, s1
s2 = -5; scc = 1
== s_abs_i32
s0 = -7
> s_abs_i32 s2, s0
s2 = 7; scc = 1
== s_abs_i32: most negative
s0 = 0x80000000
> s_abs_i32 s2, s0
s2 = 0x80000000; scc = 1
== s_absdiff_i32
s0 = -3; s1 = 4
> s_absdiff_i32 s2, s0, s1
s2 = 7; scc = 1
== s_addk_i32: overflow
s2 = 0x7ffffff0; scc = 0
> s_addk_i32 s2, 0x20
s2 = 0x80000010; scc = 1
== s_addk_i32: sign extends
s2 = 5
> s_addk_i32 s2, 0xfffe
s2 = 3; scc = 0
== s_mulk_i32
s2 = 7
> s_mulk_i32 s2, 0xfffd
s2 = -21
== s_lshl1_add_u32: carry out
s0 = 0x80000000; s1 = 5
> s_lshl1_add_u32 s2, s0, s1
s2 = 5; scc = 1
== s_lshl2_add_u32
s0 = 3; s1 = 5; scc = 1
> s_lshl2_add_u32 s2, s0, s1
s2 = 17; scc = 0
== s_lshl4_add_u32
s0 = 3; s1 = 5
> s_lshl4_add_u32 s2, s0, s1
s2 = 53; scc = 0
