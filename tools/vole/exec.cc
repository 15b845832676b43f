// `vole exec PROGRAM [arguments]`: becomes the program, with libvole-preload.so before libc, so that its
// main is a goroutine and its calls that wait are caught (docs/libraries.md).
//
// Law    the program is exec'd, so signals, the terminal, its input and its status are its own.
// Law    where the library would have no effect (a static program, one with privileges of its own),
//        that is said instead.
// Proof  tests/tools/exec_test.py
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "commands.h"

namespace vole_command {
namespace {

namespace fs = std::filesystem;

// In a build tree CMake writes it beside the command; an installed tree has it in its libraries.
std::string find_library() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::string found;
  if (std::ifstream tree(here / "preload.txt"); tree) {
    std::getline(tree, found);
  } else {
    found = ((here / VOLE_TOOL_LIBRARY).parent_path() / "libvole-preload.so").lexically_normal();
  }
  if (!fs::exists(found, error)) throw refusal("no library to preload: " + found + " is not there");
  return found;
}

bool may_run(const std::string& file) {
  struct stat about = {};
  return ::access(file.c_str(), X_OK) == 0 && ::stat(file.c_str(), &about) == 0 &&
         S_ISREG(about.st_mode);
}

std::string program_to_run(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (may_run(name)) return name;
    throw refusal("cannot run " + name + ": " +
                  (fs::exists(name) ? "it is not a program" : "it is not there"));
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (may_run(file)) return file;
  }
  throw refusal("cannot run " + name + ": no folder of $PATH has it");
}

// The loader's part of the file: is there one? A script's interpreter decides for it.
void refuse_static(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr head = {};
  if (!in.read(reinterpret_cast<char*>(&head), sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return;
  if (head.e_ident[EI_CLASS] != ELFCLASS64)
    throw refusal(file + " is not a 64-bit program: nothing can be preloaded into it");
  in.seekg(static_cast<std::streamoff>(head.e_phoff));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part = {};
    if (!in.read(reinterpret_cast<char*>(&part), sizeof part)) break;
    if (part.p_type == PT_INTERP) return;
  }
  throw refusal(file + " is a static program: nothing can be preloaded into it");
}

void refuse_privileged(const std::string& file) {
  struct stat about = {};
  if (::stat(file.c_str(), &about) != 0) return;
  const bool other_user = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::geteuid();
  const bool other_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getegid();
  if (other_user || other_group)
    throw refusal(file + " runs with privileges of its own: the loader preloads nothing into it");
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  const std::string program = program_to_run(words.front());
  refuse_static(program);
  refuse_privileged(program);
  std::string preload = find_library();
  if (const char* const others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += std::string(":") + others;
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw refusal("cannot run " + program + ": " + std::strerror(errno));
}

}  // namespace

void add_exec(CLI::App& app, int&) {
  CLI::App* const command =
      app.add_subcommand("exec",
                         "Run a program with its main on a goroutine: calls that wait park it\n"
                         "Usage: vole exec PROGRAM [ARGUMENTS]...\n\n"
                         "The program need not know of vole. It is found as the shell finds it. "
                         "What it starts is not\n"
                         "affected. VOLE_DEBUG=hooks=1 prints at its end which calls were caught.");
  command->prefix_command();
  command->callback([command] {
    std::vector<std::string> words = command->remaining();
    if (!words.empty() && words.front() == "--") words.erase(words.begin());
    if (words.empty()) throw refusal("which PROGRAM? See vole exec --help");
    become(words);
  });
}

}  // namespace vole_command
