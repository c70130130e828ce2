#include "problems/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "common/files.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using ::testing::HasSubstr;

TEST(Registry, FindsProblemsByIdAndListsThemOtherwise) {
  ASSERT_FALSE(all_problems().empty());
  for (const Problem* problem : all_problems()) EXPECT_EQ(*find_problem(problem->id()), problem);
  const Result<const Problem*> missing = find_problem("fp9");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("fp8_gemm"));
}

TEST(EveryProblem, IsComplete) {
  for (const Problem* problem : all_problems()) {
    SCOPED_TRACE(problem->id());
    EXPECT_FALSE(problem->title().empty());
    EXPECT_THAT(std::string(problem->readme()), HasSubstr(problem->id()));
    EXPECT_THAT(std::string(problem->header()), HasSubstr("struct hb_" + problem->id()));
    EXPECT_THAT(std::string(problem->starter(Track::Kernel)), HasSubstr("/* hipbench-plan 1"));
    EXPECT_THAT(std::string(problem->starter(Track::Host)), HasSubstr(problem->run_symbol()));
    for (const Track track : {Track::Kernel, Track::Host}) {
      EXPECT_THAT(std::string(problem->starter(track)), HasSubstr("#include \"" + problem->header_name() + "\""));
    }
    for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
      EXPECT_FALSE(problem->shapes(set).empty());
    }
    for (const ListedShape& listed : problem->shapes(ShapeSet::Benchmarks)) {
      const Roofs roofs = problem->roofs(listed.shape);
      EXPECT_GT(roofs.floor_us, 0);
      EXPECT_GE(std::max(roofs.matrix_roof_us, roofs.memory_roof_us), roofs.floor_us) << listed.shape.label;
    }
  }
}

TEST(EveryProblem, ListedShapesParseBackFromTheirLabels) {
  for (const Problem* problem : all_problems()) {
    for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
      for (const ListedShape& listed : problem->shapes(set)) {
        const Result<Shape> parsed = problem->parse_shape(listed.shape.label);
        ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
        EXPECT_EQ(parsed->values, listed.shape.values);
        EXPECT_EQ(problem->emulated_check_rows(*parsed), listed.emulated_check_rows);
      }
    }
  }
}

TEST(EveryProblem, WritableRangesDivideIntoRows) {
  for (const Problem* problem : all_problems()) {
    const Shape& shape = problem->shapes(ShapeSet::Quick)[0].shape;
    for (size_t pointer = 0; pointer < problem->pointer_fields().size(); ++pointer) {
      const StridedRange range = problem->writable(shape, pointer);
      if (problem->pointer_fields()[pointer].access == Access::In) {
        EXPECT_EQ(range.rows, 0u);
        continue;
      }
      EXPECT_GT(range.total_bytes(), 0u);
      EXPECT_LE(range.offset + (range.rows - 1) * range.stride_bytes + range.row_bytes,
                problem->byte_count(shape, pointer));
      EXPECT_EQ(range.total_bytes() % static_cast<uint64_t>(problem->row_count(shape)), 0u);
    }
  }
}

TEST(EveryProblem, ReferenceSolutionsAreTheFrozenFiles) {
  for (const Problem* problem : all_problems()) {
    std::set<std::string> names;
    std::set<std::filesystem::path> named;
    for (const auto& list : {problem->references(), problem->ladder()}) {
      for (const ReferenceSolution& one : list) {
        SCOPED_TRACE(one.path);
        EXPECT_EQ(sha256_hex(one.source), one.sha256);
        EXPECT_EQ(read_file(HIPBENCH_SOURCE_DIR "/" + one.path).value(), one.source);
        EXPECT_FALSE(one.shows.empty());
        EXPECT_TRUE(names.insert(one.name).second);
        named.insert(HIPBENCH_SOURCE_DIR "/" + one.path);
        EXPECT_EQ(problem->find_reference(one.name).value(), &one);
      }
    }
    const Result<const ReferenceSolution*> missing = problem->find_reference("none");
    ASSERT_FALSE(missing.has_value());
    for (const std::string& name : names) EXPECT_THAT(missing.error().message, HasSubstr(name));
    if (problem->references().empty()) continue;
    for (const auto& file :
         std::filesystem::directory_iterator(HIPBENCH_SOURCE_DIR "/kernels/reference_solutions/" + problem->id()))
      EXPECT_TRUE(named.contains(file.path())) << file.path() << " is not in problem.toml";
    ASSERT_NE(problem->reference(ReferenceRole::Naive), nullptr);
    EXPECT_EQ(problem->reference(ReferenceRole::Naive)->name, "naive");
    ASSERT_NE(problem->reference(ReferenceRole::Baseline), nullptr);
    EXPECT_EQ(problem->reference(ReferenceRole::Baseline)->name, "baseline");
  }
  EXPECT_EQ((*find_problem("identity"))->reference(ReferenceRole::Expert), nullptr);
}

TEST(ParseShape, SaysWhatIsWrong) {
  const Problem& problem = **find_problem("fp8_gemm");
  const auto error_of = [&](std::string_view text) {
    const Result<Shape> shape = problem.parse_shape(text);
    return shape ? std::string("accepted") : shape.error().message;
  };
  EXPECT_EQ(error_of("k=128, n=64,m=32"), "accepted");
  EXPECT_EQ(problem.parse_shape("k=128,n=64, m = 32")->label, "m=32,n=64,k=128");
  EXPECT_THAT(error_of("m=64,n=64"), HasSubstr("the dimension k is missing"));
  EXPECT_THAT(error_of(""), HasSubstr("the dimension m is missing"));
  EXPECT_THAT(error_of("m=64,n=64,k=128,m=64"), HasSubstr("given twice"));
  EXPECT_THAT(error_of("m=64,n=64,q=128"), HasSubstr("no dimension \"q\""));
  EXPECT_THAT(error_of("64,64,128"), HasSubstr("is not KEY=VALUE"));
  EXPECT_THAT(error_of("m=64x,n=64,k=128"), HasSubstr("m: \"64x\" is not an integer"));
  EXPECT_THAT(error_of("m=99999999999999999999,n=64,k=128"), HasSubstr("is not an integer of 64 bits"));
  EXPECT_THAT(error_of("m=64,n=65,k=128"), HasSubstr("n=65 is not a positive multiple of 64"));
  EXPECT_THAT(error_of("m=-32,n=64,k=128"), HasSubstr("m=-32 is not a positive multiple of 32"));
  EXPECT_THAT(error_of("m=0,n=64,k=128"), HasSubstr("m=0"));
}

TEST(ParseOracleShape, TakesSizesThatNoCandidateSees) {
  const auto values_of = [](std::string_view problem, std::string_view text) {
    const Result<Shape> shape = (*find_problem(problem))->parse_oracle_shape(text);
    return shape ? shape->values : std::vector<int32_t>{};
  };
  using testing::ElementsAre;
  EXPECT_THAT(values_of("fp8_gemm", "m=5,n=7,k=130"), ElementsAre(5, 7, 130, 0));
  EXPECT_THAT(values_of("moe", "n_experts=8,bs=1,seq=48,d_hidden=256,d_expert=128"),
              ElementsAre(1, 48, 48, 256, 128, 128, 8, 4));
  EXPECT_THAT(values_of("moe", "n_experts=4,bs=2,seq=3,d_shared=64,top_k=1"),
              ElementsAre(2, 3, 6, 7168, 2048, 64, 4, 1));
  EXPECT_THAT(values_of("mla_decode", "bs=2,prefill=16,dim=256,dq=128,max_seq=17"),
              ElementsAre(2, 256, 128, 128, 16, 17));
  const Problem& moe = **find_problem("moe");
  EXPECT_EQ(moe.parse_oracle_shape("d_expert=128,seq=48,bs=1,n_experts=8")->label,
            "n_experts=8,bs=1,seq=48,d_expert=128");
  for (const Problem* problem : all_problems()) {
    for (const ListedShape& listed : problem->shapes(ShapeSet::Tests))
      EXPECT_EQ(problem->parse_oracle_shape(listed.shape.label)->values, listed.shape.values);
  }
}

TEST(ParseOracleShape, SaysWhatIsWrong) {
  const auto error_of = [](std::string_view problem, std::string_view text) {
    const Result<Shape> shape = (*find_problem(problem))->parse_oracle_shape(text);
    return shape ? std::string("accepted") : shape.error().message;
  };
  EXPECT_THAT(error_of("moe", "n_experts=8,bs=1,seq=48,dim=256"), HasSubstr("the oracle also takes d_hidden=N"));
  EXPECT_THAT(error_of("moe", "n_experts=3,bs=1,seq=1"), HasSubstr("top_k=4 is more than n_experts=3"));
  EXPECT_THAT(error_of("moe", "n_experts=8,bs=1048576,seq=2"), HasSubstr("tokens"));
  EXPECT_THAT(error_of("moe", "n_experts=1048576,bs=1,seq=1,d_hidden=1048576"), HasSubstr("GB"));
  EXPECT_THAT(error_of("moe", "n_experts=8,bs=1,seq=1,d_hidden=0"), HasSubstr("positive"));
  EXPECT_THAT(error_of("mla_decode", "bs=1,prefill=17,max_seq=17"), HasSubstr("leaves no row"));
  EXPECT_THAT(error_of("mla_decode", "bs=1,prefill=-1"), HasSubstr("prefill=-1 is not between 0"));
  EXPECT_THAT(error_of("fp8_gemm", "m=0,n=64,k=128"), HasSubstr("m=0 is not positive"));
  EXPECT_THAT(error_of("fp8_gemm", "m=64,n=64,k=2000000"), HasSubstr("k=2000000"));
  EXPECT_THAT(error_of("identity", "rows=0,columns=1"), HasSubstr("rows=0"));
}

TEST(Pack, CutsStridedRangesOut) {
  std::vector<std::byte> buffer(20);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i);
  const std::vector<std::byte> packed =
      Problem::pack({.offset = 2, .row_bytes = 2, .stride_bytes = 8, .rows = 3}, buffer);
  EXPECT_EQ(packed, (std::vector<std::byte>{std::byte{2}, std::byte{3}, std::byte{10}, std::byte{11}, std::byte{18},
                                            std::byte{19}}));
  EXPECT_TRUE(Problem::pack({}, buffer).empty());
}

TEST(MakeArgs, PlacesPointersAndDimensions) {
  const Problem& problem = **find_problem("fp8_gemm");
  const Shape shape = *problem.parse_shape("m=64,n=192,k=256");
  const std::vector<uint64_t> pointers = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000};
  const std::vector<std::byte> args = problem.make_args(shape, pointers);
  ASSERT_EQ(args.size(), 56u);
  uint64_t words[5];
  int32_t dims[4];
  std::memcpy(words, args.data(), sizeof words);
  std::memcpy(dims, args.data() + 40, sizeof dims);
  EXPECT_THAT(words, testing::ElementsAreArray(pointers));
  EXPECT_THAT(dims, testing::ElementsAre(64, 192, 256, 0));
}

}  // namespace
}  // namespace hipbench
