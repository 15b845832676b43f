#include "net/errors.h"

#include <cctype>

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

class net_error final : public std::system_error {
 public:
  net_error(const std::error_code& code, std::string text)
      : std::system_error(code, text), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

std::string message_of(const std::error_code& code) {
  std::string text = code.message();
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void throw_net(std::string operation, const std::error_code& code) {
  throw net_error(code, std::move(operation) + ": " + message_of(code));
}

void throw_net(std::string operation, const failure& f) {
  throw net_error(f.code,
                  std::move(operation) + ": " + (f.what.empty() ? message_of(f.code) : f.what));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
