// What `vole top` shows: one page of text, made of two looks at a process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "picture.h"

namespace vole_command::outside {

struct page_size {
  std::size_t rows = 0, columns = 0;  // 0: as many as it takes
};

// `before` and `now` give the rates. `function_of`: by G::invoke, a readable name.
std::string page_of(const picture& before, const picture& now, const found_root& root,
                    const std::string& title, page_size size,
                    const std::function<std::string(std::uint64_t)>& function_of);

}  // namespace vole_command::outside
