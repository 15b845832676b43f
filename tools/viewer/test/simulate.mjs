// A program that does not exist, run by a scheduler that does not either: goroutines are
// generators, Ps and threads have clocks, and all that happens is written as a trace. The
// simulator adds up every state itself, so a reader's totals can be compared with its own.
//
// Law    of all Ps the one whose clock is behind goes next, and does what it does at its own clock:
//        causes never come after their effects.
//
// A generator yields what its goroutine does next:
//   ["work", ns]  ["nap", ns]  ["net", ns]  ["call", ns]  ["yield"]
//   ["go", function's name, function*, goroutine's name]
//   ["recv", chan]  ["send", chan]  ["lock", mutex]  ["unlock", mutex]
//   ["begin", region]  ["end", region]  ["task", id, parent, name]  ["done", id]  ["log", id, text]
import { Trace } from "./trace.mjs";

export const kReason = { recv: 1, send: 2, sleep: 3, lock: 4, net: 5 };
const kRunnable = 0, kRunning = 1, kWaiting = 2, kCall = 3;
const kSlice = 10_000_000, kLongCall = 20_000, kSwitch = 180;

export const chan = (room = 0) => ({ room, items: 0, receivers: [], senders: [] });
export const mutex = () => ({ held: false, waiters: [] });

// What is written, and when: definitions, first events, sequence numbers.
class Recorder {
  constructor(ps, generation, pcs) {
    Object.assign(this, { trace: new Trace({ ps }), length: generation, pcs, from: 0, seen: new Set(), opened: new Set() });
    this.trace.begin(0);
  }
  // The stream of a thread, which has said what it had.
  on(thread, time) {
    const s = this.trace.on(thread.number);
    if (thread.number && !this.opened.has(thread)) {
      this.opened.add(thread);
      s.event(3, time).v(thread.p ? thread.p.number + 1 : 0).v(thread.p ? thread.p.acq : 0).g(thread.g?.id ?? 0)
        .v(thread.g?.state === kCall ? 1 : 0);
    }
    return s;
  }
  first(s, g, time) {
    if (this.seen.has(g)) return;
    this.seen.add(g);
    g.seq = 0;
    const fn = s.site(time, 0, [this.pcs.fn(g.name)]), at = s.site(time, 0, [this.pcs.go(g.parent)]);
    s.event(4, time).g(g.id).v(g.state).v(g.reason).v(g.parent?.id ?? 0).v(fn).v(at);
  }
}

export class World {
  constructor({ ps = 4, seed = 1, generation = 1e9 } = {}) {
    this.names = new Map();
    this.rec = new Recorder(ps, generation, {
      fn: (name) => this.pc(name, name, 1), go: (g) => this.pc("go " + (g?.name ?? ""), g?.name ?? "main", 7),
    });
    Object.assign(this, { seed, ready: [], sleeping: [], goroutines: [], threads: [], totals: [0, 0, 0, 0] });
    this.ps = Array.from({ length: ps }, (_, number) => ({ number, acq: 1, clock: 0, thread: null }));
    for (const p of this.ps) this.ride(this.thread(), p);
    this.sysmon = this.thread(0);
  }
  random() {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return this.seed / 4294967296;
  }
  pc(key, fn, line) {
    if (!this.names.has(key)) this.names.set(key, [0x401000 + this.names.size * 64, [[fn, "server.cc", line + 10 * this.names.size]]]);
    return this.names.get(key)[0];
  }
  thread(number = this.threads.filter((t) => t.number).length + 1) {
    const t = { number, p: null, g: null };
    this.threads.push(t);
    return t;
  }
  ride(t, p) {
    t.p = p;
    p.thread = t;
  }
  make(name, body, parent = null) {
    const g = { id: this.goroutines.length + 1, name, parent, state: kRunnable, reason: 0, since: 0, seq: 0, left: 0 };
    g.body = body(g);
    this.goroutines.push(g);
    return g;
  }
  to(g, state, time, reason = 0) {
    this.totals[g.state] += time - g.since;
    Object.assign(g, { state, since: time, reason });
  }
  // What the goroutine of this thread wakes.
  wake(s, g, time) {
    this.rec.first(s, g, time);
    s.event(10, time).g(g.id).n(++g.seq);
    this.to(g, kRunnable, time);
    this.ready.push(g);
  }
  block(p, s, reason, time) {
    const g = p.thread.g, site = s.site(time, reason, [this.pc(`${g.name} ${reason}`, g.name, 3)]);
    s.event(12, time).v(site);
    this.to(g, kWaiting, time, reason);
    p.thread.g = null;
  }

  // Until `ns`, always with the P whose clock is behind.
  run(main, ns) {
    const g = this.make("main", main);
    const s = this.rec.on(this.ps[0].thread, 0);
    this.rec.seen.add(g);
    const fn = s.site(0, 0, [this.pc("main", "main", 1)]);
    s.event(9, 0).g(g.id).v(fn).v(0);
    g.seq = 1;
    this.ready.push(g);
    for (;;) {
      const p = this.ps.reduce((a, b) => (b.clock < a.clock ? b : a));
      if (p.clock >= ns) break;
      if (p.clock - this.rec.from > this.rec.length) this.nextGeneration();
      this.turn(p);
    }
    return this.finish();
  }
  nextGeneration() {
    const now = Math.max(...this.ps.map((p) => p.clock)), { trace } = this.rec;
    this.list();
    trace.end(now);
    trace.begin(now);
    for (const p of this.ps) p.clock = now;
    Object.assign(this.rec, { from: now, seen: new Set(), opened: new Set() });
  }
  list() {
    const alive = this.goroutines.filter((g) => g.state >= 0);
    this.rec.trace.listing(alive.map((g) => ({ id: g.id, parent: g.parent?.id, state: g.state, reason: g.reason,
      fn: this.pc(g.name, g.name, 1), site: this.pc("go " + (g.parent?.name ?? ""), g.parent?.name ?? "main", 7),
      thread: this.threads.find((t) => t.g === g)?.number ?? 0 })),
    this.threads.filter((t) => t.number).map((t) => ({ number: t.number, tid: 100 + t.number, p: t.p?.number, acq: t.p?.acq, g: t.g?.id })));
  }
  finish() {
    const end = Math.max(...this.ps.map((p) => p.clock));
    for (const g of this.goroutines) if (g.state >= 0) this.to(g, g.state, end, g.reason);
    this.list();
    this.rec.trace.end(end);
    this.rec.trace.names([...this.names.values()]);
    return { trace: this.rec.trace, totals: this.totals, goroutines: this.goroutines.length, end };
  }

  // One step of a P: take a goroutine, or go on with the one it has.
  turn(p) {
    this.due(p);
    const t = p.thread;
    if (t && !t.g && !this.ready.length) {
      const s = this.rec.on(t, p.clock);
      s.event(7, p.clock);
      t.p = p.thread = null;
    }
    if (!p.thread) {
      if (!this.ready.length) {
        const next = Math.min(...this.ps.filter((q) => q !== p && q.clock > p.clock).map((q) => q.clock), this.sleeping[0]?.until ?? Infinity);
        p.clock = Math.max(p.clock + 100, Number.isFinite(next) ? Math.min(next, p.clock + 50000) : p.clock + 50000);
        return;
      }
      this.acquire(p);
    }
    if (p.thread.g) return this.step(p);
    const g = this.ready.shift();
    // Not before it became runnable, whichever P's clock that was.
    p.clock = Math.max(p.clock, g.since) + kSwitch;
    const s = this.rec.on(p.thread, p.clock);
    this.rec.first(s, g, p.clock);
    s.event(11, p.clock).g(g.id).n(++g.seq);
    this.to(g, kRunning, p.clock);
    p.thread.g = g;
    g.began = p.clock;
  }
  // Sleepers and readers whose time has come are found by a P that looks for work; those whose
  // call is over come back by themselves.
  due(p) {
    while (this.sleeping.length && this.sleeping[0].until <= p.clock && !p.thread?.g) {
      const { g, back } = this.sleeping.shift();
      if (back) this.comeBack(back, p.clock);
      else {
        if (!p.thread) this.acquire(p);
        this.wake(this.rec.on(p.thread, p.clock), g, p.clock);
      }
    }
  }
  comeBack(t, time) {
    const s = this.rec.on(t, time), g = t.g;
    this.rec.first(s, g, time);
    s.event(16, time);
    this.to(g, kRunnable, time);
    this.ready.push(g);
    t.g = null;
  }
  acquire(p) {
    const free = this.threads.find((x) => x.number && !x.p && !x.g) ?? this.thread();
    const s = this.rec.on(free, p.clock);
    this.ride(free, p);
    s.event(6, p.clock).v(p.number).v(++p.acq);
  }
  sleep(what, until) {
    let i = this.sleeping.length;
    while (i > 0 && this.sleeping[i - 1].until > until) i--;
    this.sleeping.splice(i, 0, { ...what, until });
  }
  step(p) {
    const t = p.thread, g = t.g, s = this.rec.on(t, p.clock);
    this.rec.first(s, g, p.clock);
    if (g.left > 0) {
      const ns = Math.min(g.left, kSlice - (p.clock - g.began));
      g.left -= ns;
      p.clock += ns;
      if (g.left > 0 && this.ready.length) return this.stop(p, s, 14);
      if (g.left > 0) g.began = p.clock;
      return;
    }
    const { value, done } = g.body.next();
    if (done) {
      s.event(15, p.clock);
      this.to(g, -1, p.clock);
      t.g = null;
      return;
    }
    this[value[0]](p, s, g, ...value.slice(1).map((x) => (typeof x === "number" ? Math.round(x) : x)));
    p.clock += 30;
  }
  stop(p, s, type) {
    const g = p.thread.g;
    s.event(type, p.clock);
    this.to(g, kRunnable, p.clock);
    this.ready.push(g);
    p.thread.g = null;
  }
}

// What goroutines do.
Object.assign(World.prototype, {
  yield(p, s) { this.stop(p, s, 13); },
  sleepFor(p, s, g, ns, reason) {
    this.block(p, s, reason, p.clock);
    this.sleep({ g }, p.clock + ns);
  },
  net(p, s, g, ns) { this.sleepFor(p, s, g, ns, kReason.net); },
  nap(p, s, g, ns) { this.sleepFor(p, s, g, ns, kReason.sleep); },
  work(p, s, g, ns) { g.left = ns; },
  go(p, s, g, name, body, called = "") {
    const made = this.make(name, body, g);
    const fn = s.site(p.clock, 0, [this.pc(name, name, 1)]), at = s.site(p.clock, 0, [this.pc("go " + g.name, g.name, 7)]);
    s.event(9, p.clock).g(made.id).v(fn).v(at);
    this.rec.seen.add(made);
    Object.assign(made, { seq: 1, since: p.clock });
    if (called) { const n = s.str(p.clock, called); s.event(5, p.clock).g(made.id).v(n); }
    this.ready.push(made);
  },
  send(p, s, g, c) {
    if (c.receivers.length) this.wake(s, c.receivers.shift(), p.clock);
    else if (c.items < c.room) c.items++;
    else { c.senders.push(g); this.block(p, s, kReason.send, p.clock); }
  },
  recv(p, s, g, c) {
    if (c.senders.length) this.wake(s, c.senders.shift(), p.clock);
    else if (c.items > 0) c.items--;
    else { c.receivers.push(g); this.block(p, s, kReason.recv, p.clock); }
  },
  lock(p, s, g, m) {
    if (!m.held) m.held = true;
    else { m.waiters.push(g); this.block(p, s, kReason.lock, p.clock); }
  },
  unlock(p, s, g, m) {
    if (m.waiters.length) this.wake(s, m.waiters.shift(), p.clock);
    else m.held = false;
  },
  begin(p, s, g, name) { const n = s.str(p.clock, name); s.event(50, p.clock).v(n); },
  end(p, s, g, name) { const n = s.str(p.clock, name); s.event(51, p.clock).v(n); },
  task(p, s, g, id, parent, name) { const n = s.str(p.clock, name); s.event(52, p.clock).v(id).v(parent).v(n); },
  done(p, s, g, id) { s.event(53, p.clock).v(id); },
  log(p, s, g, id, text) { const n = s.str(p.clock, "info"); s.event(54, p.clock).v(id).v(n).buf.string(text); },
  // A call; if it lasts, sysmon takes the P away, and the goroutine comes back without one.
  call(p, s, g, ns) {
    const t = p.thread, site = s.site(p.clock, 0, [this.pc(`${g.name} call`, g.name, 5)]);
    s.event(30, p.clock).v(site);
    this.to(g, kCall, p.clock);
    if (ns < kLongCall) {
      p.clock += ns;
      s.event(31, p.clock);
      return this.to(g, kRunning, p.clock);
    }
    const taken = p.clock + kLongCall, back = p.clock + ns;
    this.rec.on(this.sysmon, taken).event(8, taken).v(p.number).v(p.acq).v(t.number).v(s.events);
    this.to(g, kCall, taken);
    t.p = p.thread = null;
    p.clock = taken;
    this.sleep({ back: t }, back);
  },
});
