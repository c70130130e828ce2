#include "emulator/protocol/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "emulator/protocol/connection.hpp"

namespace hipbench::emulator {
namespace {

// A log that nobody drains stops growing here. An entry without texts is about 600 bytes.
constexpr size_t kMaxLogEntries = 1u << 17;
constexpr u64 kMaxLogBytes = u64{64} << 20;
constexpr size_t kMaxConnections = 64;
// Texts in the log that a client chooses (kernel names) or causes (refusals).
constexpr size_t kMaxLoggedText = 4096;

void truncate(std::string& text) {
  if (text.size() > kMaxLoggedText) text.resize(kMaxLoggedText);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(u32 threads, u64 resident_budget) {
  std::unique_ptr<Server> server(new Server);
  DeviceOptions options;
  options.threads = threads;
  options.resident_budget = resident_budget;
  options.print = [raw = server.get()](std::string_view text) {
    if (Connection* connection = raw->launching_.load()) connection->stream().print(text);
  };
  server->device_ = TRY(Device::create(std::move(options)));
  return server;
}

Server::~Server() = default;

void Server::serve(UniqueFd trusted) {
  Connection* judge = nullptr;
  {
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::make_unique<Connection>(*this, std::move(trusted), next_client_++, true));
    judge = connections_.front().get();
  }
  judge->read_requests();  // returns when the trusted end closes
}

bool Server::limit(const Connection& connection, LaunchRequest& request) {
  const std::lock_guard lock(mutex_);
  request.timing_secret = limits_.timing_secret;
  if (!connection.trusted()) {
    request.check = limits_.check;
    request.time = limits_.time && !limits_.check;
    request.no_eight_bit_math = limits_.no_eight_bit_math;
    request.instruction_limit = limits_.instructions_per_launch;
  }
  if (limits_.instructions_in_all == 0) return true;
  if (instructions_used_ >= limits_.instructions_in_all) return false;
  const u64 left = limits_.instructions_in_all - instructions_used_;
  request.instruction_limit = request.instruction_limit == 0 ? left : std::min(left, request.instruction_limit);
  return true;
}

// The launch that goes beyond the common limit knows only what the others had left it.
void Server::explain_limit(FaultReport& fault) {
  const std::lock_guard lock(mutex_);
  if (fault.kind == FaultKind::InstructionLimit && limits_.instructions_in_all != 0 && instructions_used_ != 0)
    fault.message =
        fmt::format("all launches together executed more than {} wave instructions", limits_.instructions_in_all);
}

LaunchResult Server::launch(Connection& connection, LaunchRequest request, std::string& refused) {
  Operation entry;
  entry.client = connection.id();
  entry.module = request.module;
  entry.kernel = request.kernel;
  entry.grid = request.grid;
  entry.block = request.block;
  entry.dynamic_lds = request.dynamic_lds;
  truncate(entry.kernel);

  const std::lock_guard lock(launch_mutex_);
  entry.start_ns = device_->clock_ns();
  if (!limit(connection, request)) {
    entry.result.fault.kind = FaultKind::InstructionLimit;
    const CodeObject* code = device_->module(request.module);
    const Kernel* kernel = code == nullptr ? nullptr : code->find_kernel(request.kernel);
    entry.result.fault.kernel = kernel == nullptr ? entry.kernel : kernel->demangled;
    entry.result.fault.message = "the limit of wave instructions over all launches is used up";
  } else {
    launching_ = &connection;
    Result<LaunchResult> result = device_->launch(request);
    launching_ = nullptr;
    if (result) {
      entry.result = std::move(result).value();
      explain_limit(entry.result.fault);
    } else {
      entry.refused = result.error().message;
    }
  }
  entry.end_ns = device_->clock_ns();
  {
    const std::lock_guard counted(mutex_);
    instructions_used_ += entry.result.counters.instructions;
  }
  refused = entry.refused;
  truncate(entry.refused);
  LaunchResult result = entry.result;
  log(std::move(entry));
  return result;
}

bool Server::may_load(std::span<const std::byte> code) {
  Connection* trusted = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!limits_.known_code_only) return true;
    trusted = connections_.front().get();  // it stays to the end
  }
  const auto object = CodeObject::parse(code);
  // What does not even parse is refused with the parser's words, by whoever loads it.
  return !object || trusted->holds_code((*object)->elf());
}

void Server::model_transfer(Operation& operation) const {
  switch (operation.kind) {
    case OperationKind::Write:
    case OperationKind::Read: return device_->model_transfer(operation.bytes, true, operation.result);
    case OperationKind::Fill: return device_->model_transfer(operation.bytes, false, operation.result);
    case OperationKind::Copy: return device_->model_transfer(2 * operation.bytes, false, operation.result);
    case OperationKind::Launch:
    case OperationKind::Timestamp:
    case OperationKind::LoadModule: return;
  }
}

void Server::log(Operation operation) {
  constexpr u64 kLineEstimate = 256;  // of a hot source line
  const u64 bytes = sizeof operation + operation.kernel.size() + operation.refused.size() +
                    operation.result.fault.message.size() + operation.result.fault.instruction.size() +
                    operation.result.fault.source.size() + operation.result.time_breakdown.lines.size() * kLineEstimate;
  const std::lock_guard lock(mutex_);
  if (limits_.time) model_transfer(operation);
  operation.sequence = sequence_++;
  if (log_.size() >= kMaxLogEntries || log_bytes_ + bytes > kMaxLogBytes) {
    ++dropped_;
    return;
  }
  log_bytes_ += bytes;
  log_.push_back(std::move(operation));
}

OperationLog Server::drain_log() {
  const std::lock_guard lock(mutex_);
  OperationLog drained;
  drained.operations.swap(log_);
  drained.dropped = std::exchange(dropped_, 0);
  log_bytes_ = 0;
  return drained;
}

void Server::set_limits(const Limits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  instructions_used_ = 0;
}

void Server::reap() {
  std::erase_if(connections_, [](const std::unique_ptr<Connection>& connection) {
    return !connection->trusted() && connection->ended();
  });
}

Result<UniqueFd> Server::add_client() {
  const std::lock_guard lock(mutex_);
  reap();
  if (connections_.size() >= kMaxConnections)
    return Error{fmt::format("the device server already has {} connections", kMaxConnections)};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{fmt::format("cannot create a socket: {}", std::strerror(errno))};
  UniqueFd ours(ends[0]), theirs(ends[1]);
  connections_.push_back(std::make_unique<Connection>(*this, std::move(ours), next_client_++, false));
  connections_.back()->start();
  return theirs;
}

bool Server::all_idle() {
  const std::lock_guard lock(mutex_);
  return std::all_of(connections_.begin(), connections_.end(), [](const std::unique_ptr<Connection>& connection) {
    return connection->ended() || connection->stream().idle();
  });
}

bool Server::close_clients() {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Connection>& connection : connections_)
    if (!connection->trusted()) connection->shut();
  reap();
  return connections_.size() == 1;
}

}  // namespace hipbench::emulator
