#pragma once
// Error handling for what the environment does to us: files, processes, databases, devices. Such failures are ordinary,
// so they are values in signatures. A candidate's failure is not an Error but a Verdict; a guest's fault in the
// emulator is a GuestFault; a bug of ours is a CHECK. CONTRIBUTING.md says which to use when.
//
// Result<T> has std::expected's method names, so that it can be replaced by it once the project moves to C++23.

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hipbench {

// What went wrong, in a sentence a user can act on. Layers add context in front: "cannot open the database: …".
struct Error {
  std::string message;

  Error with_context(std::string_view context) const { return Error{std::string(context) + ": " + message}; }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T otherwise) && { return has_value() ? std::move(*this).value() : std::move(otherwise); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  void value() const {}
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }

 private:
  Error error_;
  bool failed_ = false;
};

// Prints the message with its place and aborts. Use through CHECK.
[[noreturn]] void check_failed(const char* condition, const char* file, int line, std::string_view message);

}  // namespace hipbench

// The value of a Result, or return its Error from the enclosing function.
#define TRY(...)                                          \
  ({                                                      \
    auto try_result_ = (__VA_ARGS__);                     \
    if (!try_result_.has_value()) [[unlikely]]            \
      return std::move(try_result_).error();              \
    std::move(try_result_).value();                       \
  })

// An invariant of our own code. Never reachable from user input.
#define CHECK(condition, ...)                                                                 \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::hipbench::check_failed(#condition, __FILE__, __LINE__, ::std::string_view{__VA_ARGS__}); \
  } while (false)
