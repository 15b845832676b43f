// How `vole run` compiles.
//
// Note   an installed tree is found from bin/vole by the same relative paths that it was installed
//        with. In a build tree CMake writes `tree.txt` beside the command: the folder of headers
//        and the library, a line each.
// Proof  tests/tools/run_test.py
#include "run_build.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "commands.h"

extern char** environ;

namespace vole_command {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const char* variable, const char* otherwise) {
  const char* const set = std::getenv(variable);
  std::istringstream text(set != nullptr && *set != '\0' ? set : otherwise);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
  }
  return "";
}

void find_tree(recipe& how) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) throw refusal("cannot find out where this command lies: " + error.message());
  if (std::ifstream tree(here / "tree.txt"); tree) {
    std::getline(tree, how.include);
    std::getline(tree, how.library);
  } else {  // an absolute VOLE_TOOL_… replaces what is before it
    how.include = (here / VOLE_TOOL_INCLUDE).lexically_normal();
    how.library = (here / VOLE_TOOL_LIBRARY).lexically_normal();
  }
  for (const std::string& needed : {how.include + "/vole/vole.h", how.library}) {
    if (!fs::exists(needed, error)) {
      throw refusal("no vole to build against: " + needed + " is not there");
    }
  }
}

}  // namespace

recipe find_recipe() {
  recipe how;
  how.compiler = words_of("CXX", "c++");
  how.compiler_path = how.compiler.empty() ? "" : find_program(how.compiler.front());
  if (how.compiler_path.empty()) {
    throw refusal("no compiler: " + (how.compiler.empty() ? "$CXX" : how.compiler.front()) +
                  " is not there; $CXX names another");
  }
  how.flags = words_of("CXXFLAGS", "-O2 -g");
  how.link_flags = words_of("LDFLAGS", "");
  find_tree(how);
  return how;
}

std::vector<std::string> compile_command(const recipe& how, const std::string& file,
                                         const std::string& output,
                                         const std::string& dependencies) {
  std::vector<std::string> command{how.compiler_path};
  command.insert(command.end(), how.compiler.begin() + 1, how.compiler.end());
  command.insert(command.end(), {"-std=c++20", "-I" + how.include});
  std::istringstream needs(VOLE_TOOL_FLAGS);  // what users of this build of the library need
  for (std::string word; needs >> word;) command.push_back(word);
  command.insert(command.end(), how.flags.begin(), how.flags.end());
  command.insert(command.end(), {"-MD", "-MF", dependencies, "-o", output});
  command.insert(command.end(), {"-x", "c++", file, "-x", "none"});
  command.insert(command.end(), how.link_flags.begin(), how.link_flags.end());
  command.insert(command.end(),
                 {how.library, "-Wl,-rpath," + fs::path(how.library).parent_path().string(),
                  "-pthread", "-ldl"});
  return command;
}

int run_compiler(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (error != 0) throw refusal("cannot start " + command[0] + ": " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw refusal(std::string("cannot wait: ") + std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> read_dependencies(const std::string& list) {
  std::ifstream in(list, std::ios::binary);
  std::vector<std::string> files;
  std::string word;
  bool after_target = false;
  const auto end_word = [&] {
    if (!word.empty() && after_target) files.push_back(word);
    if (word.ends_with(':')) after_target = true;
    word.clear();
  };
  for (int c = in.get(); c != EOF; c = in.get()) {
    if (c == '\\' || c == '$') {  // of a space, a #, a $, the end of a line
      const int next = in.get();
      if (next == '\n') {
        end_word();
      } else if (next == ' ' || next == '#' || next == c) {
        word += static_cast<char>(next);
      } else {
        word += static_cast<char>(c);
        if (next != EOF) in.unget();
      }
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_word();
    } else {
      word += static_cast<char>(c);
    }
  }
  end_word();
  return files;
}

}  // namespace vole_command
