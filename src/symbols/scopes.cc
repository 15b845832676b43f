#include "symbols/scopes.h"

#include <algorithm>
#include <new>
#include <type_traits>

namespace vole::symbols {
namespace {

constexpr std::size_t kDeepest = 48;  // scopes within scopes
constexpr int kMostSteps = 16;        // from an entry to what it stands for

bool is_call_operator(std::string_view name) noexcept {
  return name == "operator()" || name.starts_with("operator()<");
}

class namer {
 public:
  namer(const debug_sections& s, scope_names* out) noexcept
      : dies_(s), bytes_(s.info.size()), out_(out) {}

  bool find_function(std::uint64_t address, die* function) noexcept;
  void find_calls(const die& function, std::uint64_t address) noexcept;
  void write_names() noexcept;

 private:
  struct path {  // places of entries
    std::uint64_t at[kDeepest];
    std::size_t n = 0;
  };
  struct closure {
    std::uint64_t at = 0, line = 0, column = 0;
    bool comes_before(const closure& c) const noexcept {
      return line != c.line ? line < c.line : column != c.column ? column < c.column : at < c.at;
    }
  };

  bool search(const die& scope, std::uint64_t address, bool all, std::size_t depth,
              die* function) noexcept;
  bool go_to(std::uint64_t at) noexcept;
  bool find_path(std::uint64_t at, path* p, die* d) noexcept;
  bool put_name(std::uint64_t at, int steps) noexcept;
  void put_part(const path& p, std::size_t i) noexcept;
  void put_closure(unsigned n) noexcept;
  bool is_closure(const die& d, closure* c) noexcept;
  unsigned number_of(const closure& c, const path& p, std::size_t i) noexcept;
  void count_before(const closure& c, const die& scope, std::size_t depth, unsigned* n) noexcept;

  void put(std::string_view text) noexcept {
    if (text.size() > sizeof out_->text - used_) is_full_ = true;
    if (!is_full_) used_ += text.copy(out_->text + used_, text.size());
  }

  dies dies_;
  std::uint64_t bytes_;
  scope_names* out_;
  std::uint64_t calls_[kMostInlined] = {};  // what was inlined, the outermost first
  std::size_t n_ = 0, used_ = 0, begin_ = 0;
  bool is_full_ = false;
};

// Functions that are compiled on their own lie in a unit or its namespaces, most often; a method of
// a function's own class, such as a lambda, wherever the class does.
bool namer::search(const die& scope, std::uint64_t address, bool all, std::size_t depth,
                   die* function) noexcept {
  bool found = false;
  if (depth == kDeepest) return false;
  dies_.each_child(scope, [&](const die& d) noexcept {
    found = d.tag == kSubprogram && dies_.contains(d, address);
    if (found) *function = d;
    const bool may_hold = d.tag == kNamespace || d.tag == kModule ||
                          (all && (d.is_class() || d.tag == kSubprogram || d.tag == kLexicalBlock));
    if (!found && may_hold) found = search(d, address, all, depth + 1, function);
    return !found;
  });
  return found;
}

bool namer::find_function(std::uint64_t address, die* function) noexcept {
  for (std::uint64_t at = 0; at < bytes_ && dies_.begin(at); at = dies_.next()) {
    die root;
    if (!dies_.root(&root)) continue;
    dies_.set_base(root);
    if (!dies_.contains(root, address)) continue;
    if (search(root, address, false, 0, function) || search(root, address, true, 0, function))
      return true;
  }
  return false;
}

void namer::find_calls(const die& function, std::uint64_t address) noexcept {
  die scope = function;
  for (std::size_t depth = 0; depth < kDeepest * 2; ++depth) {
    die inner;
    dies_.each_child(scope, [&](const die& d) noexcept {
      const bool goes_on =
          (d.tag == kInlinedSubroutine || d.tag == kLexicalBlock) && dies_.contains(d, address);
      if (goes_on) inner = d;
      return !goes_on;
    });
    if (inner.at == 0) return;
    if (inner.tag == kInlinedSubroutine) {
      if (n_ == kMostInlined) return;
      calls_[n_++] = inner.origin;
    }
    scope = inner;
  }
}

void namer::write_names() noexcept {
  out_->n = n_;
  for (std::size_t i = 0; i < n_; ++i) {
    begin_ = used_;
    const bool is_known = calls_[n_ - 1 - i] != 0 && put_name(calls_[n_ - 1 - i], 0);
    const std::size_t size = used_ - begin_;
    put({"", 1});  // for those who want a C string
    if (!is_known || is_full_) used_ = begin_;
    out_->inlined[i] = {out_->text + begin_, is_known && !is_full_ ? size : 0};
    is_full_ = false;
  }
}

bool namer::go_to(std::uint64_t at) noexcept {
  if (dies_.holds(at)) return true;
  for (std::uint64_t unit = 0; unit < bytes_ && dies_.begin(unit); unit = dies_.next())
    if (dies_.holds(at)) return true;
  return false;
}

// From the unit down to the entry itself, which is in *d.
bool namer::find_path(std::uint64_t at, path* p, die* d) noexcept {
  p->n = 0;
  if (!go_to(at) || !dies_.root(d)) return false;
  while (p->n < kDeepest) {
    p->at[p->n++] = d->at;
    if (d->at == at) return true;
    die next;
    dies_.each_child(*d, [&](const die& child) noexcept {
      const bool is_before = child.at < at && dies_.behind(child) <= at;
      if (!is_before && child.at <= at) next = child;
      return is_before;
    });
    if (next.at == 0) return false;
    *d = next;
  }
  return false;
}

bool namer::put_name(std::uint64_t at, int steps) noexcept {
  path p;
  die d;
  if (steps == kMostSteps || !find_path(at, &p, &d)) return false;
  if (const std::uint64_t other = d.specification != 0 ? d.specification : d.origin)
    return put_name(other, steps + 1);
  std::size_t from = 1;  // behind the unit
  for (std::size_t i = p.n - 1; i-- > 1 && from == 1;)
    if (dies_.read(p.at[i], &d) && (d.tag == kSubprogram || d.tag == kInlinedSubroutine))
      from = i + 1;
  if (from > 1 && (!put_name(p.at[from - 1], steps + 1) || !go_to(at))) return false;
  for (std::size_t i = from; i < p.n; ++i) put_part(p, i);
  return used_ != begin_;
}

void namer::put_part(const path& p, std::size_t i) noexcept {
  die d, of;
  closure c;
  if (!dies_.read(p.at[i], &d)) return;
  const bool is_function = d.tag == kSubprogram;
  if (d.is_class() && is_closure(d, &c)) return put_closure(number_of(c, p, i));
  // How a lambda is called is said by its class.
  if (is_function && is_call_operator(d.name) && dies_.read(p.at[i - 1], &of) && of.is_class() &&
      is_closure(of, &c))
    return;
  if (d.tag != kNamespace && !d.is_class() && !is_function) return;
  if (used_ != begin_) put("::");
  if (!d.name.empty())
    put(d.name);
  else
    put(d.tag == kNamespace ? "(anonymous namespace)" : "?");
}

void namer::put_closure(unsigned n) noexcept {
  n = std::min(n, 999u);
  const char digits[] = {static_cast<char>('0' + n / 100), static_cast<char>('0' + n / 10 % 10),
                         static_cast<char>('0' + n % 10)};
  const std::size_t skip = n >= 100 ? 0 : n >= 10 ? 1 : 2;
  if (used_ != begin_) put("::");
  put("{lambda()#");
  put({digits + skip, sizeof digits - skip});
  put("}");
}

bool namer::is_closure(const die& d, closure* c) noexcept {
  if (!d.name.empty() && !d.name.starts_with("<lambda")) return false;
  bool found = false;
  dies_.each_child(d, [&](const die& method) noexcept {
    found = method.tag == kSubprogram && is_call_operator(method.name);
    return !found;
  });
  *c = {d.at, d.line, d.column};
  return found;
}

unsigned namer::number_of(const closure& c, const path& p, std::size_t i) noexcept {
  die scope;
  while (i > 0 && dies_.read(p.at[--i], &scope) && scope.tag == kLexicalBlock) {
  }
  unsigned n = 1;
  count_before(c, scope, 0, &n);
  return n;
}

void namer::count_before(const closure& c, const die& scope, std::size_t depth,
                         unsigned* n) noexcept {
  if (depth == kDeepest) return;
  dies_.each_child(scope, [&](const die& d) noexcept {
    closure other;
    if (d.tag == kLexicalBlock) count_before(c, d, depth + 1, n);
    if (d.is_class() && is_closure(d, &other) && other.comes_before(c)) ++*n;
    return true;
  });
}

}  // namespace

bool find_inlined(const debug_sections& s, std::uint64_t address, scope_names* found) noexcept {
  static_assert(sizeof(namer) <= sizeof found->work && alignof(namer) <= 8);
  static_assert(std::is_trivially_destructible_v<namer>);
  namer& n = *::new (found->work) namer(s, found);
  die function;
  found->n = 0;
  if (!n.find_function(address, &function)) return false;
  n.find_calls(function, address);
  n.write_names();
  return found->n != 0;
}

}  // namespace vole::symbols
