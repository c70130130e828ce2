# Every comparison. A mask has a bit a lane; four lanes (less, equal, greater, and for floats unordered) repeat over the wave.
== v_cmp_{rel}_{type} and v_cmpx: signed
@ rel = f lt eq le gt ne ge t
@ m = 0 9 2 b 4 d 6 f
@@ type = i16 i32
v0 = 0xffffffff 5 7 2; v1 = 1 5 3 9
> v_cmp_{rel}_{type} vcc, v0, v1
> v_cmp_{rel}_{type} s[0:1], v0, v1
> v_cmpx_{rel}_{type} s[2:3], v0, v1
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[0:1] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmp_{rel}_{type} and v_cmpx: unsigned
@ rel = f lt eq le gt ne ge t
@ m = 0 8 2 a 5 d 7 f
@@ type = u16 u32
v0 = 0xffffffff 5 7 2; v1 = 1 5 3 9
> v_cmp_{rel}_{type} vcc, v0, v1
> v_cmp_{rel}_{type} s[0:1], v0, v1
> v_cmpx_{rel}_{type} s[2:3], v0, v1
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[0:1] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmp_{rel}_i64 and v_cmpx
@ rel = f lt eq le gt ne ge t
@ m = 0 9 2 b 4 d 6 f
v[0:1] = 0x8000000000000000 0x500000005 0x100000000 2; v[2:3] = 1 0x500000005 0xffffffff 0x900000000
> v_cmp_{rel}_i64 vcc, v[0:1], v[2:3]
> v_cmpx_{rel}_i64 s[2:3], v[0:1], v[2:3]
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmp_{rel}_u64 and v_cmpx
@ rel = f lt eq le gt ne ge t
@ m = 0 8 2 a 5 d 7 f
v[0:1] = 0x8000000000000000 0x500000005 0x100000000 2; v[2:3] = 1 0x500000005 0xffffffff 0x900000000
> v_cmp_{rel}_u64 vcc, v[0:1], v[2:3]
> v_cmpx_{rel}_u64 s[2:3], v[0:1], v[2:3]
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmp_{rel}_f{t} and v_cmpx
@ rel = f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru
@ m = 0 1 2 3 4 5 6 7 8 9 a b c d e f
@@ t = 16 32
@ s = h f
v0 = 1{s} 2{s} 3{s} nan{s}; v1 = 2{s} 2{s} 2{s} 1{s}
> v_cmp_{rel}_f{t} vcc, v0, v1
> v_cmp_{rel}_f{t} s[0:1], v0, v1
> v_cmpx_{rel}_f{t} s[2:3], v0, v1
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[0:1] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmp_{rel}_f64 and v_cmpx
@ rel = f lt eq le gt lg ge o u nge nlg ngt nle neq nlt tru
@ m = 0 1 2 3 4 5 6 7 8 9 a b c d e f
v[0:1] = 1d -0d 3d nand; v[2:3] = 2d 0d -infd nand
> v_cmp_{rel}_f64 vcc, v[0:1], v[2:3]
> v_cmpx_{rel}_f64 s[2:3], v[0:1], v[2:3]
> s_mov_b64 s[4:5], exec
> s_mov_b64 exec, -1
vcc = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
s[2:3] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}; s[4:5] = 0x{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}{m}
== v_cmpx_class: normal numbers of either sign
v0 = 1h -1h 0h infh; v1 = 1f -1f 0f inff; v[2:3] = 1d -1d 0d infd; v4 = 0x108
> v_cmpx_class_f16 s[0:1], v0, v4
> s_mov_b64 exec, -1
> v_cmpx_class_f32 s[2:3], v1, v4
> s_mov_b64 exec, -1
> v_cmpx_class_f64 s[4:5], v[2:3], v4
> s_mov_b64 vcc, exec
> s_mov_b64 exec, -1
s[0:1] = 0x3333333333333333; s[2:3] = 0x3333333333333333; s[4:5] = 0x3333333333333333; vcc = 0x3333333333333333
== scalar: s_cmp_{rel}_{type}
@ rel = eq lg gt ge lt le
@ first = 0 1 0 0 1 1
@ second = 1 0 0 1 0 1
@ unsigned = 0 1 1 1 0 0
@@ type = i32 u32
@ which = {first} {unsigned}
s0 = -2; s1 = 3; s2 = 7; s3 = 7
> s_cmp_{rel}_{type} s0, s1
> s_cselect_b32 s4, 1, 0
> s_cmp_{rel}_{type} s2, s3
> s_cselect_b32 s5, 1, 0
s4 = {which}; s5 = {second}
== scalar: s_cmpk_{rel}_i32 extends the sign
@ rel = eq lg gt ge lt le
@ first = 0 1 1 1 0 0
@ second = 1 0 0 1 0 1
s0 = 3; s1 = -7
> s_cmpk_{rel}_i32 s0, 0xfffe
> s_cselect_b32 s4, 1, 0
> s_cmpk_{rel}_i32 s1, 0xfff9
> s_cselect_b32 s5, 1, 0
s4 = {first}; s5 = {second}
== scalar: s_cmpk_{rel}_u32 extends by zeros
@ rel = eq lg gt ge lt le
@ first = 0 1 0 0 1 1
@ second = 1 0 0 1 0 1
@ third = 0 1 1 1 0 0
s0 = 3; s1 = 0xfff9; s2 = -7
> s_cmpk_{rel}_u32 s0, 0xfffe
> s_cselect_b32 s4, 1, 0
> s_cmpk_{rel}_u32 s1, 0xfff9
> s_cselect_b32 s5, 1, 0
> s_cmpk_{rel}_u32 s2, 0xfff9
> s_cselect_b32 s6, 1, 0
s4 = {first}; s5 = {second}; s6 = {third}
== scalar: s_bitcmp0_b32 and s_bitcmp1_b64
s0 = 0x10; s[2:3] = 0x8000000000000000
> s_bitcmp0_b32 s0, 4
> s_cselect_b32 s4, 1, 0
> s_bitcmp0_b32 s0, 37
> s_cselect_b32 s5, 1, 0
> s_bitcmp1_b64 s[2:3], 63
> s_cselect_b32 s6, 1, 0
> s_bitcmp1_b64 s[2:3], 62
> s_cselect_b32 s7, 1, 0
s4 = 0; s5 = 1; s6 = 1; s7 = 0
