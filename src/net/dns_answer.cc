#include "net/dns_answer.h"

#include <cstdint>
#include <string>
#include <utility>

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t kHeader = 12, kQuestionTail = 4, kRecordTail = 10;
constexpr std::uint16_t kSrv = 33, kIn = 1;

class bytes {
 public:
  explicit bytes(std::span<const unsigned char> all) noexcept : all_(all) {}

  bool ok() const noexcept { return ok_; }
  std::size_t at() const noexcept { return at_; }
  void go_to(std::size_t at) noexcept {
    ok_ = ok_ && at <= all_.size();
    if (ok_) at_ = at;
  }
  std::uint16_t number() noexcept {
    if (!ok_ || all_.size() - at_ < 2) return fail();
    at_ += 2;
    return static_cast<std::uint16_t>(all_[at_ - 2] << 8 | all_[at_ - 1]);
  }

  // Labels with dots between them. A pointer leads to an earlier place only, so that it ends.
  std::string name() {
    std::string text;
    std::size_t from = at_, end = 0;  // end: behind the first pointer
    for (;;) {
      if (!ok_ || from >= all_.size()) return fail(), std::string();
      const std::size_t n = all_[from];
      if (n >= 0xc0) {
        if (from + 1 >= all_.size()) return fail(), std::string();
        const std::size_t to = (n & 0x3f) << 8 | all_[from + 1];
        if (end == 0) end = from + 2;
        if (to >= from) return fail(), std::string();
        from = to;
        continue;
      }
      if (n > 63 || n >= all_.size() - from || text.size() + n > 255) return fail(), std::string();
      if (n == 0) break;
      if (!text.empty()) text += '.';
      text.append(reinterpret_cast<const char*>(&all_[from + 1]), n);
      from += n + 1;
    }
    at_ = end != 0 ? end : from + 1;
    return text;
  }

 private:
  std::uint16_t fail() noexcept {
    ok_ = false;
    return 0;
  }
  std::span<const unsigned char> all_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

net::srv read_srv(bytes& b) {
  net::srv s;
  s.priority = b.number();
  s.weight = b.number();
  s.port = b.number();
  s.target = b.name();
  return s;
}

}  // namespace

bool parse_srv(std::span<const unsigned char> answer, std::vector<net::srv>& out) {
  bytes b(answer);
  b.go_to(4);
  const unsigned questions = b.number(), records = b.number();
  b.go_to(kHeader);
  for (unsigned i = 0; i < questions && b.ok(); ++i) {
    (void)b.name();
    b.go_to(b.at() + kQuestionTail);
  }
  for (unsigned i = 0; i < records && b.ok(); ++i) {
    (void)b.name();
    const std::uint16_t type = b.number(), kind = b.number();
    b.go_to(b.at() + kRecordTail - 6);  // how long it holds
    const std::size_t size = b.number(), begin = b.at();
    if (b.ok() && type == kSrv && kind == kIn) {
      net::srv s = read_srv(b);
      if (b.at() != begin + size) return false;
      if (b.ok() && !s.target.empty()) out.push_back(std::move(s));
    }
    b.go_to(begin + size);
  }
  return b.ok();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
