// What /proc says of processes and threads.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace vole_command::outside {

// A process number, as somebody has typed it. Refuses what is none.
int pid_of(const std::string& text);
// The process that this number is of; a thread's number leads to its process. 0: none.
int process_of(int id);
// "TracerPid" and the like; empty: not there.
std::string status_of(const std::string& folder, const std::string& key);
std::vector<int> threads_of(int pid);  // empty: it has ended
// A thread's own idea of its number, to the one that we know it by: they differ in a container that
// is looked into from outside. Only threads of this process.
std::map<int, int> thread_numbers(int pid);

}  // namespace vole_command::outside
