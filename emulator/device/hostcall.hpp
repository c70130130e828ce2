#pragma once
// The host's side of ROCm's hostcall protocol (device libraries of ROCm 5 and 6): device printf, assert, malloc and
// free.
//
// A wave that wants something takes a packet from the buffer's stack of free packets, fills one slot a lane, pushes it
// on the stack of ready packets, rings the doorbell (s_sendmsg) and waits until the host clears the packet's ready
// flag. Everything in the buffer can be overwritten by a hostile kernel: it is read once and checked.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

class HostcallService {
 public:
  // Makes the buffer and the malloc heap in guest memory. `print` receives the text of printf and assert.
  static Result<std::unique_ptr<HostcallService>> create(AddressSpace& memory,
                                                         std::function<void(std::string_view)> print);

  u64 buffer_address() const { return buffer_; }  // hidden_hostcall_buffer
  u64 heap_address() const { return heap_; }      // hidden_heap_v1: all zero is its initial state

  // Serves all ready packets. Thread-safe, and cheap when there is none: called whenever waves signal or wait.
  void poll();

  // After each launch, with no kernel running: frees what the kernel freed, forgets messages that were never finished
  // and, when waves were stopped in the middle, puts all packets back.
  void end_launch(bool completed);

 private:
  HostcallService(AddressSpace& memory, std::function<void(std::string_view)> print)
      : memory_(memory), print_(std::move(print)) {}
  using Slot = u64[8];
  void reset_packets();
  void serve(u32 service, u64* slot);
  void serve_printf(u64* slot);
  void serve_memory(u64* slot);
  u64 allocate(u64 size);

  AddressSpace& memory_;
  std::function<void(std::string_view)> print_;
  u64 buffer_ = 0, heap_ = 0;
  std::byte* host_ = nullptr;  // of the buffer
  std::mutex mutex_;
  std::unordered_map<u64, std::vector<u64>> messages_;  // unfinished, by id
  u64 next_message_ = 1;
  u64 message_words_ = 0;             // in all of them
  std::map<u64, u64> live_;           // device malloc's requests: address -> size
  std::multimap<u64, u64> returned_;  // size -> address: freed by the kernel, reusable, given back after the launch
};

}  // namespace hipbench::emulator
