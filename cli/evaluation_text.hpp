#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cli/text.hpp"
#include "evaluator/evaluation.hpp"
#include "results/speedups.hpp"

namespace hipbench::cli {

// An evaluation for people: a line a shape, the verdict with its evidence, how to repeat it. `replay` is the command
// that does, or empty.
// `speedups`: null where they are not looked up.
std::string evaluation_text(const Evaluation& evaluation, const std::string& replay, const Painter& paint,
                            const results::Speedups* speedups = nullptr);

Color color_of(const Verdict& verdict);
// Cells of the table.
std::string error_cell(const ShapeResult& shape);
std::string rows_cell(const ShapeResult& shape);
std::string time_cell(const ShapeResult& shape);

}  // namespace hipbench::cli
