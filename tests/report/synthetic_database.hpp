#pragma once
// Made-up results in the form of real ones: runs of models on the problems, with turns, failures and hostile texts.
// Nothing is evaluated.

#include <filesystem>
#include <string_view>

#include "results/standings.hpp"

namespace hipbench::report {

// In names, sources, reasons and evidence: whoever runs it has found a hole. It sets the title of the page.
inline constexpr std::string_view kHostile =
    "</script><script>document.title='INJECTED'</script><img src=x "
    "onerror=\"document.title='INJECTED'\"><!--<svg/onload=document.title='INJECTED'>";

// At least so many evaluations of runs on fp8_gemm, moe and mla_decode, a baseline and an expert beside them.
Result<void> make_synthetic_database(const std::filesystem::path& file, size_t evaluations);
// Which the baseline and the expert are.
results::ReferenceHashes synthetic_references(const std::string& problem);

}  // namespace hipbench::report
