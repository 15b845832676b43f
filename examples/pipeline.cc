// Pipeline: each stage is a goroutine that receives from one channel and sends to the next.
//
// Teaches: one-way channels in signatures; the sender closes; a range-for ends when its channel is
// closed and drained; a context stops a pipeline whose consumer has had enough.

#include <vole/vole.h>

#include <cstdio>

namespace {

using vole::chan_status;

// 1, 2, 3 ... until the context is cancelled.
vole::recv_chan<int> count(vole::group& g) {
  const vole::chan<int> out;
  g.go([out, ctx = g.context()] {
    for (int i = 1; out.send(i, ctx) == chan_status::ok; ++i) {
    }
    out.close();
  });
  return out;
}

vole::recv_chan<int> square(vole::group& g, vole::recv_chan<int> in) {
  const vole::chan<int> out;
  g.go([in, out, ctx = g.context()] {
    for (int n : in)
      if (out.send(n * n, ctx) != chan_status::ok) break;
    out.close();
  });
  return out;
}

vole::recv_chan<int> keep_odd(vole::group& g, vole::recv_chan<int> in) {
  const vole::chan<int> out(4);  // room for four: this stage may run ahead of the next
  g.go([in, out, ctx = g.context()] {
    for (int n : in)
      if (n % 2 != 0 && out.send(n, ctx) != chan_status::ok) break;
    out.close();
  });
  return out;
}

}  // namespace

int main() {
  return vole::run([] {
    int sum = 0;
    vole::group stages;
    for (int n : keep_odd(stages, square(stages, count(stages)))) {
      if (n > 100) break;  // enough: the stages behind us still want to send
      sum += n;
    }
    std::printf("1 + 9 + 25 + 49 + 81 = %d\n", sum);
    return sum == 165 ? 0 : 1;
    // The group is destroyed here: it cancels its context and waits until every stage has returned.
  });
}
