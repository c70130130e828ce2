#pragma once
// What the judge knows about a task: the argument struct a candidate receives, the shapes, how inputs are drawn, what
// the right answer is and how close a candidate must come. A problem is one folder (problem.toml, header, generator,
// oracle, starters); the registry finds it by its folder, so that adding one touches no other folder.
//
// A problem knows nothing of devices, compilers or clocks. All memory here is host memory of the judge.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/expression.hpp"
#include "common/result.hpp"
#include "problems/comparison.hpp"
#include "problems/mi300x_rates.hpp"

namespace hipbench {

enum class ShapeSet { Quick, Tests, Benchmarks };
enum class Track { Kernel, Host };
enum class Access { In, Out, InOut };

// The values of the struct's integer fields for one case.
struct Shape {
  std::string label;            // what a user types, canonical: "m=64,n=64,k=128"
  std::vector<int32_t> values;  // one an integer field, in the order of Problem::integer_fields()
};

// A shape as problem.toml lists it.
struct ListedShape {
  Shape shape;
  // 0 = the emulated device's result is checked in full; else that many secretly chosen rows are (the launch itself is
  // always executed in full).
  int64_t emulated_check_rows = 0;
  std::optional<double> challenge_sol_us;  // the challenge's speed of light for the shape
};

struct IntegerField {  // int32_t
  std::string name;
  uint32_t offset;
};

struct PointerField {  // 8 bytes
  std::string name;
  uint32_t offset;
  Access access;
  ElementType type;
};

// Bytes of a buffer a candidate may write: `rows` pieces of `row_bytes`, `stride_bytes` apart. All else must stay as it
// was.
struct StridedRange {
  uint64_t offset = 0, row_bytes = 0, stride_bytes = 0, rows = 0;
  uint64_t total_bytes() const { return row_bytes * rows; }
};

// One byte vector a pointer field, in the order of pointer_fields(); empty where there is nothing to say.
using Buffers = std::vector<std::vector<std::byte>>;

// The inputs of one launch and the right answer for them.
struct Case {
  Buffers inputs;
  std::vector<int64_t> rows;  // that `expected` holds, ascending; empty = all
  Buffers expected;           // as Problem::expected() returns it
};

// Inputs as the challenge draws them. Structured families have names of their own: Problem::input_families().
inline constexpr std::string_view kNormalInputs = "normal";

// Which inputs to draw. They follow from seed, case and family alone; other cases of the same seed cannot be told from
// them.
struct Draw {
  uint64_t seed = 0, case_index = 0;
  std::string_view family = kNormalInputs;
  unsigned threads = 1;  // to draw with; changes nothing
};

// How far Problem::transform() goes.
enum class Extent {
  Whole,   // every buffer looks as if drawn anew
  Slight,  // every input changes, but in few secret places, so that a sample of the contents looks as before; the
           // answer changes in at least one row of those that the case holds
};

// What a launch cannot do without.
struct Work {
  double flops = 0;          // fewest of any known algorithm that the stated types allow
  mi300x::MatrixRate rate;   // of the type they are done in
  uint64_t input_bytes = 0;  // that must be read from HBM, all caches cold
};

// Microseconds a launch cannot or should hardly beat, computed from Work; docs/measurement.md explains them.
struct Roofs {
  double flops = 0;
  uint64_t input_bytes = 0, output_bytes = 0;
  double floor_us = 0;        // only a time below this is impossible
  double matrix_roof_us = 0;  // FLOPs at the best rate that anybody has published for the type
  double memory_roof_us = 0;  // all bytes at the best published stream rate
  double matrix_peak_us = 0;  // FLOPs at the data sheet's rate, the timing model's too
};

// A kernel of ours that candidates are measured against: a file of kernels/reference_solutions/ID, frozen by its hash:
// a program with another file does not start. Never shown to models or candidates.
struct ReferenceSolution {
  std::string name;    // "naive", "baseline", "expert", or a rung of the ladder
  std::string path;    // in the repository
  std::string shows;   // one line
  std::string sha256;  // of the source, lower-case hex
  std::string_view source;
};

enum class ReferenceRole {
  Naive,     // readable
  Baseline,  // what speed-ups are taken over
  Expert,    // the upper bar
};

// The emulated device stops a launch that goes beyond these; slow but right must stay below them.
struct Limits {
  uint64_t wave_instructions = 0;
  double modelled_ms = 0;
};

struct ProblemFiles;  // the embedded texts, see registry.hpp

class Problem {
 public:
  virtual ~Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const std::string& id() const { return id_; }        // "fp8_gemm"
  const std::string& title() const { return title_; }  // one line
  std::string_view readme() const;
  // The text of `#include "hipbench/ID.h"`; header_name() is "hipbench/ID.h".
  std::string_view header() const;
  std::string header_name() const { return "hipbench/" + id_ + ".h"; }
  // A candidate that passes, commented for a newcomer.
  std::string_view starter(Track track) const;
  // Null where the problem has none (yet).
  const ReferenceSolution* reference(ReferenceRole role) const;
  // Those of a role that are there, in the order of the roles.
  std::span<const ReferenceSolution> references() const { return references_; }
  // Weaker variants that each show one thing, slowest first.
  std::span<const ReferenceSolution> ladder() const { return ladder_; }
  // By its name; errors list those there are.
  Result<const ReferenceSolution*> find_reference(std::string_view name) const;
  // The host track's entry points: "hb_ID_run" and the optional "hb_ID_workspace".
  std::string run_symbol() const { return "hb_" + id_ + "_run"; }
  std::string workspace_symbol() const { return "hb_" + id_ + "_workspace"; }

  // The argument struct.
  uint32_t args_size() const { return args_size_; }
  std::span<const IntegerField> integer_fields() const { return integer_fields_; }
  std::span<const PointerField> pointer_fields() const { return pointer_fields_; }
  // The struct's bytes. `pointers` has one device address a pointer field; pass zeros for hb_ID_workspace.
  std::vector<std::byte> make_args(const Shape& shape, std::span<const uint64_t> pointers) const;

  // Shapes.
  std::span<const ListedShape> shapes(ShapeSet set) const;
  // "m=64,n=64,k=128"; every free dimension once, in any order. Errors say which dimension is wrong and what is
  // allowed.
  Result<Shape> parse_shape(std::string_view text) const;
  // As parse_shape, but for the oracle alone, which takes sizes that candidates never see ("hipbench oracle" on
  // somebody's small model): no multiples or ranges, and fields that are the same in all shapes may be given too
  // (oracle_fields()).
  Result<Shape> parse_oracle_shape(std::string_view text) const;
  // Names a user gives in parse_shape, in canonical order ("m", "n", "k").
  std::span<const std::string> dimensions() const { return dimensions_; }
  // All integer fields by name: what launch-plan expressions see.
  std::map<std::string, int64_t> named_values(const Shape& shape) const;
  int64_t value(const Shape& shape, std::string_view field) const;
  // Where the emulated device checks only some rows of a listed shape: how many. Unlisted shapes are checked in full.
  int64_t emulated_check_rows(const Shape& shape) const;
  std::optional<double> challenge_sol_us(const Shape& shape) const;

  // The tensor behind a pointer field as it lies in memory, outermost dimension first, without padding. From [tensors]
  // in problem.toml, where each field has a list of expressions of the integer fields.
  std::vector<int64_t> tensor_shape(const Shape& shape, size_t pointer) const;
  uint64_t element_count(const Shape& shape, size_t pointer) const;
  uint64_t byte_count(const Shape& shape, size_t pointer) const;
  // The part of a pointer field that a candidate may write; rows = 0 for inputs. All of an Out field unless
  // problem.toml says otherwise in [writable.FIELD]; InOut fields must be listed there. Packed in this order, it is
  // what expected() returns and compare() takes.
  StridedRange writable(const Shape& shape, size_t pointer) const;
  // Cuts the writable range out of a whole buffer.
  static std::vector<std::byte> pack(const StridedRange& range, std::span<const std::byte> buffer);

  // The structured families: one-hot, cancelling sums, … On each of them an honest candidate passes with a margin and a
  // trivial one fails.
  virtual std::span<const std::string_view> input_families() const = 0;
  // Inputs of one launch. In and InOut fields are filled, Out fields stay empty.
  virtual Buffers generate(const Shape& shape, const Draw& draw) const = 0;

  // The oracle's rows: leading index of every output (m for GEMM, tokens for MoE, batches for MLA).
  virtual int64_t row_count(const Shape& shape) const = 0;
  // The right answer, in double, rounded to the output type: for each Out and InOut field the packed writable range,
  // only the rows asked for (ascending; empty = all).
  virtual Buffers expected(const Shape& shape, const Buffers& inputs, std::span<const int64_t> rows,
                           unsigned threads) const = 0;

  // An exact symmetry of the problem, chosen by `seed`: other inputs whose right answer follows from that of `drawn`
  // without an oracle. Rows, batches, experts, heads and contraction indices are permuted, signs flipped, powers of two
  // moved, such that nothing over- or underflows. By value, so that large buffers are reused: pass std::move.
  virtual Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) const = 0;

  // What a case expects as compare() takes it for `got`: all rows, zeros in those that the case does not hold.
  Buffers all_rows(const Shape& shape, const Case& one) const;

  // Compares packed writable ranges, all elements of the given rows (empty = all). `got` always holds all rows.
  // `poison` is the byte the judge filled outputs with before the launch.
  Comparison compare(const Shape& shape, const Buffers& expected, const Buffers& got, std::span<const int64_t> rows,
                     std::byte poison) const;
  const Tolerance& tolerance() const { return tolerance_; }

  virtual Work work(const Shape& shape) const = 0;
  Roofs roofs(const Shape& shape) const;
  Limits limits(const Shape& shape) const;

 protected:
  // Reads problem.toml. A broken one is a bug of ours (the files are embedded, the tests load every problem): CHECK.
  explicit Problem(const ProblemFiles& files);
  void finish(uint32_t args_size, std::vector<IntegerField> integers, std::vector<PointerField> pointers,
              std::vector<std::string> dimensions);

  // From the free dimensions, in the order of dimensions(), to all integer fields; checks the ranges a user may ask
  // for.
  virtual Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimension_values) const = 0;

  // Integer fields by name; see parse_oracle_shape(). Without them a problem's oracle takes what its candidates get.
  using NamedSizes = std::map<std::string, int64_t, std::less<>>;
  virtual std::span<const std::string_view> oracle_fields() const { return {}; }
  // From the given ones, each between 0 and kLargestOracleSize, to all integer fields.
  virtual Result<std::vector<int32_t>> complete_oracle_shape(const NamedSizes& given) const;
  static constexpr int64_t kLargestOracleSize = 1 << 20;

 private:
  Result<Shape> make_shape(std::span<const int64_t> dimension_values) const;
  // "KEY=N,KEY=N": all dimensions, and of `others` what is there.
  Result<NamedSizes> parse_sizes(std::string_view text, std::span<const std::string_view> others) const;
  std::vector<ListedShape> read_shapes(std::string_view set) const;
  int64_t evaluate(const Expression& expression, const Shape& shape) const;
  void read_tensors();
  void read_writable();
  void read_references();

  // Expressions of the integer fields, in elements.
  struct WritableExpressions {
    Expression offset, length, stride, rows;
  };

  const ProblemFiles* files_;
  std::string id_, title_;
  uint32_t args_size_ = 0;
  std::vector<IntegerField> integer_fields_;
  std::vector<PointerField> pointer_fields_;
  std::vector<std::vector<Expression>> tensors_;              // one a pointer field
  std::vector<std::optional<WritableExpressions>> writable_;  // one a pointer field
  std::vector<std::string> dimensions_;
  std::vector<ListedShape> quick_, tests_, benchmarks_;
  std::vector<ReferenceSolution> references_, ladder_;
  Tolerance tolerance_;
  double limit_base_instructions_ = 0, limit_instructions_per_flop_ = 0, limit_modelled_ms_ = 0;
};

}  // namespace hipbench
