// hipbench: the command line. Each verb lives in a file of its own.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/doctor.hpp"
#include "cli/emulate.hpp"
#include "cli/hipcc.hpp"

int main(int argc, char** argv) {
  // build/hipcc is a link to this program, for build systems that want one word: make HIPCC=build/hipcc.
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "hipcc")
    return hipbench::hipcc_main(std::vector<std::string>(argv + 1, argv + argc));
  const std::vector<std::string> args(argv + (argc > 1 ? 2 : 1), argv + argc);
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "hipcc") return hipbench::hipcc_main(args);
  if (verb == "emulate") return hipbench::emulate_main(args);
  if (verb == "doctor") return hipbench::doctor_main(args);
  std::fprintf(stderr, "usage: hipbench emulate -- PROGRAM ARGS | hipcc ARGS | doctor [--json]\n");
  return 2;
}
