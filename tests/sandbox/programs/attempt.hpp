#pragma once
// How the hostile programs report: exit code 77 and the reason when the system refused what they tried, 0 when they got
// through.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

constexpr int kRefused = 77;

[[noreturn]] inline void refused(const char* what) {
  printf("refused: %s: %s\n", what, strerror(errno));
  exit(kRefused);
}

[[noreturn]] inline void got_through(const char* what) {
  printf("GOT THROUGH: %s\n", what);
  exit(0);
}
