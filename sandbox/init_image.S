/* init's executable (built from init/), embedded so that the sandbox has no file to find on the host. */
  .section .rodata
  .global hipbench_sandbox_init_begin
  .global hipbench_sandbox_init_end
  .balign 16
hipbench_sandbox_init_begin:
  .incbin HIPBENCH_SANDBOX_INIT
hipbench_sandbox_init_end:
  .section .note.GNU-stack, "", @progbits
