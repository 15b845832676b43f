#include "target.h"

#include <algorithm>

#include "../refusal.h"

namespace vole_command::outside {

// Mappings of one file, from the one with its first bytes on, are a module.
void target::add_modules(std::vector<mapping> mappings, std::uint64_t program_at) {
  for (mapping& m : mappings) {
    if (m.path.empty() || m.path[0] == '[') continue;
    const bool goes_on = !modules_.empty() && m.offset != 0 && modules_.back().path == m.path &&
                         first_of_.back().inode == m.inode;
    if (goes_on) {
      modules_.back().to = std::max(modules_.back().to, m.to);
    } else if (m.offset == 0) {
      module& added = modules_.emplace_back();
      added.path = m.path;
      added.from = m.from;
      added.to = m.to;
      added.bias = m.from;  // unless its file says otherwise
      first_of_.push_back(m);
    }
  }
  for (module& m : modules_) m.is_program = program_at >= m.from && program_at < m.to;
}

// The kernel's module has no file, but all of it is in memory.
void target::add_vdso(std::uint64_t at) {
  constexpr std::size_t kPage = 4096, kMost = 16;
  if (at == 0) return;
  module m;
  for (std::size_t i = 0; i < kMost; ++i) {
    std::byte page[kPage];
    if (!mem().read(at + i * kPage, page, kPage)) break;
    m.copy.insert(m.copy.end(), page, page + kPage);
  }
  m.path = "[vdso]";
  m.from = at;
  m.to = at + m.copy.size();
  try {
    m.image = elf_image(m.copy, m.path);
  } catch (const refusal&) {
    return;
  }
  m.bias = m.image.bias(at);
  m.has_image = true;
  modules_.push_back(std::move(m));
}

bool target::take_image(module& m, mapped_file file) {
  try {
    m.image = elf_image(file.bytes(), m.path);
  } catch (const refusal&) {
    if (m.is_program) throw;
    return false;  // a font, a database: mapped, but no code
  }
  if (m.image.type() != ET_DYN && m.image.type() != ET_EXEC) return false;
  m.file = std::move(file);
  m.bias = m.image.bias(m.from);
  m.has_image = true;
  return true;
}

const module* target::module_at(std::uint64_t address) const {
  for (const module& m : modules_)
    if (address >= m.from && address < m.to) return &m;
  return nullptr;
}

}  // namespace vole_command::outside
