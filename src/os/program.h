// The contract with the operating system for the program's own files: where it lies, and files as
// memory to read from.
//
// Who    symbols, file.
// Where  anywhere, signal handlers included; no malloc.
#pragma once

#include <cstddef>
#include <string_view>

namespace vole::os {

// What opens the program itself, even if its file has been replaced or removed.
const char* own_program() noexcept;
// The path of the program's file, without an end; 0: not known. It may be gone.
std::size_t path_of_program(char* to, std::size_t room) noexcept;
bool exists(const char* path) noexcept;

// A file's bytes, to be given back by unmap_file; none: it is empty or cannot be read.
std::string_view map_file(const char* path) noexcept;
void unmap_file(std::string_view bytes) noexcept;

// A path that opens the file behind `fd` once more. User context.
inline constexpr std::size_t kMostPathOfDescriptor = 32;
void path_of_descriptor(int fd, char (&path)[kMostPathOfDescriptor]) noexcept;

}  // namespace vole::os
