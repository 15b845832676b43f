// Traces of made-up programs, with known totals. Time is in ns.
//
//   node test/workload.mjs pairs|many|demo OUT [events]
import { writeFileSync } from "node:fs";
import { crc32, Trace } from "./trace.mjs";

export function random(seed) {
  let x = seed >>> 0 || 1;
  return () => {
    x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0;
    return x / 4294967296;
  };
}

const kPc = { main: 0x401000, producer: 0x402000, consumer: 0x403000, sleeper: 0x404000, reader: 0x405000,
  go: 0x401080, recv: 0x403040, send: 0x402040, sleep: 0x404040, lock: 0x403080, net: 0x405040, read: 0x405080 };
const kSymbols = [
  [kPc.main, [["main", "demo.cc", 40]]],
  [kPc.producer, [["produce(vole::chan<int>)", "demo.cc", 10]]],
  [kPc.consumer, [["consume(vole::chan<int>)", "demo.cc", 20]]],
  [kPc.sleeper, [["tick()", "demo.cc", 30]]],
  [kPc.reader, [["serve(vole::net::conn)", "server.cc", 50]]],
  [kPc.go, [["main", "demo.cc", 44]]],
  [kPc.recv, [["vole::chan<int>::receive()", "chan.h", 210], ["consume(vole::chan<int>)", "demo.cc", 22]]],
  [kPc.send, [["produce(vole::chan<int>)", "demo.cc", 12]]],
  [kPc.sleep, [["tick()", "demo.cc", 32]]],
  [kPc.lock, [["consume(vole::chan<int>)", "demo.cc", 25]]],
  [kPc.net, [["serve(vole::net::conn)", "server.cc", 55]]],
  [kPc.read, [["serve(vole::net::conn)", "server.cc", 57]]],
];

// The smallest trace with a bit of everything. Two Ps, threads 1 and 2.
//   main (1) makes 2 and 3, waits; 2 runs on thread 1, 3 on thread 2; 3 waits for 2; 2 wakes it; …
export function small({ skew = () => 0, name = "the producer" } = {}) {
  const t = new Trace({ ps: 2, skew });
  t.begin(0);
  const a = t.on(1), b = t.on(2), z = t.on(0);
  a.event(3, 0).v(1).v(5).g(1).v(0);                       // thread 1 has P 0, acquisition 5, goroutine 1
  let fn = a.site(0, 0, [kPc.main]), at = a.site(0, 0, [kPc.go]);
  a.event(4, 1000).g(1).v(1).v(0).v(0).v(fn).v(at);
  const producer = a.site(1000, 0, [kPc.producer]), consumer = a.site(1000, 0, [kPc.consumer]);
  a.event(9, 1000).g(2).v(producer).v(at);                 // creates 2 at 1 µs
  a.event(9, 2000).g(3).v(consumer).v(at);                 // creates 3 at 2 µs
  const s = a.str(2000, name);
  a.event(5, 2000).g(2).v(s);
  b.event(3, 3000).v(0).v(0).g(0).v(0);                    // thread 2 has nothing
  b.event(6, 3000).v(1).v(1);                              // takes P 1
  b.event(11, 3000).g(3).n(2);                             // 3 runs from 3 µs: was runnable for 1 µs
  const wait = a.site(4000, 3, [kPc.sleep]);
  a.event(20, 4000).v(wait).g(2).n(2);                     // 1 sleeps, 2 runs: was runnable for 3 µs
  const recv = b.site(6000, 1, [kPc.recv]);
  b.event(12, 6000).v(recv);                               // 3 waits from 6 µs: ran for 3 µs
  b.event(7, 6500);                                        // gives P 1 back
  const region = a.str(7000, "prepare");
  a.event(50, 7000).v(region);
  const task = a.str(7000, "request");
  a.event(52, 7000).v(77).v(0).v(task);
  a.event(51, 9000).v(region);
  a.event(10, 10000).g(3).n(3);                            // 2 wakes 3 at 10 µs: it waited for 4 µs
  const cat = a.str(10500, "info");
  a.event(54, 10500).v(77).v(cat).buf.string("sent one");
  a.event(13, 12000);                                      // 2 yields at 12 µs: ran for 8 µs
  a.event(11, 12000).g(3).n(4);                            // 3 runs on thread 1, runnable for 2 µs
  const call = a.site(13000, 0, [kPc.read]);
  a.event(30, 13000).v(call);                              // 3 in a call at 13 µs
  z.event(8, 15000).v(0).v(5).v(1).v(a.events);            // sysmon takes P 0 from thread 1
  b.event(6, 15500).v(0).v(6);                             // thread 2 gets it
  b.event(11, 15500).g(2).n(3);                            // 2 runs on thread 2: runnable for 3.5 µs
  b.event(15, 16000);                                      // 2 ends
  a.event(53, 16500).v(77);
  a.event(6, 17000).v(1).v(2);                             // thread 1 gets P 1
  a.event(31, 17000);                                      // 3 is back: it was in the call for 4 µs
  a.event(15, 18000);                                      // 3 ends
  a.event(10, 19000).g(1).n(1);                            // a timer wakes 1: it slept 15 µs
  a.event(11, 19500).g(1).n(2);
  const stop = z.str(19600, "trace stop");
  z.event(40, 19600).v(stop);
  z.event(41, 19800);
  t.listing([{ id: 1, state: 1, fn: kPc.main, thread: 1, name: "main" },
    { id: 9, state: 2, reason: 5, fn: kPc.reader, site: kPc.go, parent: 1, waited: 700 }],
  [{ number: 1, tid: 101, p: 0, acq: 5, g: 1 }, { number: 2, tid: 102 }]);
  t.end(20000);
  t.names(kSymbols);
  return t;
}

// What small() must come to, in ns: [state] → total.
export const kSmall = {
  running: 4000 + 3000 + 8000 + 1000 + 500 + 1000 + 500, runnable: 1000 + 3000 + 2000 + 3500 + 500,
  waiting: 15000 + 4000 + 20000, call: 4000, events: 0,
};

// Pairs of goroutines that wake each other, one pair to a P, as many events as wanted: three
// events a round trip (unblock; block and run the woken one).
export function pairs({ events = 10000, ps = 2, gs = 16, skew = () => 0, generationEvents = 1e6, step = 180 } = {}) {
  const t = new Trace({ ps, skew });
  const rnd = random(7);
  const lanes = [];
  for (let p = 0; p < ps; p++) {
    const ids = [];
    for (let i = 0; i < Math.max(2, gs / ps); i++) ids.push(100 + p * 1000 + i);
    lanes.push({ p, thread: p + 1, ids, current: 0, time: p * 7 });
  }
  let made = 0, time = 0;
  while (made < events) {
    t.begin(time);
    const quota = Math.min(generationEvents, events - made) / ps;
    let latest = time;
    for (const l of lanes) latest = Math.max(latest, lane(t, l, quota, rnd, step));
    for (const s of t.streams.values()) made += s.events;
    time = latest + 1000;
    for (const l of lanes) l.time = time + l.p * 7;
    t.listing([], []);
    t.end(time);
  }
  t.names(kSymbols);
  return t;
}

function lane(t, l, quota, rnd, step) {
  const s = t.on(l.thread), seq = new Map();
  s.event(3, l.time).v(l.p + 1).v(1).g(l.ids[l.current]).v(0);
  const place = s.site(l.time, 1, [kPc.recv]), fn = s.site(l.time, 0, [l.p % 2 ? kPc.producer : kPc.consumer]);
  const at = s.site(l.time, 0, [kPc.go]);
  for (let i = 0; i < l.ids.length; i++) {
    s.event(4, l.time).g(l.ids[i]).v(i === l.current ? 1 : 2).v(i === l.current ? 0 : 1).v(1).v(fn).v(at);
    seq.set(l.ids[i], 0);
  }
  while (s.events < quota) {
    const next = (l.current + 1) % l.ids.length, g = l.ids[next];
    l.time += Math.floor(step * (0.2 + rnd() * 2));
    if (rnd() < 0.0005) l.time += step * 500;
    seq.set(g, seq.get(g) + 1);
    s.event(10, l.time).g(g).n(seq.get(g));
    l.time += 20 + Math.floor(rnd() * 60);
    seq.set(g, seq.get(g) + 1);
    s.event(24, l.time).v(place);
    l.current = next;
  }
  return l.time;
}

// Many goroutines, each created, run once, put to sleep, woken by a timer and ended.
export function many({ goroutines = 100000, ps = 4, skew = () => 0 } = {}) {
  const t = new Trace({ ps, skew });
  const rnd = random(11), kinds = [kPc.producer, kPc.consumer, kPc.sleeper, kPc.reader];
  t.begin(0);
  for (let p = 0; p < ps; p++) {
    const s = t.on(p + 1);
    let time = p * 13, id = 1 + p;
    s.event(3, time).v(p + 1).v(3).g(0).v(0);
    const fns = kinds.map((pc) => s.site(time, 0, [pc])), at = s.site(time, 0, [kPc.go]);
    const sleeps = [1, 3, 4, 5].map((r) => s.site(time, r, [[0, kPc.recv, 0, kPc.sleep, kPc.lock, kPc.net][r]]));
    const asleep = [];
    for (let i = 0; i < goroutines / ps; i++, id += ps) {
      s.event(9, (time += 50)).g(id).v(fns[Math.floor(rnd() * rnd() * 4)]).v(at);
      s.event(11, (time += 80)).g(id).n(2);
      s.event(12, (time += 200 + Math.floor(rnd() * 800))).v(sleeps[Math.floor(rnd() * 4)]);
      asleep.push(id);
      if (asleep.length > 500 || rnd() < 0.2) {
        const k = asleep.splice(Math.floor(rnd() * asleep.length), 1)[0];
        s.event(10, (time += 30)).g(k).n(3);
        s.event(11, (time += 100)).g(k).n(4);
        s.event(15, (time += 300));
      }
    }
    t.last = Math.max(t.last ?? 0, time);
  }
  t.listing([], []);
  t.end(t.last + 1000);
  t.names(kSymbols);
  return t;
}

// The file with one to three bytes changed, and checksums that are right all the same.
export function spoiled(all, rnd) {
  const b = Buffer.from(all);
  for (let k = 1 + Math.floor(rnd() * 3); k > 0; k--) b[32 + Math.floor(rnd() * (b.length - 32))] = Math.floor(rnd() * 256);
  for (let p = 32; p + 48 <= b.length && b.toString("latin1", p, p + 4) === "CHNK";) {
    const to = p + 48 + b.readUInt32LE(p + 4);
    if (to > b.length) break;
    b.writeUInt32LE(crc32(b.subarray(p + 48, to)), p + 44);
    p = to;
  }
  return b;
}

if (process.argv[1]?.endsWith("workload.mjs") && process.argv[3]) {
  const [, , what, out, n] = process.argv;
  const t = what === "small" ? small() : what === "many" ? many({ goroutines: +(n ?? 100000) })
    : pairs({ events: +(n ?? 1e7), ps: 4, gs: 64 });
  writeFileSync(out, t.file());
}
