// The floor under rows in which contexts send to each other: switches, locks and copies. One core.
//
// Law    results are checked: the messages do arrive.
#include "context.h"
#include "floor.h"

#include <array>
#include <mutex>

namespace bench {
namespace {

using hold = std::lock_guard<plain_lock>;

// ── pingpong ──

// An unbuffered channel whose receiver always waits by the time somebody sends.
struct meeting {
  plain_lock lock;
  long* slot = nullptr;

  void send(long v) {
    const hold h(lock);
    *slot = v;
  }
  // The caller leaves next, and finds the value when it is back.
  void wait(long* where) {
    const hold h(lock);
    slot = where;
  }
};

// Counted, per round trip: two switches, four locks taken and freed, in each a word copied. Left out:
// making the other one runnable, finding it.
struct rally {
  troupe cast;
  meeting a, b;

  static void answer(void* self) {
    auto& r = *static_cast<rally*>(self);
    for (long v = 0;;) {
      r.a.wait(&v);
      r.cast.leave(0, troupe::kMain);
      r.b.send(v);
    }
  }
};

int pingpong(int n) {
  rally r;
  r.cast.add(0, &rally::answer, &r);
  r.cast.leave(troupe::kMain, 0);
  long v = 0, sum = 0;
  const stopwatch watch;
  for (int i = 0; i < n; ++i) {
    r.a.send(i);
    r.b.wait(&v);
    r.cast.leave(troupe::kMain, 0);
    sum += v;
  }
  report("pingpong", watch.ns() / n, "ns/roundtrip");
  return sum == static_cast<long>(n) * (n - 1) / 2 ? 0 : 1;
}

// ── channels of 128 ──

class buffer {
 public:
  bool send(int v) {  // true: now it is full
    const hold h(lock_);
    ints_[(first_ + size_) % kCapacity] = v;
    return ++size_ == kCapacity;
  }
  bool recv(int& v) {  // true: now it is empty
    const hold h(lock_);
    v = ints_[first_++ % kCapacity];
    return --size_ == 0;
  }

 private:
  static constexpr std::uint32_t kCapacity = 128;
  plain_lock lock_;
  std::uint32_t first_ = 0, size_ = 0;
  int ints_[kCapacity];
};

// Counted, per message: two locks taken and freed, two copies; per 128 a switch each way. Sender k
// fills the channel, receiver k empties it, sender k + 1 is next. Left out: closing, waking
// who waits.
struct pipe {
  struct end {
    pipe* all;
    std::size_t k;
  };

  std::size_t pairs;
  int each;  // messages a sender
  long left = static_cast<long>(pairs) * each, sum = 0;
  troupe cast = {};
  buffer channel = {};
  std::array<end, troupe::kMost / 2> ends = {};

  static void sender(void* self) {
    const auto [p, k] = *static_cast<end*>(self);
    for (int i = 0; i < p->each; ++i)
      if (p->channel.send(i)) p->cast.leave(2 * k, 2 * k + 1);
    p->cast.leave(2 * k, 2 * k + 1);
  }
  static void receiver(void* self) {
    const auto [p, k] = *static_cast<end*>(self);
    for (;;) {
      long sum = 0, n = 0;
      for (bool empty = false; !empty; ++n) {
        int v = 0;
        empty = p->channel.recv(v);
        sum += v;
      }
      p->sum += sum;
      p->left -= n;
      p->cast.leave(2 * k + 1, p->left == 0 ? troupe::kMain : 2 * ((k + 1) % p->pairs));
    }
  }
};

int send_all(const char* name, int n, std::size_t pairs) {
  const long each = n / static_cast<long>(pairs);
  if (each == 0) return 1;
  pipe p{pairs, static_cast<int>(each)};
  for (std::size_t k = 0; k < pairs; ++k) {
    p.ends[k] = {&p, k};
    p.cast.add(2 * k, &pipe::sender, &p.ends[k]);
    p.cast.add(2 * k + 1, &pipe::receiver, &p.ends[k]);
  }
  const stopwatch watch;
  p.cast.leave(troupe::kMain, 0);
  report(name, watch.ns() / n, "ns/msg");
  return p.sum == static_cast<long>(pairs) * (each * (each - 1) / 2) ? 0 : 1;
}

int chan_spsc(int n) { return send_all("chan_spsc", n, 1); }
int chan_mpmc(int n) { return send_all("chan_mpmc", n, 8); }

// ── select4 ──

// Counted, per message: two locks taken and freed, two copies; per four messages five switches: four
// senders leave one value each and wait, then four selects each find a sender, without a lock.
// Left out: the fair choice among those that are ready, and all selects that find nobody.
struct choice {
  static constexpr std::size_t kSenders = 4;
  struct offer {
    choice* all;
    std::size_t k;
    plain_lock lock = {};
    bool there = false;
    long value = 0;
  };

  troupe cast;
  std::array<offer, kSenders> offers{{{this, 0}, {this, 1}, {this, 2}, {this, 3}}};

  static void sender(void* self) {
    offer& o = *static_cast<offer*>(self);
    for (long i = 0;; ++i) {
      {
        const hold h(o.lock);
        o.value = i;
        o.there = true;
      }
      o.all->cast.leave(o.k, o.k + 1 < kSenders ? o.k + 1 : troupe::kMain);
    }
  }
  long select() {
    for (;;)
      for (offer& o : offers) {
        if (!o.there) continue;
        const hold h(o.lock);
        o.there = false;
        return o.value;
      }
  }
};

int select4(int n) {
  choice c;
  for (choice::offer& o : c.offers) c.cast.add(o.k, &choice::sender, &o);
  const int rounds = n / static_cast<int>(choice::kSenders);
  long sum = 0;
  const stopwatch watch;
  for (int i = 0; i < rounds; ++i) {
    c.cast.leave(troupe::kMain, 0);
    for (std::size_t k = 0; k < choice::kSenders; ++k) sum += c.select();
  }
  report("select4", watch.ns() / n, "ns/op");
  return sum == 4 * (static_cast<long>(rounds) * (rounds - 1) / 2) ? 0 : 1;
}

constexpr benchmark kMessages[] = {
    {"pingpong", pingpong, 1'000'000},
    {"chan_spsc", chan_spsc, 5'000'000},
    {"chan_mpmc", chan_mpmc, 4'000'000},
    {"select4", select4, 1'000'000},
};

}  // namespace

std::span<const benchmark> messages() { return kMessages; }

}  // namespace bench
