// How `vole run` compiles: with which compiler, against which vole.
#pragma once

#include <string>
#include <vector>

namespace vole_command {

struct recipe {
  std::vector<std::string> compiler;  // its name and first words, from $CXX
  std::string compiler_path;          // where it is
  std::vector<std::string> flags;     // $CXXFLAGS
  std::vector<std::string> link_flags;
  std::string include;  // the folder that holds vole/vole.h
  std::string library;  // libvole.a or libvole.so
};

// From the environment, and from where this command lies: in an installed tree, which may have
// been moved, or in the build's.
recipe find_recipe();

std::vector<std::string> compile_command(const recipe& how, const std::string& file,
                                         const std::string& output,
                                         const std::string& dependencies);

// Waits for it. Its status, as a shell would give it.
int run_compiler(const std::vector<std::string>& command);

// The files that the compiler read, from its list for make.
std::vector<std::string> read_dependencies(const std::string& list);

}  // namespace vole_command
