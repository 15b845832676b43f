// Text of a trace for people and for JSON. Names in a trace may be anything: they cannot become
// control characters of the terminal, nor break the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vole_trace {

std::string duration_text(double ns);     // "1.23 ms"
std::string count_text(std::uint64_t n);  // "12,345,678"

// Without control characters; what is longer has an ellipsis in it, and both its ends.
std::string shown(std::string_view text, std::size_t columns = ~std::size_t{0});
std::string left(std::string_view text, std::size_t columns);  // shown, and padded
std::string right(std::string_view text, std::size_t columns);
std::size_t width(std::string_view text);  // in code points

std::string json_string(std::string_view text);  // with its quotes
std::string json_number(double x);

}  // namespace vole_trace
