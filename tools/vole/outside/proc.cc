#include "proc.h"

#include <dirent.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../refusal.h"

namespace vole_command::outside {

int pid_of(const std::string& text) {
  int pid = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, pid);
  if (error != std::errc() || at != end || pid <= 0)
    throw refusal("\"" + text + "\" is not the number of a process");
  return pid;
}

std::string status_of(const std::string& folder, const std::string& key) {
  std::ifstream in(folder + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + ":")) return line.substr(key.size() + 1);
  return {};
}

int process_of(int id) {
  if (id <= 0) return 0;
  return std::atoi(status_of("/proc/" + std::to_string(id), "Tgid").c_str());
}

std::vector<int> threads_of(int pid) {
  std::vector<int> all;
  DIR* const folder = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (folder == nullptr) return all;
  while (const dirent* const e = readdir(folder))
    if (const int tid = std::atoi(e->d_name); tid > 0) all.push_back(tid);
  closedir(folder);
  return all;
}

std::map<int, int> thread_numbers(int pid) {
  std::map<int, int> numbers;
  const std::string process = "/proc/" + std::to_string(pid);
  // "NSpid: 4711 17 1": one for each namespace, from ours to the innermost.
  std::istringstream own(status_of(process, "NSpid"));
  int depth = 0;
  for (int n; own >> n;) ++depth;
  for (const int tid : threads_of(pid)) {
    int inner = tid;
    if (depth > 1) {
      std::istringstream all(status_of(process + "/task/" + std::to_string(tid), "NSpid"));
      for (int n; all >> n;) inner = n;
    }
    numbers[inner] = tid;
  }
  return numbers;
}

}  // namespace vole_command::outside
