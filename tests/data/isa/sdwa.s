# Sub-dword addressing: byte and word selects of sources and destination.
== source selects
v0 = 0x88776655; v1 = 0
> v_add_u32_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
> v_add_u32_sdwa v3, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
> v_add_u32_sdwa v4, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD
> v_add_u32_sdwa v5, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
v2 = 0x55; v3 = 0x66; v4 = 0x88; v5 = 0x8877
== sign extension
v0 = 0x88776655; v1 = 0
> v_add_u32_sdwa v2, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD
> v_add_u32_sdwa v3, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
v2 = 0xffffff88; v3 = 0xffff8877
== destination selects, the rest padded with zeros
v0 = 0xab
> v_mov_b32_sdwa v2, v0 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:DWORD
> v_mov_b32_sdwa v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD
v2 = 0x00ab0000; v3 = 0x00ab0000
== the rest preserved
v0 = 0xab; v2 = 0x11223344; v3 = 0x11223344
> v_mov_b32_sdwa v2, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
> v_mov_b32_sdwa v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
v2 = 0x1122ab44; v3 = 0x00ab3344
== the rest sign-extended
v0 = 0x9b
> v_mov_b32_sdwa v2, v0 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:DWORD
v2 = 0xffff9b00
== both sources
v0 = 0x00020003; v1 = 0x05000700
> v_mul_u32_u24_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_3
> v_lshlrev_b32_sdwa v3, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_1
v2 = 10; v3 = 28
== half-precision halves
v0 = 1h:2h; v1 = 10h:20h; v2 = 0
> v_add_f16_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
> v_cvt_f32_f16_sdwa v3, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
v2 = 0h:12h; v3 = 2f
== float modifiers apply after the select
v0 = 1h:2h; v1 = 10h
> v_add_f16_sdwa v2, -v0, |v1| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0
v2 = 8h
== comparison
v0 := lane << 8; v1 = 10
> v_cmp_lt_u32_sdwa vcc, v0, v1 src0_sel:BYTE_1 src1_sel:DWORD
vcc = 0x3ff
== scalar source
v0 = 0x01020304; s0 = 100
> v_add_u32_sdwa v2, v0, s0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
v2 = 103
