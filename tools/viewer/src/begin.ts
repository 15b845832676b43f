// How things stand when a generation begins: which thread has which P and goroutine, and in which
// state every goroutine is. From the first events of threads and goroutines, and from the listing
// for those that have no event in this generation.
import { Cursor, Damaged } from "./bytes";
import { Chunk } from "./chunks";
import { Scan } from "./scan";
import { Cause, State, World } from "./world";
import { User } from "./user";

interface ListedThread { thread: number; p: number; acq: number; g: number }

export class Begin {
  threadP = new Int32Array(0);
  threadG = new Int32Array(0);
  holder = new Int32Array(65536).fill(-1);
  acquired = new Float64Array(65536);
  private known = new Uint8Array(65536);

  constructor(private world: World, readonly user: User) {}

  where(t: number): number {
    return ((t + 1) << 16 | (this.threadP[t] + 1)) >>> 0;
  }

  // `fresh`: nothing is known from the generation before.
  prepare(scan: Scan, bytes: Uint8Array, listings: Chunk[], generation: number, now: number): void {
    const w = this.world;
    const listed: ListedThread[] = [];
    const idle: { g: number; state: number; reason: number; thread: number }[] = [];
    for (const chunk of listings) this.readListing(new Cursor(bytes, chunk.from, chunk.to), generation, listed, idle);
    for (const [, , number] of scan.stolen) w.thread(number);
    this.threadP = new Int32Array(w.threadNumber.length).fill(-1);
    this.threadG = new Int32Array(w.threadNumber.length).fill(-1);
    this.holder.fill(-1);
    this.known.fill(0);
    this.placePs(scan, listed);
    w.g.seq.fill(0);
    w.spans.reserve(scan.spans + idle.length + w.g.n + 1);
    this.placeGoroutines(scan, listed, idle, now, generation);
  }

  private hold(t: number, p: number, acq: number): void {
    if (this.known[p]) throw new Damaged(`two threads have P ${p}`);
    if (this.threadP[t] >= 0) throw new Damaged("a thread has two Ps");
    if (p >= this.world.ps) this.world.ps = p + 1;
    this.known[p] = 1;
    this.holder[p] = t;
    this.acquired[p] = acq;
    this.threadP[t] = p;
  }

  private placePs(scan: Scan, listed: ListedThread[]): void {
    const w = this.world;
    const withEvents = new Set(scan.threads.map((t) => t.index));
    for (const t of scan.threads) {
      if (t.first && t.first.p >= 0) this.hold(t.index, t.first.p, t.first.acq);
    }
    // A P that was taken from a thread before its first event, if it had any.
    for (const [p, acq, number] of scan.stolen) {
      const low = scan.lowest.get(p);
      if (!this.known[p] && (low === undefined || acq < low)) {
        this.hold(w.threadIndex.get(number)!, p, acq);
      }
    }
    for (const l of listed) {
      if (!withEvents.has(l.thread) && l.p >= 0 && !this.known[l.p] && this.threadP[l.thread] < 0) {
        const low = scan.lowest.get(l.p);
        if (low === undefined || l.acq < low) this.hold(l.thread, l.p, l.acq);
      }
    }
    for (const [p, low] of scan.lowest) if (!this.known[p]) this.acquired[p] = low - 1;
  }

  private placeGoroutines(scan: Scan, listed: ListedThread[],
                          idle: { g: number; state: number; reason: number; thread: number }[],
                          now: number, generation: number): void {
    const w = this.world, withEvents = new Set<number>();
    const onThread = new Set<number>();
    const ride = (t: number, g: number, inCall: boolean) => {
      if (onThread.has(g)) throw new Damaged(`goroutine ${w.g.id[g]} runs on two threads`);
      onThread.add(g);
      w.g.seen[g] = generation;
      this.threadG[t] = g;
      const state = inCall ? State.Call : this.threadP[t] >= 0 ? State.Running : State.Evicted;
      this.set(g, state, this.where(t), 0, now);
    };
    for (const t of scan.threads) {
      withEvents.add(t.index);
      if (t.first && t.first.g >= 0) ride(t.index, t.first.g, t.first.inCall);
    }
    const calls = new Set<number>();
    for (const i of idle) if (i.state === State.Call) calls.add(i.g);
    for (const f of scan.firsts) if (f.state === State.Call) calls.add(f.g);
    for (const l of listed) {
      if (l.g >= 0 && !withEvents.has(l.thread) && !onThread.has(l.g)) ride(l.thread, l.g, calls.has(l.g));
    }
    for (const f of scan.firsts) {
      if (onThread.has(f.g)) continue;
      const place = f.state === State.Waiting ? w.places.add(f.reason, []) : 0;
      this.set(f.g, f.state, 0, place, now);
    }
    for (const i of idle) {
      if (onThread.has(i.g) || w.g.seen[i.g] === generation) continue;
      w.g.seen[i.g] = generation;
      const place = i.state === State.Waiting ? w.places.add(i.reason, []) : 0;
      this.set(i.g, i.state, i.thread < 0 ? 0 : ((i.thread + 1) << 16) >>> 0, place, now);
    }
    // A goroutine that is not mentioned has ended.
    for (let g = 0; g < w.g.n; g++) {
      if (w.g.last[g] && w.g.seen[g] !== generation && w.g.state[g] !== State.Dead) {
        w.g.state[g] = State.Dead;
        w.g.ended[g] = now;
      }
    }
  }

  // The goroutine is in this state from now on, unless it was already.
  private set(g: number, state: State, where: number, place: number, now: number): void {
    const w = this.world, s = w.spans, last = w.g.last[g];
    if (last && w.g.state[g] === state) {
      const onThread = state === State.Running || state === State.Call || state === State.Evicted;
      if (!onThread || s.where[last - 1] === where) return;
    }
    w.span(g, now, state, Cause.Listed, where, place);
  }

  private readListing(c: Cursor, generation: number, listed: ListedThread[],
                      idle: { g: number; state: number; reason: number; thread: number }[]): void {
    const w = this.world;
    for (let n = c.varint(); n > 0; n--) {
      const id = c.varint(), parent = c.varint(), state = c.varint(), reason = c.varint();
      const fn = c.varint(), site = c.varint(), thread = c.varint(), waited = c.varint();
      const name = c.string();
      if (id <= 0 || state > 5) throw new Damaged("the listing is damaged");
      const g = w.g.add(id);
      w.g.parent[g] = parent;
      if (!w.g.fn[g]) w.g.fn[g] = w.places.add(0, [fn]);
      if (!w.g.site[g]) w.g.site[g] = w.places.add(0, [site]);
      if (name) w.g.name[g] = w.strings.add(name);
      if (w.g.seen[g] === generation) continue;
      if (!w.g.last[g]) w.g.waited[g] = waited;
      idle.push({ g, state, reason, thread: thread ? w.thread(thread) : -1 });
    }
    for (let m = c.varint(); m > 0; m--) {
      const t = w.thread(c.varint());
      w.threadKernel[t] = c.varint();
      const p = c.varint() - 1, acq = c.varint(), id = c.varint();
      if (p > 65533) throw new Damaged("the listing is damaged");
      listed.push({ thread: t, p, acq, g: id ? w.g.add(id) : -1 });
    }
  }
}
