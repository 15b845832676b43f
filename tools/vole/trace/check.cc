// Is a trace as the format's page says? See reader.h.
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "trace/reader.h"

namespace vole_trace {

std::vector<std::uint8_t> load(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    throw damaged(std::generic_category().message(errno) + ".");
  }
  if (!S_ISREG(about.st_mode)) throw damaged("This is not a file.");
  constexpr off_t kMost = off_t{8} << 30;
  if (about.st_size > kMost) throw damaged("The file is too large: more than 8 GiB.");
  std::vector<std::uint8_t> content(static_cast<std::size_t>(about.st_size));
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(content.data()), about.st_size)) {
    throw damaged("The file cannot be read.");
  }
  return content;
}

std::vector<std::string> check(trace_file& file, totals* counted) {
  std::vector<std::string> problems = file.problems;
  for (generation& g : file.generations) {
    if (g.trouble.empty()) {
      try {
        place_table places;
        const scan s = scan_generation(file.content, g, places);
        put_in_order(s, nullptr);
        if (counted != nullptr) {
          ++counted->generations;
          counted->events += s.events;
        }
        continue;
      } catch (const damaged& why) {
        g.trouble = why.what();
      }
    }
    problems.push_back("Generation " + std::to_string(g.number) + " cannot be read: " + g.trouble +
                       ".");
  }
  return problems;
}

std::vector<std::string> check(bytes content) {
  trace_file file = read_file(content);
  return check(file);
}

std::vector<std::string> check(const std::string& path) {
  const std::vector<std::uint8_t> content = load(path);
  return check(bytes(content));
}

}  // namespace vole_trace
