// See control_client.h.
#include "control_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "refusal.h"

namespace vole_command {
namespace {

std::string why() { return std::generic_category().message(errno); }

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct process_facts {
  uid_t user = 0;
  long inner = 0;  // its number as it sees it itself
};

process_facts facts_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  if (!in) throw refusal("there is no process " + std::to_string(process));
  process_facts facts;
  facts.inner = process;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Uid:") words >> facts.user >> facts.user;  // real, effective
    if (key == "NSpid:") {
      while (words >> facts.inner) {
      }
    }
  }
  return facts;
}

std::string runtime_folder_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  std::string entry;
  constexpr std::string_view kName = "XDG_RUNTIME_DIR=";
  while (std::getline(in, entry, '\0')) {
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  }
  return "";
}

// Where its socket may be, as its own root folder has it, and as ours does.
std::vector<std::string> places_of(pid_t process, const process_facts& facts) {
  const std::string name = "/" + std::to_string(facts.inner);
  std::vector<std::string> inside;
  const std::string folder = runtime_folder_of(process);
  if (folder.starts_with('/')) inside.push_back(folder + "/vole" + name);
  inside.push_back("/tmp/vole-" + std::to_string(facts.user) + name);
  std::vector<std::string> all;
  for (const std::string& path : inside) {
    all.push_back("/proc/" + std::to_string(process) + "/root" + path);
    all.push_back(path);
  }
  return all;
}

// A connection, or -1: there is nobody.
int try_place(const std::string& path, uid_t owner) {
  struct stat about = {};
  if (lstat(path.c_str(), &about) != 0 || !S_ISSOCK(about.st_mode) || about.st_uid != owner) {
    return -1;
  }
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return -1;
  std::memcpy(at.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw refusal("no socket: " + why());
  if (connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
  const int error = errno;
  close(fd);
  if (error == ECONNREFUSED) unlink(path.c_str());  // its process is dead
  if (error == EACCES || error == EPERM) {
    throw refusal("the control socket is another user's: " + path);
  }
  return -1;
}

int connect_to(pid_t process) {
  const process_facts facts = facts_of(process);
  for (const std::string& path : places_of(process, facts)) {
    const int fd = try_place(path, facts.user);
    if (fd >= 0) return fd;
  }
  throw refusal("process " + std::to_string(process) +
                " has no control socket; start it with VOLE_DEBUG=control=1");
}

void send_request(int to, const std::string& line, int file) {
  iovec part = {const_cast<char*>(line.data()), line.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr m = {};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  if (file >= 0) {
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    cmsghdr* const c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(c), &file, sizeof file);
  }
  const ssize_t n = sendmsg(to, &m, MSG_NOSIGNAL);
  if (n != static_cast<ssize_t>(line.size()))
    throw refusal("the program does not listen: " + why());
}

std::string receive_all(int from, int patience) {
  std::string all;
  char buffer[65536];
  for (;;) {
    pollfd ready = {from, POLLIN, 0};
    const int n = poll(&ready, 1, patience * 1000);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) throw refusal("the program does not answer");
    const ssize_t got = recv(from, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw refusal("the program's answer is cut off: " + why());
    if (got == 0) return all;
    all.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string ask_program(pid_t process, const std::string& request, int file, int patience) {
  const descriptor to(connect_to(process));
  send_request(to.get(), request + "\n", file);
  const std::string answer = receive_all(to.get(), patience);
  if (answer.starts_with("ok\n")) return answer.substr(3);
  if (answer.starts_with("error: ")) {
    throw refusal("process " + std::to_string(process) + ": " +
                  answer.substr(7, answer.find('\n') - 7));
  }
  throw refusal("process " + std::to_string(process) + " ended before it answered");
}

}  // namespace vole_command
