#include "problems/tensor_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/files.hpp"
#include "common/npy.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TensorFiles : public testing::Test {
 protected:
  const Problem& problem_ = *find_problem("fp8_gemm").value();
  const Shape shape_ = problem_.parse_shape("m=32,n=64,k=256").value();
  const TemporaryDirectory folder_ = TemporaryDirectory::create("tensor_files_test").value();
  const Buffers drawn_ = problem_.generate(shape_, {.seed = 1});

  std::string error() const {
    const Result<Buffers> read = read_input_tensors(problem_, shape_, folder_.path());
    return read ? "" : read.error().message;
  }
  void replace(const char* name, std::string_view type, std::vector<int64_t> extents, size_t bytes) const {
    ASSERT_TRUE(write_npy(folder_.path() / name, type, extents, std::vector<std::byte>(bytes)));
  }
};

TEST_F(TensorFiles, DrawnInputsSurviveTheWayThroughFiles) {
  ASSERT_TRUE(write_tensors(problem_, shape_, drawn_, folder_.path() / "made"));
  EXPECT_EQ(read_input_tensors(problem_, shape_, folder_.path() / "made").value(), drawn_);
}

TEST_F(TensorFiles, FilesHaveTheShapesAndTypesOfTheTensors) {
  ASSERT_TRUE(write_tensors(problem_, shape_, drawn_, folder_.path()));
  const NpyTensor a = read_npy(folder_.path() / "a.npy").value(),
                  scale = read_npy(folder_.path() / "b_scale.npy").value();
  EXPECT_EQ(a.type, "|u1");
  EXPECT_EQ(a.shape, (std::vector<int64_t>{256, 32}));
  EXPECT_EQ(scale.type, "<f4");
  EXPECT_EQ(scale.shape, (std::vector<int64_t>{2, 1}));
  ASSERT_TRUE(write_packed_outputs(problem_, shape_, problem_.expected(shape_, drawn_, {}, 1), folder_.path()));
  EXPECT_EQ(read_npy(folder_.path() / "c.npy").value().shape, (std::vector<int64_t>{32, 64}));
}

TEST_F(TensorFiles, WhatDoesNotFitIsExplained) {
  EXPECT_THAT(error(), HasSubstr("lacks a.npy, b.npy, a_scale.npy, b_scale.npy"));
  ASSERT_TRUE(write_tensors(problem_, shape_, drawn_, folder_.path()));
  EXPECT_EQ(error(), "");
  replace("a.npy", "|u1", {32, 256}, 32 * 256);
  EXPECT_THAT(error(), AllOf(HasSubstr("a.npy has the shape (32, 256)"), HasSubstr("must have (256, 32)"),
                             HasSubstr("transposed")));
  replace("a.npy", "<f4", {256, 32}, 256 * 32 * 4);
  EXPECT_THAT(error(), AllOf(HasSubstr("holds '<f4'"), HasSubstr("view(torch.uint8)")));
  replace("a.npy", "|i1", {256, 32}, 256 * 32);
  EXPECT_THAT(error(), HasSubstr("holds '|i1'"));
  ASSERT_TRUE(write_file_atomically(folder_.path() / "a.npy", "no tensor"));
  EXPECT_THAT(error(), HasSubstr("is not a .npy file"));
}

TEST_F(TensorFiles, AFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(write_file_atomically(folder_.path() / "file", ""));
  EXPECT_THAT(write_tensors(problem_, shape_, drawn_, folder_.path() / "file").error().message,
              HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace hipbench
