// serving.cc: "echo" and "http".
#pragma once

#include <string_view>

namespace bench {

inline bool is_server(std::string_view name) { return name == "echo" || name == "http"; }
int serve(std::string_view name, const char* address);  // a goroutine; never returns

}  // namespace bench
