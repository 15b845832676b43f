// A target that has ended.
#include <algorithm>

#include "../refusal.h"
#include "target.h"

namespace vole_command::outside {
namespace {

// The build id of what was loaded at `from`; the kernel keeps the first page of every module.
std::vector<std::byte> loaded_build_id(const memory& mem, std::uint64_t from) {
  std::vector<std::byte> page(4096);
  if (!mem.read(from, page.data(), page.size())) return {};
  try {
    const bytes_view id = elf_image(page, "").build_id();
    return {id.begin(), id.end()};
  } catch (const refusal&) {
    return {};
  }
}

bool differ(const std::vector<std::byte>& a, bytes_view b) {
  return !a.empty() && !b.empty() && !std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

void target::open_of_core(module& m, const std::string& program) {
  const std::vector<std::byte> wanted = loaded_build_id(mem(), m.from);
  try {
    if (!take_image(m, mapped_file(m.is_program ? program : m.path))) return;
  } catch (const refusal&) {
    if (m.is_program) throw;
    return;
  }
  if (!differ(wanted, m.image.build_id())) {
    core_->add_file(&m.image, m.from, m.to, m.bias);
    return;
  }
  if (m.is_program)
    throw refusal(program + " is not the program that " + what_ + " is of: their build ids differ");
  m.has_image = false;  // the library at that path is another one now
}

std::unique_ptr<target> target::of_core_bytes(bytes_view bytes, const std::string& what) {
  std::unique_ptr<target> t(new target);
  t->what_ = what;
  auto file = std::make_unique<core_file>(bytes, what);
  t->core_ = file.get();
  t->memory_ = std::move(file);
  return t;
}

std::unique_ptr<target> target::of_core(const std::string& core, const std::string& program) {
  mapped_file file(core);
  std::unique_ptr<target> t = of_core_bytes(file.bytes(), core);
  t->core_bytes_ = std::move(file);
  t->add_modules(t->core_->mappings(), t->core_->auxiliary(AT_PHDR));
  if (std::none_of(t->modules_.begin(), t->modules_.end(),
                   [](const module& m) { return m.is_program; }))
    throw refusal(core + " is damaged: it does not say where its program was loaded");
  for (module& m : t->modules_) {
    if (m.is_program) elf_image(mapped_file(program).bytes(), program);  // refuses what is none
    t->open_of_core(m, program);
  }
  t->add_vdso(t->core_->auxiliary(AT_SYSINFO_EHDR));
  return t;
}

}  // namespace vole_command::outside
