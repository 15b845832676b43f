// What a channel costs a goroutine: values that pass at once, values that do not, hand-overs.
//
// Note   where two goroutines take part there are as many Ps as the environment says:
//        VOLE_MAXPROCS=1 shows the switch, more show who wakes whom.
#include <vole/vole.h>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

// There is room, and then there is a value. Bytes: how large the value is.
template <std::size_t Bytes>
void chan_send_recv(benchmark::State& state) {
  vole::run([&state] {
    const vole::chan<std::array<char, Bytes>> c(1);
    for (auto _ : state) {
      c.send({});
      benchmark::DoNotOptimize(c.recv());
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_send_recv<4>);
BENCHMARK(chan_send_recv<8>);
BENCHMARK(chan_send_recv<64>);
BENCHMARK(chan_send_recv<1024>);

// The same with a type whose move is called; too long to live inside the string.
void chan_send_recv_string(benchmark::State& state) {
  vole::run([&state] {
    const vole::chan<std::string> c(1);
    std::string text(100, 'x');
    for (auto _ : state) {
      c.send(std::move(text));
      text = *c.recv();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_send_recv_string);

void chan_try_recv_empty(benchmark::State& state) {
  vole::run([&state] {
    const vole::chan<int> c(1);
    for (auto _ : state) benchmark::DoNotOptimize(c.try_recv());
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_try_recv_empty);

// One sends, one receives; an item is one value.
void chan_stream(benchmark::State& state) {
  vole::run([&state] {
    const vole::chan<int> c(static_cast<std::size_t>(state.range(0)));
    vole::go([c] {
      try {
        for (int i = 0;; ++i) c.send(i);
      } catch (const vole::channel_closed&) {
      }
    });
    for (auto _ : state) benchmark::DoNotOptimize(c.recv());
    c.close();
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_stream)->Arg(0)->Arg(1)->Arg(16)->Arg(128)->UseRealTime();

// There and back over two unbuffered channels; an item is one round trip.
void chan_round_trip(benchmark::State& state) {
  vole::run([&state] {
    const vole::chan<int> there, back;
    vole::go([there, back] {
      for (const int v : there) back.send(v);
    });
    for (auto _ : state) {
      there.send(1);
      benchmark::DoNotOptimize(back.recv());
    }
    there.close();
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_round_trip)->UseRealTime();

// range(0) channels, of which the last has a value: the price of a case. With the send.
void chan_select(benchmark::State& state) {
  vole::run([&state] {
    std::vector<vole::chan<int>> c(static_cast<std::size_t>(state.range(0)));
    for (vole::chan<int>& each : c) each = vole::chan<int>(1);
    std::vector<vole::select_case> cases;
    for (const vole::chan<int>& each : c) cases.emplace_back(vole::on_recv(each));
    for (auto _ : state) {
      c.back().send(1);
      benchmark::DoNotOptimize(vole::select(cases));
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(chan_select)->Arg(1)->Arg(2)->Arg(4)->Arg(16)->Arg(64);

}  // namespace
