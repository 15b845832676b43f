// Squares: four goroutines send, the main one receives, and a context keeps it from
// waiting for more than a second.

#include <vole/vole.h>

#include <chrono>
#include <cstdio>
#include <optional>

int main() {
  return vole::run([] {
    vole::chan<int> squares(8);
    for (int i = 0; i < 4; ++i)
      vole::go([squares, i] { squares.send(i * i); });
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), std::chrono::seconds(1));
    int sum = 0;
    std::optional<int> v;
    for (int i = 0; i < 4; ++i)
      switch (vole::select(vole::on_recv(squares, v), vole::on_done(ctx))) {
        case 0: sum += *v; break;
        case 1: return 1;
      }
    std::printf("%d\n", sum);
    return 0;
  });
}
