// The device's side of the protocol is played by a FakeWave, which does to guest memory what the device libraries do.
#include "emulator/device/hostcall.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hipbench::emulator {
namespace {

struct Buffer {
  u64 headers, payloads, doorbell, free_stack, ready_stack, index_mask;
};
struct Header {
  u64 next, active_mask;
  u32 service, control;
};

class Hostcall : public testing::Test {
 protected:
  template <typename T>
  T& guest(u64 address) {
    return *reinterpret_cast<T*>(*memory_->host_range(address, sizeof(T)));
  }
  Buffer& buffer() { return guest<Buffer>(service_->buffer_address()); }
  Header& header(u64 entry) { return guest<Header>(buffer().headers + (entry & buffer().index_mask) * sizeof(Header)); }
  u64* slot(u64 entry, u32 lane) {
    return &guest<u64>(buffer().payloads + (entry & buffer().index_mask) * 4096 + lane * 64);
  }

  u64 take_packet() {
    const u64 entry = buffer().free_stack;
    EXPECT_NE(entry, 0u);
    buffer().free_stack = header(entry).next;
    return entry;
  }
  void submit(u64 entry, u32 service, u64 lanes) {
    header(entry) = {.next = buffer().ready_stack, .active_mask = lanes, .service = service, .control = 1};
    buffer().ready_stack = entry;
  }
  void give_back(u64 entry) {
    entry += buffer().index_mask + 1;
    header(entry).next = buffer().free_stack;
    buffer().free_stack = entry;
  }
  // One call of one lane: what it gets back.
  u64 call(u32 service, std::initializer_list<u64> arguments, u32 lane = 5) {
    const u64 entry = take_packet();
    std::copy(arguments.begin(), arguments.end(), slot(entry, lane));
    submit(entry, service, u64{1} << lane);
    service_->poll();
    EXPECT_EQ(header(entry).control & 1, 0u) << "the packet was not served";
    const u64 result = slot(entry, lane)[0];
    give_back(entry);
    return result;
  }
  // Sends a string in parts of seven words, as the device libraries do; `last` ends the message.
  u64 send_text(u64 descriptor, const std::string& text, bool last) {
    for (size_t at = 0; at <= text.size(); at += 56) {
      u64 words[7] = {};
      std::memcpy(words, text.data() + at, std::min<size_t>(56, text.size() - at));
      const bool end = last && at + 56 > text.size();
      const u64 count = (std::min<size_t>(56, text.size() + 1 - at) + 7) / 8;
      descriptor = call(2, {(descriptor & ~u64{0xe0}) | count << 5 | (end ? 2u : 0u), words[0], words[1], words[2],
                            words[3], words[4], words[5], words[6]});
    }
    return descriptor;
  }

  std::unique_ptr<AddressSpace> memory_ = std::move(AddressSpace::create()).value();
  std::string printed_;
  std::unique_ptr<HostcallService> service_ =
      std::move(HostcallService::create(*memory_, [this](std::string_view text) { printed_ += text; })).value();
};

TEST_F(Hostcall, PrintsAMessageOfOnePart) {
  u64 words[2] = {};
  std::memcpy(words, "value %d\n", 9);
  EXPECT_EQ(call(2, {1 | 2 | 4 << 5, 0, words[0], words[1], 42}), 9u);
  EXPECT_EQ(printed_, "value 42\n");
}

TEST_F(Hostcall, PrintsAMessageOfManyParts) {
  u64 descriptor = call(2, {1 | 1 << 5, 0});  // begin: control word for standard output
  EXPECT_EQ(descriptor & 3, 0u);
  descriptor = send_text(descriptor, "a format that is longer than one packet can hold: %s and then %d\n", false);
  descriptor = send_text(descriptor, "text", false);
  EXPECT_EQ(printed_, "");
  EXPECT_EQ(call(2, {(descriptor & ~u64{0xe0}) | 1 << 5 | 2, 7}), printed_.size());
  EXPECT_EQ(printed_, "a format that is longer than one packet can hold: text and then 7\n");
}

TEST_F(Hostcall, ServesEveryActiveLaneOfEveryReadyPacket) {
  const u64 first = take_packet(), second = take_packet();
  u64 text[1] = {};
  std::memcpy(text, "x%d ", 4);
  for (const u64 entry : {first, second})
    for (const u32 lane : {0u, 63u}) {
      const u64 words[] = {1 | 2 | 3 << 5, 0, text[0], lane};
      std::copy(std::begin(words), std::end(words), slot(entry, lane));
    }
  submit(first, 2, u64{1} | u64{1} << 63);
  submit(second, 2, u64{1} | u64{1} << 63);
  service_->poll();
  EXPECT_EQ(printed_, "x0 x63 x0 x63 ");
  EXPECT_EQ(buffer().ready_stack, 0u);
}

TEST_F(Hostcall, HasAPacketForEveryWaveOfTheChip) {
  for (int i = 0; i < 304 * 32; ++i) take_packet();
  EXPECT_EQ(buffer().free_stack, 0u);
  service_->end_launch(false);
  EXPECT_NE(buffer().free_stack, 0u);
}

TEST_F(Hostcall, AllocatesAndFreesDeviceMemory) {
  const u64 address = call(3, {0, 10000});
  ASSERT_NE(memory_->find(address), nullptr);
  EXPECT_EQ(memory_->find(address)->size, 10000u);
  EXPECT_EQ(address % 4096, 0u);
  const u64 slab = call(3, {0, 2 << 20});
  EXPECT_EQ(slab % (2 << 20), 0u);
  call(3, {address, 0});
  EXPECT_NE(memory_->find(address), nullptr) << "nothing is unmapped while the kernel runs";
  EXPECT_EQ(call(3, {0, 10000}), address) << "but it is used again";
  call(3, {address, 0});
  service_->end_launch(true);
  EXPECT_EQ(memory_->find(address), nullptr);
  EXPECT_NE(memory_->find(slab), nullptr);
  EXPECT_EQ(call(3, {0, u64{1} << 60}), 0u) << "no memory is a null pointer";
}

TEST_F(Hostcall, SurvivesAHostileBuffer) {
  const u64 entry = take_packet();
  submit(entry, 2, ~u64{0});
  header(entry).next = entry;  // a cycle
  service_->poll();
  buffer().ready_stack = buffer().index_mask;  // no such packet
  service_->poll();
  buffer().ready_stack = ~u64{0};
  buffer().headers = buffer().payloads = 0xdead;
  service_->poll();
  service_->end_launch(false);
  call(99, {1, 2, 3});                              // no such service
  call(1, {0x1234});                                // a host function
  EXPECT_EQ(call(2, {u64{77} << 8 | 2}), ~u64{0});  // a message that was never begun
  call(3, {0x1234, 0});                             // free of something else
  EXPECT_NE(printed_.find("0x1234"), std::string::npos);
}

}  // namespace
}  // namespace hipbench::emulator
