#pragma once
// Element-wise comparison with a report that helps: how many elements are wrong, the worst of them, and what the wrong
// ones have in common.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "problems/number_formats.hpp"

namespace hipbench {

// Passes iff |got - expected| <= absolute + relative * |expected|, in f32, both finite, for every element.
struct Tolerance {
  double relative = 0, absolute = 0;
};

struct WorstElement {
  int64_t row = 0, column = 0;
  double got = 0, expected = 0;
  double error = 0, allowed = 0;  // infinite error: got is not finite
};

struct Comparison {
  bool passed = false;
  std::string output;  // name of the pointer field the rest speaks of: the first one that is wrong, else the first
  int64_t elements = 0, mismatches = 0, non_finite = 0, untouched = 0;
  // Largest error over allowed error of all elements; <= 1 when passed.
  double worst_ratio = 0;
  std::optional<WorstElement> worst;  // absent when nothing was compared
  // What the wrong elements have in common: "every row >= 64 is wrong". Empty when passed or nothing stands out.
  std::string pattern;
  // Where they are, for people: a line saying what a sign stands for, then at most 16 lines "row 64  ..37##". The rows
  // are those that were compared. Empty when passed.
  std::string map;

  // "1024 of 4096 elements are wrong, worst at (70, 3): got 1.5, expected 2 (error 0.5, allowed 0.041). every row >= 64
  // …"
  std::string sentence() const;
};

// A packed output: `got` holds all `rows`, `expected` only `checked_rows` of them (empty = all).
struct OutputView {
  std::string_view name;
  ElementType type;
  int64_t rows, columns;
  std::span<const int64_t> checked_rows;
  std::span<const std::byte> expected, got;
};

Comparison compare_output(const OutputView& output, const Tolerance& tolerance, std::byte poison);

}  // namespace hipbench
