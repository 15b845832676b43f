// include/vole/errors.h: the error category "vole".

#include <vole/errors.h>

#include <string>

namespace vole {
inline namespace v0 {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "vole"; }
  std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::closed: return "use of a closed object";
      case errc::deadline_exceeded: return "deadline exceeded";
      case errc::canceled: return "canceled: the runtime stopped or the context was cancelled";
      case errc::goroutine_exited: return "the goroutine called exit_goroutine()";
      case errc::no_such_host: return "no such host";
      case errc::lookup_failed: return "temporary failure in name resolution";
      case errc::too_long: return "longer than the limit allows";
      case errc::unexpected_end: return "unexpected end of the stream";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::deadline_exceeded: return std::errc::timed_out;
      case errc::canceled: return std::errc::operation_canceled;
      case errc::too_long: return std::errc::message_size;
      default: return {code, *this};
    }
  }
};

}  // namespace

const std::error_category& vole_category() noexcept {
  static const category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), vole_category()}; }

}  // namespace v0
}  // namespace vole
