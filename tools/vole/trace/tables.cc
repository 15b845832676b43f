// The two tables of scan.h.
#include "trace/scan.h"

namespace vole_trace {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15U;
  return x ^ x >> 29;
}

}  // namespace

std::uint32_t place_table::add(std::uint64_t reason, const std::vector<std::uint64_t>& pcs) {
  std::uint64_t hash = mixed(reason + 1);
  for (const std::uint64_t pc : pcs) hash = mixed(hash ^ pc) + 1;
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto i = from; i != to; ++i) {
    if (reasons_[i->second] == reason && pcs_[i->second] == pcs) return i->second;
  }
  const auto number = static_cast<std::uint32_t>(reasons_.size());
  reasons_.push_back(reason);
  pcs_.push_back(pcs);
  by_hash_.emplace(hash, number);
  return number;
}

std::size_t id_table::slot(std::uint64_t id) const {
  std::size_t at = mixed(id) & (slots_.size() - 1);
  while (slots_[at].id != 0 && slots_[at].id != id) at = (at + 1) & (slots_.size() - 1);
  return at;
}

std::uint32_t id_table::find(std::uint64_t id) const {
  if (slots_.empty()) return kNobody;
  const entry& e = slots_[slot(id)];
  return e.id == 0 ? kNobody : e.number;
}

std::uint32_t id_table::add(std::uint64_t id) {
  if ((used_ + 1) * std::size_t{2} > slots_.size()) grow();
  entry& e = slots_[slot(id)];
  if (e.id == 0) e = {id, used_++};
  return e.number;
}

void id_table::grow() {
  std::vector<entry> old(slots_.empty() ? 64 : slots_.size() * 2);
  old.swap(slots_);
  for (const entry& e : old) {
    if (e.id != 0) slots_[slot(e.id)] = e;
  }
}

void id_table::clear() {
  slots_.clear();
  used_ = 0;
}

}  // namespace vole_trace
