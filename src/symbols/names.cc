#include "symbols/names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace vole::symbols {
namespace {

constexpr auto npos = std::string::npos;

void replace_all(std::string& s, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = s.find(from, at)) != npos; at += to.size())
    s.replace(at, from.size(), to);
}

bool opens(char c) noexcept { return c == '(' || c == '<' || c == '{' || c == '['; }
bool closes(char c) noexcept { return c == ')' || c == '>' || c == '}' || c == ']'; }

// Is the angle bracket at i part of an operator's name (operator<<, operator->, operator<=>)?
bool names_operator(std::string_view s, std::size_t i) noexcept {
  while (i > 0 && std::string_view("<>=-").find(s[i - 1]) != npos) --i;
  return i >= 8 && s.substr(i - 8, 8) == "operator";
}

// Behind the bracket that closes the one at `at`; npos: there is none.
std::size_t skip_bracket(std::string_view s, std::size_t at) noexcept {
  int depth = 0;
  for (std::size_t i = at; i < s.size(); ++i) {
    if ((s[i] == '<' || s[i] == '>') && names_operator(s, i)) continue;
    if (s[i] == '>' && i > 0 && s[i - 1] == '-') continue;
    depth += opens(s[i]) ? 1 : closes(s[i]) ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return npos;
}

// ", std::allocator<T> >" and its like say nothing: the default.
void drop_defaults(std::string& s) {
  for (const std::string_view what : {", std::allocator<", ", std::default_delete<", ", std::less<",
                                      ", std::hash<", ", std::equal_to<"}) {
    for (std::size_t at = 0; (at = s.find(what, at)) != npos;) {
      std::size_t end = skip_bracket(s, at + what.size() - 1);
      if (end == npos) return;
      if (end + 1 < s.size() && s[end] == ' ' && s[end + 1] == '>') ++end;
      s.erase(at, end - at);
    }
  }
}

// clang counts the lambdas of a function from 0, and calls them $_0. -> {lambda()#1}
void name_clang_lambdas(std::string& s) {
  for (std::size_t at = 0; (at = s.find("$_", at)) != npos;) {
    std::size_t end = at + 2;
    unsigned n = 0;
    for (; end < s.size() && s[end] >= '0' && s[end] <= '9'; ++end)
      n = n * 10 + static_cast<unsigned>(s[end] - '0');
    const bool apart = at == 0 || s[at - 1] == ':' || s[at - 1] == '<' || s[at - 1] == ' ' ||
                       s[at - 1] == '(' || s[at - 1] == ',';
    if (end == at + 2 || !apart) {
      at = end;
      continue;
    }
    const std::string name = "{lambda()#" + std::to_string(n + 1) + "}";
    s.replace(at, end - at, name);
    at += name.size();
  }
}

// {lambda(int)#1}::operator()(int) const -> {lambda#1}
void shorten_lambdas(std::string& s) {
  constexpr std::string_view kOpen = "{lambda(", kCall = "::operator()";
  for (std::size_t at = 0; (at = s.find(kOpen, at)) != npos; ++at) {
    const std::size_t arguments = at + kOpen.size() - 1;
    const std::size_t behind = skip_bracket(s, arguments);
    if (behind == npos) return;
    s.erase(arguments, behind - arguments);
    const std::size_t end = s.find('}', at);
    if (end == npos || s.compare(end + 1, kCall.size(), kCall) != 0) continue;
    const std::size_t call = end + 1 + kCall.size();
    std::size_t rest = call < s.size() && s[call] == '<' ? skip_bracket(s, call) : call;
    if (rest != npos && rest < s.size() && s[rest] == '(') rest = skip_bracket(s, rest);
    if (rest == npos) return;
    for (const std::string_view word : {" const", " mutable", " static"})
      if (s.compare(rest, word.size(), word) == 0) rest += word.size();
    s.erase(end + 1, rest - end - 1);
  }
}

// What g++ calls a lambda within a type, in debug information: main()::<lambda(int)> -> main::{lambda}
void name_gcc_lambdas(std::string& s) {
  for (std::size_t at = 0; (at = s.find("<lambda(", at)) != npos;) {
    const std::size_t end = skip_bracket(s, at);
    if (end == npos) return;
    s.replace(at, end - at, "{lambda}");
    if (at < 3 || s.compare(at - 3, 3, ")::") != 0) continue;
    std::size_t open = at - 3;
    for (int depth = 0; open > 0; --open) {
      depth += s[open] == ')' ? 1 : s[open] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
    s.erase(open, at - 2 - open);
    at = open;
  }
}

// Templates carry their return type in front. The name is the last word before the arguments.
void drop_return_type(std::string& s) {
  std::size_t name = 0;
  for (std::size_t i = 0; i < s.size();) {
    if (s.compare(i, 8, "operator") == 0 && (i == name || s[i - 1] == ':')) break;
    if (s[i] == '(') {
      // A function's arguments, or a type such as void (*)(int) in front of the name.
      break;
    }
    if (opens(s[i])) {
      i = skip_bracket(s, i);
      if (i == npos) return;
      continue;
    }
    if (s[i] == ' ') name = i + 1;
    ++i;
  }
  s.erase(0, name);
}

void drop_clones(std::string& s) {
  for (const std::string_view mark : {" [clone ", "[abi:"})
    for (std::size_t at; (at = s.find(mark)) != npos;) {
      const std::size_t end = s.find(']', at);
      s.erase(at, end == npos ? npos : end + 1 - at);
    }
}

// The names that people use of clocks and durations.
void name_times(std::string& s) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"std::chrono::_V2::", "std::chrono::"},
      {"std::chrono::duration<long, std::ratio<1l, 1000000000l> >", "std::chrono::nanoseconds"},
      {"std::chrono::duration<long, std::ratio<1l, 1000000l> >", "std::chrono::microseconds"},
      {"std::chrono::duration<long, std::ratio<1l, 1000l> >", "std::chrono::milliseconds"},
      {"std::chrono::duration<long, std::ratio<1l, 1l> >", "std::chrono::seconds"},
      {"std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds >",
       "std::chrono::steady_clock::time_point"},
      {"std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds >",
       "std::chrono::system_clock::time_point"},
  };
  for (const auto& [from, to] : kNames) replace_all(s, from, to);
}

bool is_plumbing_file(std::string_view file) noexcept {
  const std::string_view own = own_sources();
  // A relative path may stand behind the folder of the build.
  if (file.starts_with(own) || (own.starts_with("../") && file.find(own) != npos)) return true;
  if (file.find("include/vole/") != npos) return true;
  for (const std::string_view tail :
       {"/bits/invoke.h", "/functional", "/tuple", "/bits/std_function.h"})
    if (file.ends_with(tail) && file.find("/c++/") != npos) return true;
  return false;
}

bool starts_with_any(std::string_view s, std::initializer_list<std::string_view> heads) noexcept {
  for (const std::string_view head : heads)
    if (s.starts_with(head)) return true;
  return false;
}

}  // namespace

std::string_view own_sources() noexcept {
  constexpr std::string_view kMe = __FILE__, kTail = "symbols/names.cc";
  static_assert(kMe.ends_with(kTail));
  return kMe.substr(0, kMe.size() - kTail.size());
}

std::string simplified(std::string s) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)", kStandIn = "{anonymous}";
  drop_clones(s);
  replace_all(s, kAnonymous, kStandIn);
  replace_all(s, "vole::v0::", "vole::");
  replace_all(s, "std::__cxx11::", "std::");
  replace_all(s, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  replace_all(s, "std::basic_string_view<char, std::char_traits<char> >", "std::string_view");
  name_times(s);
  drop_defaults(s);
  name_gcc_lambdas(s);
  name_clang_lambdas(s);
  shorten_lambdas(s);
  drop_return_type(s);
  while (s.find("> >") != npos) replace_all(s, "> >", ">>");
  replace_all(s, "} >", "}>");
  replace_all(s, kStandIn, kAnonymous);
  return s;
}

std::string readable(const char* linker_name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(linker_name, nullptr, nullptr, &status), &std::free);
  if (name != nullptr) return simplified(name.get());
  // Debug information calls an inlined lambda by its operator only.
  return std::string_view(linker_name) == "operator()" ? "{lambda}" : simplified(linker_name);
}

bool is_plumbing(std::string_view name, const char* file) noexcept {
  if (name.starts_with("_Z") && name.find("N4vole2v0") != npos) return true;  // not demangled
  return starts_with_any(
             name, {"vole::", "vole_goroutine_", "vole_door_", "vole_land", "vole_run_g",
                    "vole_leave_slow", "vole_thread_main", "std::invoke<", "std::__invoke",
                    "std::apply<", "std::__apply_impl", "std::_Function_handler<", "std::function<",
                    "std::terminate()", "std::rethrow_exception(", "__cxa_throw",
                    "__cxa_rethrow", "__cxxabiv1::", "__gxx_personality_v0", "_Unwind_",
                    "__interceptor_", "___interceptor_"}) ||
         (file != nullptr && is_plumbing_file(file));
}

std::string_view wrapped_function(std::string_view name) noexcept {
  // Where it stands among the arguments of the template that holds it.
  constexpr std::pair<std::string_view, int> kHolders[] = {
      {"std::tuple<", 0}, {"::joinable_task<", 1}, {"::run_with<", 0}};
  if (!name.starts_with("vole::")) return {};
  for (const auto& [holder, before] : kHolders) {
    const std::size_t at = name.find(holder);
    if (at == npos) continue;
    int skip = before;
    std::size_t first = at + holder.size();
    for (std::size_t i = first; i < name.size();) {
      if ((name[i] == ',' || name[i] == '>') && skip == 0) return name.substr(first, i - first);
      if (name[i] == ',' && --skip >= 0) first = i + 2;  // and a space
      i = opens(name[i]) ? skip_bracket(name, i) : i + 1;
    }
  }
  return {};
}

}  // namespace vole::symbols
