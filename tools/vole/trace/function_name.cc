#include "trace/function_name.h"

#include <string_view>
#include <vector>

namespace vole_trace {
namespace {

// Without what is in parentheses or angle brackets, but for the () of operator().
std::string bare(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_operator = depth == 0 && out.ends_with("operator");
    if (is_operator && name.substr(i).starts_with("()")) {
      out += "()";
      ++i;
    } else if (is_operator) {
      out += c;  // of operator<
    } else if (c == '(' || c == '<') {
      ++depth;
    } else if (c == ')' || c == '>') {
      depth -= depth > 0 ? 1 : 0;
    } else if (depth == 0) {
      out += c;
    }
  }
  return out.empty() ? std::string(name) : out;
}

// The arguments of the first template in a name.
std::vector<std::string_view> arguments(std::string_view name) {
  std::vector<std::string_view> list;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = name.find('<'); i < name.size(); ++i) {
    const char c = name[i];
    const bool opens = c == '<' || c == '(' || c == '[', closes = c == '>' || c == ')' || c == ']';
    if (opens && depth++ == 0) from = i + 1;
    const bool is_last = closes && --depth == 0;
    if (is_last || (c == ',' && depth == 1)) {
      std::string_view one = name.substr(from, i - from);
      while (one.starts_with(' ')) one.remove_prefix(1);
      list.push_back(one);
      from = i + 1;
    }
    if (is_last) break;
  }
  return list;
}

// A type that cannot be the user's function.
bool is_plain(std::string_view type) {
  for (const std::string_view word :
       {"void", "bool", "char", "int", "unsigned", "long", "short", "float", "double",
        "std::", "vole::chan", "vole::context", "vole::net"})
    if (type.starts_with(word)) return true;
  return type.empty() || type.find("(*)") != std::string_view::npos;
}

bool is_template_of_vole(std::string_view name) {
  return name.starts_with("vole::") &&
         name.substr(0, name.find('(')).find('<') != std::string_view::npos;
}

// The user's callable inside one of vole's templates; empty: the type does not tell.
std::string_view callable(std::string_view name) {
  const std::string_view head = name.substr(0, name.find('<'));
  for (const std::string_view part : arguments(name)) {
    if (!is_plain(part)) return is_template_of_vole(part) ? callable(part) : part;
    if (head.ends_with("bound_call")) break;  // the others are what it is called with
  }
  return {};
}

}  // namespace

std::string short_function(const std::string& name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with("vole::detail::run_main(")) return "main";
  std::string text = name;
  for (std::size_t at; (at = text.find(kAnonymous)) != std::string::npos;)
    text.erase(at, kAnonymous.size());
  if (is_template_of_vole(text)) {
    const std::string_view inner = callable(text);
    return inner.empty() ? std::string() : bare(inner);
  }
  const std::size_t bracket = text.find('(');
  if (bracket != std::string::npos && text.compare(bracket, 4, "(*)(") == 0) return {};
  return text.starts_with('(') ? text : bare(text);  // a remark in parentheses
}

}  // namespace vole_trace
