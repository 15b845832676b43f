// The second look at a generation: the threads' events in one order, by sequence numbers.
// See docs/trace-format.md, "Order".
//
// A thread whose next event may not come yet is parked, with what it waits for: a goroutine, a P,
// another thread's progress, or the theft of its own P. Each event that is taken says which of
// these it touched, and the parked ones it concerns try again. Of those that may go, the one with
// the earliest clock goes first. Times never go back: an event whose clock says less than the
// event before it gets that one's time.
//
// Law    the bytes were checked by scan.ts. A rule that is broken is a `Damaged`.
// Proof  test/reader_test.mjs, test/damage_test.mjs
import { Damaged } from "./bytes";
import { Generation } from "./chunks";
import { Begin } from "./begin";
import { Head, Heap, Wait } from "./heads";
import { Ev, Scan } from "./scan";
import { Cause, State, World } from "./world";

export class Order {
  private heads: Head[] = [];
  private byThread: (Head | undefined)[] = [];
  private heap = new Heap();
  private parked: Head[] = [];
  private touchA = -1;
  private touchB = -1;
  private touchP = -1;
  private touchT = -1;
  private readonly base: number;
  private readonly scale: number;

  constructor(private world: World, bytes: Uint8Array, gen: Generation, scan: Scan,
              private begin: Begin, base: number, scale: number) {
    this.base = base;
    this.scale = scale;
    for (const t of scan.threads) {
      const h = new Head(t, bytes, gen.begin!.ticks, scan.thefts.get(t.number) ?? []);
      this.byThread[t.index] = h;
      this.heads.push(h);
    }
  }

  // Takes all events. `partial`: the last generation without an end may stop anywhere.
  run(partial: boolean): void {
    for (const h of this.heads) if (h.advance()) this.heap.push(h);
    while (this.heap.size) {
      const h = this.heap.first;
      const limit = this.heap.secondTime();
      for (;;) {
        if (!this.take(h)) {
          this.heap.pop();
          this.parked.push(h);
          break;
        }
        h.count++;
        this.world.events++;
        const more = h.advance();
        if (more && h.time <= limit && !this.parked.length) continue;
        if (more) this.heap.firstHasGone();
        else this.heap.pop();
        if (this.parked.length) this.unpark(h.scan.index);
        break;
      }
    }
    if (this.parked.length && !partial) this.noOrder();
  }

  private noOrder(): never {
    const h = this.parked[0];
    throw new Damaged(`its events have no order: event ${h.count} of thread ${h.scan.number} ` +
      "can never come");
  }

  private unpark(t: number): void {
    const list = this.parked;
    for (let i = 0; i < list.length; i++) {
      const h = list[i], w = h.waitFor;
      const go = h.wait === Wait.Goroutine ? w === this.touchA || w === this.touchB
        : h.wait === Wait.P ? w === this.touchP
        : h.wait === Wait.Progress ? w === t : w === this.touchT;
      if (!go) continue;
      list[i--] = list[list.length - 1];
      list.pop();
      this.heap.push(h);
    }
  }

  private wait(h: Head, wait: Wait, what: number, pos: number): boolean {
    h.wait = wait;
    h.waitFor = what;
    h.cursor.pos = pos;
    return false;
  }

  // May this goroutine's event of that number come now?
  private mayRun(g: number, seq: number, current: number): boolean {
    const t = this.world.g;
    if (t.seq[g] + 1 !== seq) return false;
    const s = t.state[g];
    return s === State.Runnable || s === State.Preempted || g === current;
  }

  private find(id: number): number {
    const g = this.world.g.ids.find(id);
    if (g < 0) throw new Damaged(`goroutine ${id} was never introduced`);
    return g;
  }

  // Takes the event that h stands at, or says (false) that it may not come yet.
  private take(h: Head): boolean {
    const w = this.world, gs = w.g, b = this.begin, t = h.scan.index, c = h.cursor, pos = c.pos;
    const current = b.threadG[t];
    this.touchA = current;
    this.touchB = this.touchP = this.touchT = -1;
    if (h.count >= h.theftAt) return this.wait(h, Wait.Theft, t, pos);
    const when = this.base + h.time * this.scale;
    const now = when > w.now ? when : w.now;
    switch (h.type) {
      case Ev.GUnblock: {
        const id = h.lastG + c.svarint(), seq = h.lastSeq + c.svarint(), g = this.find(id);
        if (gs.seq[g] + 1 !== seq || gs.state[g] !== State.Waiting) {
          return this.wait(h, Wait.Goroutine, g, pos);
        }
        h.lastG = id;
        h.lastSeq = seq;
        h.woken = g;
        h.wokenSeq = seq;
        gs.seq[g] = seq;
        this.touchB = g;
        w.span(g, now, State.Runnable, Cause.Unblock, b.where(t), current < 0 ? 0 : gs.last[current]);
        break;
      }
      case Ev.GRun: {
        const id = h.lastG + c.svarint(), seq = h.lastSeq + c.svarint(), g = this.find(id);
        if (!this.mayRun(g, seq, -1)) return this.wait(h, Wait.Goroutine, g, pos);
        if (current >= 0) throw new Damaged(`thread ${h.scan.number} runs two goroutines at once`);
        h.lastG = id;
        h.lastSeq = seq;
        this.start(t, g, seq, now);
        break;
      }
      case Ev.BlockRun: case Ev.YieldRun: case Ev.PreemptRun: case Ev.EndRun: {
        const site = h.type === Ev.BlockRun ? c.varint() : 0;
        const id = h.lastG + c.svarint(), seq = h.lastSeq + c.svarint(), g = this.find(id);
        const own = h.type === Ev.EndRun || h.type === Ev.BlockRun ? -1 : current;
        if (!this.mayRun(g, seq, own)) return this.wait(h, Wait.Goroutine, g, pos);
        h.lastG = id;
        h.lastSeq = seq;
        this.leave(h, t, current, site, now);
        this.start(t, g, seq, now);
        break;
      }
      case Ev.BlockWoken: case Ev.YieldWoken: case Ev.EndWoken: {
        const site = h.type === Ev.BlockWoken ? c.varint() : 0;
        const g = h.woken, seq = h.wokenSeq + 1;
        if (!this.mayRun(g, seq, -1)) return this.wait(h, Wait.Goroutine, g, pos);
        this.leave(h, t, current, site, now);
        this.start(t, g, seq, now);
        break;
      }
      case Ev.GBlock:
        this.leave(h, t, current, c.varint(), now);
        break;
      case Ev.GYield: case Ev.GPreempt: case Ev.GEnd:
        this.leave(h, t, current, 0, now);
        break;
      default:
        if (!this.takeRare(h, t, current, now, pos)) return false;
    }
    w.now = now;
    return true;
  }

  private start(t: number, g: number, seq: number, now: number): void {
    const b = this.begin;
    this.touchB = g;
    this.world.g.seq[g] = seq;
    b.threadG[t] = g;
    const state = b.threadP[t] < 0 ? State.Evicted : State.Running;
    this.world.span(g, now, state, Cause.Run, b.where(t), 0);
  }

  // The thread's goroutine stops running.
  private leave(h: Head, t: number, g: number, site: number, now: number): void {
    const w = this.world, b = this.begin;
    if (g < 0 || w.g.state[g] !== State.Running) {
      throw new Damaged(`thread ${h.scan.number} stops a goroutine that does not run`);
    }
    b.threadG[t] = -1;
    switch (h.type) {
      case Ev.GBlock: case Ev.BlockRun: case Ev.BlockWoken:
        w.span(g, now, State.Waiting, Cause.Block, b.where(t), h.scan.sites[site]);
        break;
      case Ev.GYield: case Ev.YieldRun: case Ev.YieldWoken:
        w.span(g, now, State.Runnable, Cause.Yield, b.where(t), 0);
        break;
      case Ev.GPreempt: case Ev.PreemptRun:
        w.span(g, now, State.Runnable, Cause.Preempt, b.where(t), 0);
        break;
      default:
        w.g.state[g] = State.Dead;
        w.g.ended[g] = now;
    }
  }

  private takeRare(h: Head, t: number, current: number, now: number, pos: number): boolean {
    const w = this.world, gs = w.g, b = this.begin, c = h.cursor;
    switch (h.type) {
      case Ev.DefSite:
        c.varint();
        for (let n = c.varint(); n > 0; n--) c.varint();
        break;
      case Ev.DefString:
        c.string();
        break;
      case Ev.ThreadFirst: {
        const first = h.scan.first!;
        if (b.threadP[t] !== first.p) {
          if (b.threadP[t] >= 0 && first.p < 0) return this.wait(h, Wait.Theft, t, pos);
          throw new Damaged(`thread ${h.scan.number} does not have the P it says`);
        }
        c.varint();
        c.varint();
        h.lastG += c.svarint();
        c.varint();
        break;
      }
      case Ev.GFirst:
        h.lastG += c.svarint();
        for (let i = 0; i < 5; i++) c.varint();
        break;
      case Ev.GName: {
        h.lastG += c.svarint();
        gs.name[this.find(h.lastG)] = h.scan.strings[c.varint()];
        break;
      }
      case Ev.ProcStart: case Ev.ProcStop: case Ev.ProcSteal:
        return this.takeProc(h, t, current, now, pos);
      case Ev.GCreate: {
        h.lastG += c.svarint();
        const g = this.find(h.lastG);
        c.varint();
        c.varint();
        if (gs.state[g] !== State.Unknown) throw new Damaged(`goroutine ${h.lastG} is created twice`);
        gs.parent[g] = current < 0 ? 0 : gs.id[current];
        gs.created[g] = now;
        gs.seq[g] = 1;
        this.touchB = g;
        w.span(g, now, State.Runnable, Cause.Create, b.where(t), current < 0 ? 0 : gs.last[current]);
        break;
      }
      case Ev.GRequeue:
        if (b.threadP[t] >= 0) return this.wait(h, Wait.Theft, t, pos);
        if (current < 0) throw new Damaged("a thread without a goroutine puts one back");
        b.threadG[t] = -1;
        w.span(current, now, State.Runnable, Cause.Requeue, b.where(t), 0);
        break;
      case Ev.CallBegin:
        if (current < 0) throw new Damaged("a thread without a goroutine begins a call");
        w.span(current, now, State.Call, Cause.CallBegin, b.where(t), h.scan.sites[c.varint()]);
        break;
      case Ev.CallEnd:
        if (current < 0 || gs.state[current] !== State.Call) {
          throw new Damaged("a call ends that never began");
        }
        w.span(current, now, b.threadP[t] < 0 ? State.Evicted : State.Running, Cause.CallEnd,
          b.where(t), 0);
        break;
      default:
        this.takeUser(h, current, now);
    }
    return true;
  }

  private takeProc(h: Head, t: number, current: number, now: number, pos: number): boolean {
    const w = this.world, gs = w.g, b = this.begin, c = h.cursor;
    if (h.type === Ev.ProcStop) {
      const p = b.threadP[t];
      if (p < 0) throw new Damaged("a thread without a P gives one back");
      b.threadP[t] = -1;
      b.holder[p] = -1;
      this.touchP = p;
      if (current >= 0 && gs.state[current] === State.Running) {
        w.span(current, now, State.Evicted, Cause.Steal, b.where(t), 0);
      }
      return true;
    }
    const p = c.varint(), acq = c.varint();
    if (h.type === Ev.ProcStart) {
      if (b.threadP[t] >= 0) return this.wait(h, Wait.Theft, t, pos);
      if (b.holder[p] >= 0 || b.acquired[p] + 1 !== acq) return this.wait(h, Wait.P, p, pos);
      if (p >= w.ps) w.ps = p + 1;  // set_max_procs made more of them
      b.threadP[t] = p;
      b.holder[p] = t;
      b.acquired[p] = acq;
      this.touchP = p;
      if (current >= 0 && gs.state[current] === State.Evicted) {
        w.span(current, now, State.Running, Cause.GotP, b.where(t), 0);
      }
      return true;
    }
    const number = c.varint(), events = c.varint();
    const victim = w.threadIndex.get(number);
    if (victim === undefined) throw new Damaged(`a P is taken from thread ${number}, which there is not`);
    if ((this.byThread[victim]?.count ?? 0) < events) return this.wait(h, Wait.Progress, victim, pos);
    if (b.holder[p] !== victim || b.acquired[p] !== acq) return this.wait(h, Wait.P, p, pos);
    b.threadP[victim] = -1;
    b.holder[p] = -1;
    this.byThread[victim]?.nextTheft();
    this.touchP = p;
    this.touchT = victim;
    const g = b.threadG[victim];
    if (g >= 0) {
      this.touchB = g;
      const inCall = gs.state[g] === State.Call;
      w.span(g, now, inCall ? State.Call : State.Evicted, Cause.Steal, b.where(victim),
        inCall ? w.spans.arg[gs.last[g] - 1] : 0);
    }
    w.steals.time.push(now);
    w.steals.p.push(p);
    w.steals.from.push(victim);
    w.steals.by.push(t);
    return true;
  }

  // Regions, tasks, logs, and the stopped world.
  private takeUser(h: Head, g: number, now: number): void {
    const c = h.cursor, u = this.begin.user, strings = h.scan.strings;
    switch (h.type) {
      case Ev.StopBegin: u.stopBegin(h.scan.index, strings[c.varint()], now); break;
      case Ev.StopEnd: u.stopEnd(h.scan.index, now); break;
      case Ev.RegionBegin: u.regionBegin(g, strings[c.varint()], now); break;
      case Ev.RegionEnd: u.regionEnd(g, strings[c.varint()], now); break;
      case Ev.TaskBegin: u.taskBegin(g, c.varint(), c.varint(), strings[c.varint()], now); break;
      case Ev.TaskEnd: u.taskEnd(c.varint(), now); break;
      default: u.log(g, c.varint(), strings[c.varint()], c.string(), now);
    }
  }
}
