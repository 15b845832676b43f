// `vole run FILE.cc [arguments]`: builds a program of one file and becomes it.
//
// Law    the program is exec'd, so signals, the terminal, its input and its status are its own.
//        What the compiler says is shown as it says it, and its status is passed on.
// Proof  tests/tools/run_test.py
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "commands.h"
#include "run_build.h"
#include "run_cache.h"

namespace vole_command {
namespace {

std::string text_of(const std::string& file) {
  struct stat what = {};
  if (::stat(file.c_str(), &what) != 0) {
    throw refusal("cannot read " + file + ": " + std::strerror(errno));
  }
  if (!S_ISREG(what.st_mode)) throw refusal(file + " is not a file");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw refusal("cannot read " + file);
  return text;
}

// Everything that decides what the compiler makes, apart from the files it reads on the way:
// those are in the entry's list.
std::string key_of(const recipe& how, const std::string& file, const std::string& text) {
  std::string key;
  for (const std::string& word : compile_command(how, file, "", "")) key += word + '\n';
  return key + "version " VOLE_TOOL_VERSION "\n" + text;
}

// 0, or the compiler's status.
int build(const recipe& how, const std::string& file, cache_entry& entry) {
  const file_time started = next_file_tick();
  const int status =
      run_compiler(compile_command(how, file, entry.unfinished(), entry.dependencies()));
  if (status != 0) {
    entry.drop_unfinished();
    return status;
  }
  std::vector<std::string> inputs = read_dependencies(entry.dependencies());
  inputs.push_back(how.library);
  inputs.push_back(how.compiler_path);
  entry.finish(inputs, started);
  return 0;
}

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw refusal("cannot run " + program + ": " + std::strerror(errno));
}

int run(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) throw refusal("which FILE.cc? See vole run --help");
  const std::string text = text_of(words.front());
  const std::string file = std::filesystem::absolute(words.front()).lexically_normal();
  words.erase(words.begin());

  const recipe how = find_recipe();
  cache_entry entry(std::filesystem::path(file).stem(), key_of(how, file, text));
  if (!entry.fresh()) {
    const held_lock lock = entry.lock();
    if (!entry.fresh()) {  // it may have been built while we waited
      const int status = build(how, file, entry);
      if (status != 0) return status;
    }
  }
  become(entry.program(), words);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand(
      "run",
      "Build a program of one file against this vole, and run it\n"
      "Usage: vole run FILE.cc [ARGUMENTS]...\n\n"
      "The program is kept under $XDG_CACHE_HOME/vole (~/.cache/vole) and built again when the\n"
      "file, a header, the compiler or vole has changed. Uses $CXX (c++), $CXXFLAGS (-O2 -g)\n"
      "and $LDFLAGS.");
  command->prefix_command();  // what follows FILE.cc is the program's, --help too
  command->callback([command, &status] { status = run(command->remaining()); });
}

}  // namespace vole_command
