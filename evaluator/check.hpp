#pragma once
// One shape of one candidate: fresh secret inputs, poisoned outputs, the call, the comparison with the oracle.
// Repeated, since one lucky launch proves nothing.

#include <functional>

#include "evaluator/candidate.hpp"
#include "evaluator/evaluation.hpp"

namespace hipbench {

// Is handed what the first call of a shape gave: its case (all tensors, expected packed) and the outputs (packed, all
// rows).
using CaseObserver = std::function<void(const Shape&, const Case&, const Buffers& outputs)>;

// Drawn inputs and the oracle's answer for the rows that are compared.
Case draw_case(const Problem& problem, const Shape& shape, std::string_view family, uint64_t seed, unsigned threads);

// The structured families that a shape is tried with: all, or a secret one where calls or inputs are expensive; another
// one for each of the listed shapes, so that a set of shapes meets as many families as it can.
std::vector<std::string_view> families_to_check(const Problem& problem, const Shape& shape, uint64_t seed,
                                                bool cheap_calls);

struct CheckOptions {
  uint64_t seed = 0;
  const Buffers* inputs = nullptr;  // a user's own instead of drawn ones: one call, every row compared
  CaseObserver observe;
  bool check = false;        // the device's memory and race checks
  bool time = true;          // with the time that the timing model gives the first call
  unsigned oracle_threads = 1;
  uint64_t wave_instructions = 0;  // a lower limit than the problem's; 0 = the problem's
};

ShapeResult check_shape(const Problem& problem, const Shape& shape, Candidate& candidate,
                        emulator::DeviceServer& server, const CheckOptions& options);

// The device stopped at an instruction that it does not know: trying again does not help.
bool is_gap_of_the_emulator(const Verdict& verdict);

}  // namespace hipbench
