# Special values, as the examples of the ISA document give them.
== v_{op}_f32
@ op = exp log rcp rsq sqrt sin cos
@ in = -inff -0f inff -0f -0f -0f | -inff -1f -0f 0f 1f inff | -inff -2f -0f 0f inff inff | -inff -0f 0f 4f inff inff | -inff -0f 0f 4f inff inff | -inff 0xff7fffff -0f 0.25f inff inff | -inff 0xff7fffff -0f 0.25f inff inff
@ out = 0f 1f inff 1f 1f 1f | nanf nanf -inff -inff 0f inff | -0f -0.5f -inff inff 0f 0f | nanf -inff inff 0.5f 0f 0f | nanf -0f 0f 2f inff inff | nanf 0f -0f 1f nanf nanf | nanf 1f 1f 0f nanf nanf
v0 = {in}
> v_{op}_f32 v1, v0
v1 = {out}
== v_{op}_f16
@ op = exp log rcp rsq sqrt sin cos
@ in = -infh -0h infh -0h -0h -0h | -infh -1h -0h 0h 1h infh | -infh -2h -0h 0h infh infh | -infh -0h 0h 4h infh infh | -infh -0h 0h 4h infh infh | -infh 0xfbff -0h 0.25h 0x7bff infh | -infh 0xfbff -0h 0.25h 0x7bff infh
@ out = 0h 1h infh 1h 1h 1h | nanh nanh -infh -infh 0h infh | -0h -0.5h -infh infh 0h 0h | nanh -infh infh 0.5h 0h 0h | nanh -0h 0h 2h infh infh | nanh 0h -0h 1h 0h nanh | nanh 1h 1h 0h 1h nanh
v0 = {in}
> v_{op}_f16 v1, v0
v1 = {out}
== counting bits: {op}
@ op = ffbh_u32 ffbl_b32 ffbh_i32
@ in = 0 0x800000ff 0x100000ff 0x0000ffff 1 1 1 | 0 0xff000001 0xff000008 0xffff0000 0x80000000 1 1 | 0 0x40000000 0x80000000 0x0fffffff 0xffff0000 0xfffffffe -1
@ out = -1 0 3 16 31 31 31 | -1 0 3 16 31 0 0 | -1 1 1 4 16 31 -1
v0 = {in}
> v_{op} v1, v0
v1 = {out}
== s_flbit_i32
@ in = 0 0x0000cccc 0xffff3333 0x7fffffff 0x80000000 0xffffffff
@ out = -1 16 16 1 1 -1
s0 = {in}
> s_flbit_i32 s1, s0
s1 = {out}
== v_cvt_off_f32_i4
v0 := lane % 16
> v_cvt_off_f32_i4 v1, v0
v1 = 0f 0.0625f 0.125f 0.1875f 0.25f 0.3125f 0.375f 0.4375f -0.5f -0.4375f -0.375f -0.3125f -0.25f -0.1875f -0.125f -0.0625f
== v_fract_f32 of small negative numbers stays below 1
v0 = -0x1p-40f -1.25f
> v_fract_f32 v1, v0
v1 = 0x3f7fffff 0.75f
