// select over a span: the number of cases is known only at run time.

#include <vole/select.h>

#include <vector>

namespace vole {
inline namespace v0 {

std::size_t select(std::span<select_case> cases) {
  if (cases.empty()) detail::select_nothing();
  std::vector<detail::select_op> operations;
  operations.reserve(cases.size());
  for (select_case& c : cases) operations.push_back(c.owned_->operation());
  std::vector<detail::select_scratch> room(cases.size());
  const detail::select_result r =
      detail::select_core(operations.data(), operations.size(), room.data());
  cases[r.index].owned_->taken(r.ok);
  return r.index;
}

}  // namespace v0
}  // namespace vole
