# Atomics on global memory; sc0 returns the value before.
== global_atomic_add by all lanes
v0 = 0; v1 := lane
> global_atomic_add v0, v1, s[8:9] offset:4
> s_waitcnt vmcnt(0)
mem[0] = 0 2016
== global_atomic_add returns
v0 := lane * 4; v1 = 5; mem := i * 10
> global_atomic_add v2, v0, v1, s[8:9] sc0
> s_waitcnt vmcnt(0)
v2 := lane * 10; mem[0] = 5 15 25
== integer and logic kinds
v0 = 0; v1 = -5; exec = 1; mem = 3 3 3 3 3 3 3 3
> global_atomic_smin v0, v1, s[8:9]
> global_atomic_umin v0, v1, s[8:9] offset:4
> global_atomic_smax v0, v1, s[8:9] offset:8
> global_atomic_umax v0, v1, s[8:9] offset:12
> global_atomic_and v0, v1, s[8:9] offset:16
> global_atomic_or v0, v1, s[8:9] offset:20
> global_atomic_xor v0, v1, s[8:9] offset:24
> global_atomic_sub v0, v1, s[8:9] offset:28
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = -5 3 3 -5 3 -5 0xfffffff8 8
== inc and dec wrap
v0 = 0; v1 = 3; exec = 1; mem = 3 2 0 9
> global_atomic_inc v0, v1, s[8:9]
> global_atomic_inc v0, v1, s[8:9] offset:4
> global_atomic_dec v0, v1, s[8:9] offset:8
> global_atomic_dec v0, v1, s[8:9] offset:12
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 0 3 3 3
== global_atomic_cmpswap: new value first, comparison second
v0 = 0 4; v2 = 50; v3 = 1; exec = 3; mem = 1 2
> global_atomic_cmpswap v4, v0, v[2:3], s[8:9] sc0
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
v4 := lane == 0 ? 1 : lane == 1 ? 2 : 0xbad00bad; mem[0] = 50 2
== global_atomic_swap
v0 := lane * 4; v1 := lane; mem := i + 100
> global_atomic_swap v2, v0, v1, s[8:9] sc0
> s_waitcnt vmcnt(0)
v2 := lane + 100; mem[0] = 0 1 2 3
== 64-bit atomics
v0 = 0; v[2:3] = 0xffffffff; v[4:5] = -1; exec = 1; mem = 1 0 0xfffffffe 0xffffffff
> global_atomic_add_x2 v0, v[2:3], s[8:9]
> global_atomic_smax_x2 v0, v[4:5], s[8:9] offset:8
> s_waitcnt vmcnt(0)
> s_mov_b64 exec, -1
mem[0] = 0 1 0xffffffff 0xffffffff
== float atomics
v0 = 0; v1 = 1.5f; v[2:3] = 0.25d; v4 = 1h:2h; mem = 1f 0 0 0 0 0 0 0
> global_atomic_add_f32 v0, v1, s[8:9]
> global_atomic_add_f64 v0, v[2:3], s[8:9] offset:8
> global_atomic_pk_add_f16 v0, v4, s[8:9] offset:16
> s_waitcnt vmcnt(0)
mem[0] = 97f 0 0 0x40300000 64h:128h
== global_atomic_min_f64 and max_f64
v0 = 0; v[2:3] = -2d; mem = 0 0x3ff00000 0 0xc0080000
> global_atomic_min_f64 v0, v[2:3], s[8:9]
> global_atomic_max_f64 v0, v[2:3], s[8:9] offset:8
> s_waitcnt vmcnt(0)
mem[0] = 0 0xc0000000 0 0xc0000000
== flat_atomic_add and buffer_atomic_add
v0 = 0; v1 = 2
> v_mov_b32 v2, s8
> v_mov_b32 v3, s9
> flat_atomic_add v[2:3], v1
> buffer_atomic_add v1, off, s[12:15], 0 offset:4
> s_waitcnt vmcnt(0) lgkmcnt(0)
mem[0] = 128 128
