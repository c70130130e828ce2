#include "agents/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "evaluator/time_advice.hpp"

namespace hipbench::agents {

namespace {

std::string reason_text(const Evaluation& e) {
  if (e.verdict.passed()) return fmt::format("It passed: all {} shapes are right.", e.shapes.size());
  const auto failed =
      std::find_if(e.shapes.begin(), e.shapes.end(), [](const ShapeResult& s) { return !s.verdict.passed(); });
  return fmt::format("Verdict: {}{}. {}", to_string(e.verdict.kind),
                     failed == e.shapes.end() ? "" : " at shape " + failed->shape.label, e.verdict.reason);
}

std::string mismatch_text(const Evaluation& e) {
  std::string text;
  for (const ShapeResult& shape : e.shapes) {
    const Comparison& c = shape.comparison;
    if (c.elements == 0 || c.mismatches == 0) continue;
    text += fmt::format("{}: {}\n", shape.shape.label, c.sentence());
    if (c.untouched > 0) text += fmt::format("  {} elements were never written\n", c.untouched);
    if (c.non_finite > 0) text += fmt::format("  {} elements are not finite\n", c.non_finite);
    text += c.map;
  }
  return text;
}

std::string times_text(const Evaluation& e) {
  std::string text;
  for (const ShapeResult& shape : e.shapes) {
    if (!shape.verdict.passed()) continue;
    text += shape.time_us > 0 ? fmt::format("{}: {:.2f} us ({})\n", shape.shape.label, shape.time_us,
                                            shape.time_is_modelled ? "modelled" : "measured")
                              : fmt::format("{}: {} wave instructions\n", shape.shape.label, shape.wave_instructions);
  }
  return text;
}

std::string roofs_text(const Problem& problem, const Evaluation& e) {
  std::string text;
  for (const ShapeResult& shape : e.shapes) {
    if (!shape.verdict.passed()) continue;
    const Roofs roofs = problem.roofs(shape.shape);
    const double roof = std::max(roofs.matrix_roof_us, roofs.memory_roof_us);
    text += fmt::format("{}: {} bound, roof {:.2f} us", shape.shape.label,
                        roofs.matrix_roof_us > roofs.memory_roof_us ? "matrix-unit" : "memory", roof);
    text += shape.time_us > 0 ? fmt::format(", reached {:.1f} %\n", 100 * roof / shape.time_us) : "\n";
  }
  return text;
}

// What stands out in the counters of a launch, each with what it suggests.
std::string causes(const Problem& problem, const ShapeResult& shape, const LaunchRecord& launch) {
  const emulator::Counters& c = launch.counters;
  std::string text;
  const auto share = [&](uint64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(c.instructions, 1));
  };
  if (c.mfma == 0 && problem.work(shape.shape).flops > 0 && share(c.valu) > 50)
    text += "  the work is done by vector instructions; matrix instructions (MFMA) do many times more each\n";
  if (share(c.vmem) > 25)
    text += "  a large share are memory instructions: load wider (16 bytes a lane), reuse through LDS\n";
  if (share(c.salu) + share(c.branch) > 40) text += "  a large share is loop and address arithmetic: unroll, hoist\n";
  if (share(c.lds) > 35) text += "  a large share are LDS instructions: read wider, keep more in registers\n";
  if (c.workgroups < emulator::mi300x::kComputeUnits)
    text += fmt::format("  {} workgroups for {} compute units: most of the GPU idles\n", c.workgroups,
                        emulator::mi300x::kComputeUnits);
  return text;
}

// The text of a line of the candidate, counted from 1; empty: it has no such line.
std::string_view line_of(std::string_view source, size_t number) {
  for (; number > 1; --number) {
    const size_t end = source.find('\n');
    if (end == std::string_view::npos) return "";
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find_first_of("\r\n"));
  return source.substr(std::min(source.find_first_not_of(" \t"), source.size()));
}

// "line 34: `acc += a * b;`" of the candidate, "amd_hip_fp8.h:626" of a header: where it lies on this machine is
// nobody's business.
std::string place_of(const std::string& place, const std::string& candidate) {
  constexpr size_t kLongest = 100;
  if (place.empty()) return "(no line is known)";
  if (const size_t slash = place.rfind('/'); slash != std::string::npos) return place.substr(slash + 1);
  size_t number = 0;
  std::from_chars(place.data() + place.rfind(':') + 1, place.data() + place.size(), number);
  const std::string_view text = number == 0 ? "" : line_of(candidate, number);
  return number == 0 ? place : fmt::format("line {}: {}", number, text.substr(0, kLongest));
}

// Where a launch's modelled time goes: what its waves do, at which lines, and what would help.
std::string time_text(const LaunchRecord& launch, const std::string& candidate) {
  constexpr double kLeastShare = 0.02;
  constexpr size_t kMostLines = 6;
  if (!(launch.modelled_seconds > 0)) return "";
  const emulator::TimeBreakdown& b = launch.time_breakdown;
  const auto name = [](emulator::TimeCause cause) { return emulator::kTimeCauseNames[static_cast<size_t>(cause)]; };
  std::string text = fmt::format("  modelled {:.2f} us, of it the kernel {:.2f}; what its waves do or wait for:",
                                 launch.modelled_seconds * 1e6, b.kernel_seconds * 1e6);
  for (size_t cause = 0; cause < emulator::kTimeCauses; ++cause)
    if (b.shares[cause] >= kLeastShare)
      text += fmt::format(" {} {:.0f} %,", emulator::kTimeCauseNames[cause], 100 * b.shares[cause]);
  text.back() = '\n';
  size_t lines = 0;
  for (const emulator::HotLine& line : b.lines) {
    if (line.share < kLeastShare || ++lines > kMostLines) continue;
    text += fmt::format("  {}{:.0f} % {} at {}\n", lines == 1 ? "hottest lines:\n  " : "", 100 * line.share,
                        name(line.cause), place_of(line.source, candidate));
  }
  for (const TimeChange& change : changes_that_help(b))
    text += fmt::format("  up to {:.2f} us less without {}: {}\n", change.gain_seconds * 1e6, name(change.cause),
                        advice(change.cause));
  return text;
}

std::string profile_text(const Problem& problem, const Evaluation& e) {
  if (e.shapes.empty() || !e.shapes.back().verdict.passed()) return "";
  // The shape with most work says most.
  const auto largest = std::max_element(
      e.shapes.begin(), e.shapes.end(),
      [](const ShapeResult& a, const ShapeResult& b) { return a.wave_instructions < b.wave_instructions; });
  std::string text = fmt::format("shape {}:\n", largest->shape.label);
  for (const LaunchRecord& launch : largest->launches) {
    const emulator::Counters& c = launch.counters;
    text += fmt::format(
        "{}: {} workgroups, {} waves; {} wave instructions (valu {}, salu {}, memory {}, lds {}, mfma {}, branch {}); "
        "{} bytes read and {} written by lanes; {} barriers\n",
        launch.kernel, c.workgroups, c.waves, c.instructions, c.valu, c.salu, c.vmem + c.smem, c.lds, c.mfma, c.branch,
        c.bytes_read, c.bytes_written, c.barriers);
    text += causes(problem, *largest, launch) + time_text(launch, e.source);
  }
  for (const KernelResources& kernel : e.kernels) {
    text += fmt::format("{}: {} VGPRs ({} of them AGPRs), {} SGPRs, {} bytes of LDS", kernel.name, kernel.vgprs,
                        kernel.agprs, kernel.sgprs, kernel.lds_bytes);
    if (kernel.vgpr_spills > 0)
      text += fmt::format("; {} VGPRs are spilled to memory, which is slow", kernel.vgpr_spills);
    text += '\n';
  }
  return text;
}

std::string text_of(FeedbackPart part, const Problem& problem, const Evaluation& e, const Evaluation* checked) {
  switch (part) {
    case FeedbackPart::Reason:
      return reason_text(e);
    case FeedbackPart::Compile: {
      const bool about_code = e.stage <= Stage::Inspect && !e.verdict.passed();
      return about_code ? e.verdict.evidence : "";
    }
    case FeedbackPart::Mismatch:
      return mismatch_text(e);
    case FeedbackPart::Sanitizer: {
      // Device faults are the verdict's own evidence; the checks find what did not fault.
      std::string text = e.stage > Stage::Inspect && !e.verdict.passed() && e.verdict.kind != VerdictKind::WrongResult
                             ? e.verdict.evidence
                             : "";
      if (checked != nullptr && !checked->verdict.passed() && checked->verdict.evidence != e.verdict.evidence &&
          checked->verdict.kind != VerdictKind::WrongResult)
        text += fmt::format("With memory and race checks: {}\n{}", checked->verdict.reason, checked->verdict.evidence);
      return text;
    }
    case FeedbackPart::Times:
      return times_text(e);
    case FeedbackPart::Roofs:
      return roofs_text(problem, e);
    case FeedbackPart::Profile:
      return profile_text(problem, e);
  }
  return "";
}

}  // namespace

std::set<FeedbackPart> FeedbackOptions::all_parts() {
  std::set<FeedbackPart> parts;
  for (size_t i = 0; i < kFeedbackParts; ++i) parts.insert(static_cast<FeedbackPart>(i));
  return parts;
}

Feedback make_feedback(const Problem& problem, const Evaluation& evaluation, const Evaluation* checked,
                       const FeedbackOptions& options) {
  Feedback feedback;
  for (const FeedbackPart part : options.parts) {
    std::string text = valid_utf8(text_of(part, problem, evaluation, checked));
    if (!text.empty()) feedback.push_back({part, trimmed_middle(text, options.most_tokens)});
  }
  return feedback;
}

bool wants_checks(const Evaluation& evaluation, const FeedbackOptions& options) {
  if (!options.parts.contains(FeedbackPart::Sanitizer) || evaluation.stage != Stage::Check) return false;
  switch (evaluation.verdict.kind) {
    case VerdictKind::WrongResult:
    case VerdictKind::Nondeterministic:
    case VerdictKind::Crashed:
      return true;
    default:
      return false;
  }
}

std::string trimmed_middle(const std::string& text, size_t most_tokens) {
  const size_t most = most_tokens * kBytesAToken;
  if (text.size() <= most) return text;
  // Two thirds from the head: the first error is the one that counts.
  const std::string head = text.substr(0, most * 2 / 3), tail = text.substr(text.size() - most / 3);
  return valid_utf8(head) + fmt::format("\n[… {} bytes left out …]\n", text.size() - head.size() - tail.size()) +
         valid_utf8(tail);
}

}  // namespace hipbench::agents
