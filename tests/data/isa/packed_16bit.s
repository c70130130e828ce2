# Packed and single half-precision and 16-bit integer arithmetic.
== v_pk_add_f16, v_pk_mul_f16, v_pk_fma_f16
v0 = 1h:2h; v1 = 3h:-5h; v2 = 10h:20h
> v_pk_add_f16 v3, v0, v1
> v_pk_mul_f16 v4, v0, v1
> v_pk_fma_f16 v5, v0, v1, v2
v3 = 4h:-3h; v4 = 3h:-10h; v5 = 13h:10h
== op_sel and op_sel_hi choose halves
v0 = 1h:2h; v1 = 10h:20h
> v_pk_add_f16 v2, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]
> v_pk_add_f16 v3, v0, v1 op_sel_hi:[0,0]
v2 = 12h:21h; v3 = 11h:11h
== neg_lo and neg_hi
v0 = 1h:2h; v1 = 10h:20h
> v_pk_add_f16 v2, v0, v1 neg_lo:[1,0] neg_hi:[0,1]
v2 = 9h:-18h
== v_pk_min_f16 and v_pk_max_f16
v0 = 1h:nanh; v1 = -3h:4h
> v_pk_min_f16 v2, v0, v1
> v_pk_max_f16 v3, v0, v1
v2 = -3h:4h; v3 = 1h:4h
== v_pk_add_u16 wraps, clamp saturates
v0 = 0xffff:1; v1 = 2:3
> v_pk_add_u16 v2, v0, v1
> v_pk_add_u16 v3, v0, v1 clamp
v2 = 1:4; v3 = 0xffff:4
== v_pk_add_i16 and v_pk_sub_i16 clamp
v0 = 0x7fff:0x8000; v1 = 1:1
> v_pk_add_i16 v2, v0, v1 clamp
> v_pk_sub_i16 v3, v0, v1 clamp
v2 = 0x7fff:0x8001; v3 = 0x7ffe:0x8000
== v_pk_mul_lo_u16 and v_pk_mad_i16
v0 = 300:-2; v1 = 300:7; v2 = 1:2
> v_pk_mul_lo_u16 v3, v0, v1
> v_pk_mad_i16 v4, v0, v1, v2
v3 = 24464:-14; v4 = 24465:-12
== packed shifts take their amount first
v0 = 4:20; v1 = 0x8001:0x8001
> v_pk_lshlrev_b16 v2, v0, v1
> v_pk_lshrrev_b16 v3, v0, v1
> v_pk_ashrrev_i16 v4, v0, v1
v2 = 0x0010:0x0010; v3 = 0x0800:0x0800; v4 = 0xf800:0xf800
== v_pk_min_i16 and v_pk_max_u16
v0 = -1:5; v1 = 1:-7
> v_pk_min_i16 v2, v0, v1
> v_pk_max_u16 v3, v0, v1
v2 = -1:-7; v3 = -1:-7
== v_add_f16 and v_mul_f16 clear the high half
v0 = 1h:7h; v1 = 2h:9h
> v_add_f16 v2, v0, v1
> v_mul_f16 v3, v0, v1
v2 = 3h; v3 = 2h
== v_fma_f16 rounds once
v0 = 0x1.004p0h; v1 = 0x1.ff8p-1h; v2 = -1h; v3 = 0
> v_fma_f16 v3, v0, v1, v2
v3 = -0x1p-20h
== v_mad_mix_f32 and fma_mix: f16 operands of a float operation
v0 = 1.5h:2.5h; v1 = 3f; v2 = 10h:20h
> v_fma_mix_f32 v3, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[1,0,1]
v3 = 17.5f
== v_fma_mixlo_f16 and v_fma_mixhi_f16
v0 = 2f; v1 = 3f; v2 = 1f; v3 = 0
> v_fma_mixlo_f16 v3, v0, v1, v2
> v_fma_mixhi_f16 v3, v0, v1, -v2
v3 = 7h:5h
== v_dot2_f32_f16
v0 = 1h:2h; v1 = 3h:4h; v2 = 10f
> v_dot2_f32_f16 v3, v0, v1, v2
v3 = 21f
== f16 rounding functions and roots
v0 = 2.5h -0.25h
> v_floor_f16 v1, v0
> v_ceil_f16 v2, v0
> v_trunc_f16 v3, v0
> v_rndne_f16 v4, v0
> v_fract_f16 v5, v0
v1 = 2h -1h; v2 = 3h -0h; v3 = 2h -0h; v4 = 2h -0h; v5 = 0.5h 0.75h
== v_rcp_f16, v_sqrt_f16, v_rsq_f16
v0 = 4h
> v_rcp_f16 v1, v0
> v_sqrt_f16 v2, v0
> v_rsq_f16 v3, v0
v1 = 0.25h~1; v2 = 2h~1; v3 = 0.5h~1
== v_min3_f16 and v_med3_i16
v0 = 3h; v1 = 1h; v2 = 2h; v3 = 0; v4 = -5; v5 = 7; v6 = 2; v7 = 0
> v_min3_f16 v3, v0, v1, v2
> v_med3_i16 v7, v4, v5, v6
v3 = 1h; v7 = 2
