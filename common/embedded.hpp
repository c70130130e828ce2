#pragma once
// Files that the build puts into the program, so that it needs none beside it. hipbench_embed() in embed.cmake makes
// the tables.

#include <string_view>

namespace hipbench {

struct EmbeddedFile {
  std::string_view name, text;
};

}  // namespace hipbench
