#include "common/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "common/files.hpp"

namespace hipbench {
namespace {

using testing::HasSubstr;

class NpyTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.npy"; }
  // A file with this header text (padded as NumPy does) and this much data.
  void write(const std::string& header, size_t bytes, char version = 1) const {
    std::string content = "\x93NUMPY";
    content += {version, '\0', static_cast<char>(header.size()), '\0'};
    if (version > 1) content += {'\0', '\0'};
    ASSERT_TRUE(write_file_atomically(file(), content + header + std::string(bytes, '\x01')));
  }
  std::string error() const {
    const Result<NpyTensor> tensor = read_npy(file());
    return tensor ? "" : tensor.error().message;
  }
  TemporaryDirectory folder_ = TemporaryDirectory::create("npy_test").value();
};

TEST_F(NpyTest, WhatIsWrittenIsReadBack) {
  std::vector<std::byte> data(2 * 3 * 2);
  for (size_t k = 0; k < data.size(); ++k) data[k] = std::byte(k);
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{2, 3}, {6}, {1, 6, 1}}) {
    ASSERT_TRUE(write_npy(file(), "<u2", shape, data));
    const NpyTensor read = read_npy(file()).value();
    EXPECT_EQ(read.type, "<u2");
    EXPECT_EQ(read.shape, shape);
    EXPECT_EQ(read.data, data);
  }
}

// The bytes that numpy.save(f, numpy.arange(3, dtype=numpy.float32)) writes: lead of 10 bytes, header up to byte 128.
TEST_F(NpyTest, TheFileIsWhatNumpyWrites) {
  const float values[3] = {0, 1, 2};
  ASSERT_TRUE(write_npy(file(), "<f4", std::vector<int64_t>{3}, std::as_bytes(std::span(values))));
  const std::string content = read_file(file()).value();
  EXPECT_EQ(content.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(content, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_EQ(content.size(), 128 + sizeof values);
  EXPECT_EQ(content[127], '\n');
}

TEST_F(NpyTest, OtherSpellingsOfTheHeaderAreRead) {
  write("{\"shape\":(2,2),\"fortran_order\":False,\"descr\":\"|u1\"}\n", 4);
  EXPECT_EQ(read_npy(file()).value().shape, (std::vector<int64_t>{2, 2}));
  write("{'descr': '<f8', 'fortran_order': False, 'shape': (), }  \n", 8, 2);
  EXPECT_TRUE(read_npy(file()).value().shape.empty());
  write("{'descr': '<f8', 'fortran_order': True, 'shape': (0,), }\n", 0, 3);
  EXPECT_TRUE(read_npy(file()).value().data.empty());
}

// numpy.arange(24, dtype=numpy.uint16).reshape(4, 3, 2).T, as numpy.save writes it: the data in memory's order.
TEST_F(NpyTest, FortranOrderBecomesCOrder) {
  const std::string header = "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 4), }\n";
  std::string content = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  for (int value = 0; value < 24; ++value) content += {static_cast<char>(value), '\0'};
  ASSERT_TRUE(write_file_atomically(file(), content));
  const NpyTensor read = read_npy(file()).value();
  EXPECT_EQ(read.shape, (std::vector<int64_t>{2, 3, 4}));
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(read.data[((i * 3 + j) * 4 + k) * 2], static_cast<std::byte>((k * 3 + j) * 2 + i));
}

TEST_F(NpyTest, WhatCannotBeReadSaysWhy) {
  EXPECT_THAT(error(), HasSubstr("there is no file"));
  ASSERT_TRUE(write_file_atomically(file(), ""));
  EXPECT_THAT(error(), HasSubstr("is not a .npy file"));
  ASSERT_TRUE(write_file_atomically(file(), "PK\x03\x04 an .npz archive"));
  EXPECT_THAT(error(), HasSubstr("is not a .npy file"));
  for (const char* type : {"O", "<U8", ">f4", "<f9", "|u2", "<x4"}) {
    write(std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (2, 2), }\n", 16);
    EXPECT_THAT(error(), HasSubstr("only little-endian numbers"));
  }
  write("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", 8);
  EXPECT_THAT(error(), HasSubstr("is not understood"));
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", 15);
  EXPECT_THAT(error(), HasSubstr("holds 15 bytes of data"));
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }\n", 16);
  EXPECT_THAT(error(), HasSubstr("holds 16 bytes of data"));
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }\n", 16);
  EXPECT_THAT(error(), HasSubstr("is not understood"));
  ASSERT_TRUE(write_file_atomically(file(), std::string("\x93NUMPY\x09\x00\x10\x00", 10)));
  EXPECT_THAT(error(), HasSubstr("version 9"));
}

// Every cut and every changed byte of a header ends in a value or an error, never in a crash or a huge allocation.
TEST_F(NpyTest, DamagedHeadersAreErrors) {
  ASSERT_TRUE(write_npy(file(), "<f4", std::vector<int64_t>{2, 2}, std::vector<std::byte>(16)));
  const std::string whole = read_file(file()).value();
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    ASSERT_TRUE(write_file_atomically(file(), whole.substr(0, cut)));
    EXPECT_FALSE(read_npy(file())) << cut;
  }
  for (size_t at = 0; at < 80; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    ASSERT_TRUE(write_file_atomically(file(), changed));
    if (const Result<NpyTensor> read = read_npy(file())) EXPECT_LE(read->data.size(), 16U) << at;
  }
}

TEST_F(NpyTest, AFolderIsAnError) {
  EXPECT_FALSE(read_npy(folder_.path()));
  EXPECT_FALSE(write_npy(folder_.path() / "missing" / "x.npy", "<f4", std::vector<int64_t>{0}, {}));
}

}  // namespace
}  // namespace hipbench
