#include "sched/report/captured.h"

#include <cstring>

#include "base/system.h"
#include "os/os.h"

namespace vole::rt {
namespace {

constexpr std::size_t kMostStacks = 1 << 20;

std::uint64_t hash_of(const std::uintptr_t* frames, std::size_t n) noexcept {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ n;
  for (std::size_t i = 0; i < n; ++i) h = (h ^ frames[i]) * 0xff51afd7ed558ccdu, h ^= h >> 32;
  return h;
}

}  // namespace

void put_name(base::sentence& s, const char* name) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  if (name[0] == '\0') return;
  s << " (";
  for (std::size_t i = 0; i < kNameShown && name[i] != '\0'; ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const char code[] = {'\\', 'x', kDigits[c >> 4], kDigits[c & 15]};
    const bool is_control = c < 0x20 || c == 0x7f;
    s << (is_control ? std::string_view(code, sizeof code) : std::string_view(&name[i], 1));
  }
  s << ")";
}

captured_set::~captured_set() {
  if (records_ != nullptr) unmap_pages(records_, records_bytes_);
  if (frames_ != nullptr) unmap_pages(frames_, frames_bytes_);
  if (stacks_ != nullptr) unmap_pages(stacks_, stacks_bytes_);
}

void* captured_set::map_bytes(std::size_t wanted, std::size_t* bytes) noexcept {
  const std::size_t page = os::page_size();
  *bytes = (wanted + page - 1) / page * page;
  return map_pages(*bytes);
}

bool captured_set::reserve(std::size_t goroutines) noexcept {
  capacity_ = goroutines;
  const std::size_t most_stacks = capacity_ < kMostStacks ? capacity_ : kMostStacks;
  stacks_capacity_ = 1024;
  while (stacks_capacity_ < 2 * most_stacks) stacks_capacity_ *= 2;
  frames_capacity_ = 32 * most_stacks;
  records_ = map<captured>(capacity_, &records_bytes_);
  frames_ = map<std::uintptr_t>(frames_capacity_, &frames_bytes_);
  stacks_ = map<stack_entry>(stacks_capacity_, &stacks_bytes_);
  if (records_ == nullptr) capacity_ = 0;
  // Here, where nobody waits: the first touch of a page takes the kernel a microsecond.
  auto* const pages = reinterpret_cast<volatile std::byte*>(records_);
  for (std::size_t at = 0; pages != nullptr && at < records_bytes_; at += os::page_size())
    pages[at] = std::byte{0};
  return records_ != nullptr;
}

captured* captured_set::add() noexcept {
  if (size_ != capacity_) return &records_[size_++];
  ++left_out_;
  return nullptr;
}

std::uint32_t captured_set::keep(const std::uintptr_t* frames, std::size_t n,
                                 bool channels) noexcept {
  if (n == 0 || stacks_ == nullptr || frames_ == nullptr) return 0;
  const std::uint64_t h = hash_of(frames, n);
  for (std::size_t i = h;; ++i) {
    const std::size_t at = i & (stacks_capacity_ - 1);
    if (at == 0) continue;  // 0 says that there is none
    stack_entry& e = stacks_[at];
    if (e.n == n && e.hash == h && e.is_channels == channels &&
        std::memcmp(frames_ + e.first, frames, n * sizeof *frames) == 0)
      return static_cast<std::uint32_t>(at);
    if (e.n != 0) continue;
    if (stacks_used_ >= stacks_capacity_ / 4 * 3 || frames_used_ + n > frames_capacity_) return 0;
    e = {h, static_cast<std::uint32_t>(frames_used_), static_cast<std::uint32_t>(n), 0, channels};
    std::memcpy(frames_ + frames_used_, frames, n * sizeof *frames);
    frames_used_ += n;
    ++stacks_used_;
    return static_cast<std::uint32_t>(at);
  }
}

// Merges by a second hash table, which holds the numbers.
void captured_set::merge_equal() noexcept {
  std::size_t size = 1024, bytes;
  while (size < 2 * stacks_used_) size *= 2;
  auto* const first = map<std::uint32_t>(size, &bytes);
  if (first == nullptr) return;
  for (std::size_t i = 1; i < stacks_capacity_; ++i) {
    stack_entry& e = stacks_[i];
    if (e.n == 0 || e.is_channels) continue;
    for (std::size_t k = e.hash;; ++k) {
      std::uint32_t& slot = first[k & (size - 1)];
      if (slot == 0) slot = static_cast<std::uint32_t>(i);
      if (stacks_[slot].hash != e.hash) continue;
      e.same_as = slot & 0x7fffffffu;
      break;
    }
  }
  for (std::size_t i = 0; i < size_; ++i)
    if (records_[i].stack != 0) records_[i].stack = stacks_[records_[i].stack].same_as;
  unmap_pages(first, bytes);
}

const std::uintptr_t* captured_set::list(std::uint32_t index, std::size_t* n) const noexcept {
  *n = index != 0 ? stacks_[index].n : 0;
  return index != 0 ? frames_ + stacks_[index].first : nullptr;
}

}  // namespace vole::rt
