#pragma once
// Whole evaluations for tests: sources from files with a header of `// key: value` lines, or built around one honest
// kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "evaluator/evaluate.hpp"
#include "problems/registry.hpp"

namespace hipbench::testing {

const Problem& fp8_gemm();
std::string read_source(const std::string& path_in_checkout);

// The `// key: value` lines that a candidate file opens with: problem, track, expect, evidence.
std::map<std::string, std::string> header_of(const std::string& source);

// The smallest shape, a fixed seed, two threads; patience of a second with host code.
EvaluateOptions small_options();
// All quick shapes.
EvaluateOptions quick_options(const Problem& problem = fp8_gemm());

// Verdict, reason and evidence, for failure messages.
std::string described(const Evaluation& evaluation);

// A right host-track candidate whose hb_fp8_gemm_run is `body`; it may call launch(args, stream).
std::string host_source(const std::string& body, const std::string& declarations = "");
// A right kernel-track candidate whose kernel stores to C through `store`, which sees value, index, args.
std::string kernel_source(const std::string& store, const std::string& declarations = "");

Evaluation evaluate_host(const std::string& body, const std::string& declarations = "",
                         const EvaluateOptions& options = small_options());
Evaluation evaluate_kernel(const std::string& store, const std::string& declarations = "",
                           const EvaluateOptions& options = small_options());

// Skips where the machine cannot compile candidates at all.
class EvaluateTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace hipbench::testing
