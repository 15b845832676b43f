// expect: wait: the lock must be of a vole::mutex
#include <vole/vole.h>

#include <mutex>

int main() {
  std::mutex m;  // would block the thread; a vole::mutex parks the goroutine
  std::unique_lock lock(m);
  vole::condition_variable ready;
  ready.wait(lock);
}
