// The debug information of a loaded module: in its file, or in one of its own that is found by the
// build id or by its name, where debuggers look for it.

#include <dlfcn.h>
#include <link.h>

#include "symbols/elf_file.h"
#include "symbols/scopes.h"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern "C" [[gnu::weak]] int _dl_find_object(void*, dl_find_object*) noexcept;
#endif

namespace vole::symbols {
namespace {

constexpr std::string_view kStore = "/usr/lib/debug";

// A path; one that does not fit is empty.
class path_text {
 public:
  path_text& operator<<(std::string_view text) noexcept {
    if (text.size() >= sizeof text_ - size_) is_full_ = true;
    if (!is_full_) size_ += text.copy(text_ + size_, text.size());
    text_[size_] = '\0';
    return *this;
  }
  const char* get() const noexcept { return is_full_ ? "" : text_; }

 private:
  char text_[1024] = {};
  std::size_t size_ = 0;
  bool is_full_ = false;
};

struct parts {
  debug_sections debug;
  std::string_view link, id;  // .gnu_debuglink, the build id
};

parts parts_of(std::string_view file) noexcept {
  parts p;
  each_section(file, [&](const Elf64_Shdr& one, std::string_view name) noexcept {
    if (name == ".debug_info") p.debug.info = part(file, one);
    if (name == ".debug_abbrev") p.debug.abbreviations = part(file, one);
    if (name == ".debug_str") p.debug.strings = part(file, one);
    if (name == ".debug_line_str") p.debug.line_strings = part(file, one);
    if (name == ".debug_ranges") p.debug.ranges = part(file, one);
    if (name == ".debug_rnglists") p.debug.range_lists = part(file, one);
    if (name == ".gnu_debuglink") p.link = part(file, one);
    if (name == ".note.gnu.build-id") p.id = part(file, one);
  });
  p.link = p.link.substr(0, p.link.find('\0'));
  constexpr std::size_t kHead = sizeof(Elf64_Nhdr) + 4;  // and "GNU"
  p.id = p.id.size() > kHead ? p.id.substr(kHead) : std::string_view();
  return p;
}

bool look_in(const path_text& path, std::uintptr_t address, scope_names* found) noexcept {
  const mapped_file file(path.get());
  const parts p = parts_of(file.bytes());
  return !p.debug.info.empty() && find_inlined(p.debug, address, found);
}

void put_hex(std::string_view bytes, path_text* to) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *to << kDigits.substr(byte >> 4, 1) << kDigits.substr(byte & 15, 1);
  }
}

// /usr/lib/debug/.build-id/ab/cdef….debug; beside the file, or under .debug there, or in the store.
bool look_beside(const char* path, const parts& p, std::uintptr_t address,
                 scope_names* found) noexcept {
  if (p.id.size() > 1) {
    path_text own;
    own << kStore << "/.build-id/";
    put_hex(p.id.substr(0, 1), &own);
    own << "/";
    put_hex(p.id.substr(1), &own);
    own << ".debug";
    if (look_in(own, address, found)) return true;
  }
  if (p.link.empty()) return false;
  const std::string_view whole = path;
  const std::string_view folder = whole.substr(0, whole.rfind('/') + 1);  // npos + 1 == 0
  path_text beside, below, stored;
  beside << folder << p.link;
  below << folder << ".debug/" << p.link;
  stored << kStore << folder << p.link;
  return look_in(beside, address, found) || look_in(below, address, found) ||
         look_in(stored, address, found);
}

bool look_in_module(const char* path, std::uintptr_t address, scope_names* found) noexcept {
  const mapped_file file(path);
  const parts p = parts_of(file.bytes());
  if (!p.debug.info.empty()) return find_inlined(p.debug, address, found);
  return look_beside(path, p, address, found);
}

}  // namespace

bool find_inlined_at(std::uintptr_t pc, scope_names* found) noexcept {
  found->n = 0;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object in;
  if (&_dl_find_object == nullptr || _dl_find_object(reinterpret_cast<void*>(pc), &in) != 0 ||
      in.dlfo_link_map == nullptr)
    return false;
  const link_map& m = *in.dlfo_link_map;
  const bool is_program = m.l_name == nullptr || m.l_name[0] == '\0';
  char path[1024] = "";
  if (is_program) {  // by its name: what belongs to it may lie beside it
    path[os::path_of_program(path, sizeof path - 1)] = '\0';
    if (!os::exists(path)) std::strcpy(path, os::own_program());
  }
  return look_in_module(is_program ? path : m.l_name, pc - m.l_addr, found);
#else
  (void)pc;
  return false;
#endif
}

}  // namespace vole::symbols
