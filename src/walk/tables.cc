#include "walk/tables.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

// Older C libraries do not have it; then there are no stacks in dumps.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern "C" [[gnu::weak]] int _dl_find_object(void*, dl_find_object*) noexcept;
#endif

namespace vole::walk {
namespace {

struct module_tables {
  const std::uint8_t* index;  // .eh_frame_hdr
  std::uintptr_t from, to;    // the module's mapping
};

bool find_module(std::uintptr_t pc, module_tables* m) noexcept {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found;
  if (&_dl_find_object == nullptr || _dl_find_object(reinterpret_cast<void*>(pc), &found) != 0 ||
      found.dlfo_eh_frame == nullptr)
    return false;
  *m = {static_cast<const std::uint8_t*>(found.dlfo_eh_frame),
        reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
        reinterpret_cast<std::uintptr_t>(found.dlfo_map_end)};
  return true;
#else
  static_cast<void>(pc);
  static_cast<void>(m);
  return false;
#endif
}

// The index: a sorted table of (function, entry), both relative to the index itself.
struct index_row {
  std::int32_t function, entry;
};
constexpr std::uint8_t kSortedTable = 0x3b;  // data-relative, 4 bytes signed

const std::uint8_t* look_up(const module_tables& m, std::uintptr_t pc) noexcept {
  bytes in(m.index, reinterpret_cast<const std::uint8_t*>(m.to));
  if (in.byte() != 1) return nullptr;
  const std::uint8_t tables_encoding = in.byte(), count_encoding = in.byte(),
                     rows_encoding = in.byte();
  const auto base = reinterpret_cast<std::uintptr_t>(m.index);
  in.pointer(tables_encoding, base);
  const std::uintptr_t count = in.pointer(count_encoding, base);
  if (in.bad() || rows_encoding != kSortedTable || count == 0) return nullptr;
  if (count > static_cast<std::uintptr_t>(in.end() - in.at()) / sizeof(index_row)) return nullptr;
  const auto row = [rows = in.at()](std::uintptr_t i) {
    index_row r;
    std::memcpy(&r, rows + i * sizeof r, sizeof r);
    return r;
  };
  const auto wanted = static_cast<std::int64_t>(pc - base);
  std::uintptr_t low = 0, high = count;  // row(low) starts at or before pc; row(high) after
  if (row(0).function > wanted) return nullptr;
  while (high - low > 1) {
    const std::uintptr_t middle = low + (high - low) / 2;
    (row(middle).function <= wanted ? low : high) = middle;
  }
  return m.index + row(low).entry;
}

// The body of the entry at `at`; empty: its length is nonsense.
bytes body_of(const std::uint8_t* at, const module_tables& m) noexcept {
  bytes in(at, reinterpret_cast<const std::uint8_t*>(m.to));
  std::uint64_t length = in.number<std::uint32_t>();
  if (length == 0xffffffff) length = in.number<std::uint64_t>();
  return in.block(length);
}

bool read_common(bytes in, std::uintptr_t data, table_entry* e) noexcept {
  in.skip(4);  // says that it is one
  const std::uint8_t version = in.byte();
  const std::uint8_t* const letters = in.at();
  while (in.byte() != 0) {
  }
  e->code_align = in.uleb();
  e->data_align = in.sleb();
  e->return_register = version == 1 ? in.byte() : in.uleb();
  bytes augmentation(in.at(), in.at());
  if (letters[0] == 'z') augmentation = in.block(in.uleb());
  for (const std::uint8_t* l = letters; !in.bad() && *l != 0; ++l) {
    switch (*l) {
      case 'R': e->encoding = augmentation.byte(); break;
      case 'L': augmentation.byte(); break;
      case 'P': augmentation.pointer(augmentation.byte() & 0x7f, data); break;
      case 'S': e->is_signal_frame = true; break;
      default: break;  // 'z'; 'B', which matters to signed return addresses only
    }
  }
  e->common = in;
  return !in.bad() && !augmentation.bad() && (letters[0] == 'z' || letters[0] == 0) &&
         (version == 1 || version == 3);
}

}  // namespace

bool find_entry(std::uintptr_t pc, table_entry* found) noexcept {
  module_tables m;
  if (!find_module(pc, &m)) return false;
  const std::uint8_t* const at = look_up(m, pc);
  if (at == nullptr) return false;
  const auto data = reinterpret_cast<std::uintptr_t>(m.index);
  bytes in = body_of(at, m);
  const std::uint8_t* const common = in.at() - in.number<std::int32_t>();
  const auto common_at = reinterpret_cast<std::uintptr_t>(common);
  // Some linkers put the tables before what the loader calls the module's start.
  if (in.bad() || common_at < std::min(m.from, data) || common_at >= m.to) return false;
  if (!read_common(body_of(common, m), data, found)) return false;
  found->from = in.pointer(found->encoding, data);
  found->to = found->from + in.pointer(found->encoding & 0x0f, data);
  in.skip(in.uleb());
  found->own = in;
  return !in.bad() && pc >= found->from && pc < found->to;
}

}  // namespace vole::walk
