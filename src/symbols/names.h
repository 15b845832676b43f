// Function names as a person would write them.
//
// Who    dumps, panics, goroutines() and traces, in user context; or a dying thread that holds no lock
//        of malloc's.
#pragma once

#include <string>
#include <string_view>

namespace vole::symbols {

// From the linker's name: demangled, without the return type, with std::string for what it stands
// for, lambdas by number alone. What cannot be demangled stays as it is.
std::string readable(const char* linker_name);

// Only the second half: of a name that is demangled already.
std::string simplified(std::string demangled);

// Is that a function of vole's, or of the standard library's between vole and the user's function?
// By its readable name; or by its file (null: unknown), since debug information gives inlined
// functions and lambdas a short name only.
bool is_plumbing(std::string_view readable_name, const char* file) noexcept;

// The folder of vole's sources, as the compiler was told of it.
std::string_view own_sources() noexcept;

// The function that a goroutine was given, from the readable name of vole's wrapper around it. Empty:
// the wrapper does not say, or is none.
std::string_view wrapped_function(std::string_view readable_name) noexcept;

}  // namespace vole::symbols
