// The first look at a generation's events, thread by thread: every byte is decoded once, so that
// the second look (order.ts) need not fear anything. Collects definitions, what goroutines and
// threads were at the begin, the lowest acquisition of every P, and how many spans there will be.
//
// Proof  test/reader_test.mjs, test/damage_test.mjs
import { Cursor, Damaged } from "./bytes";
import { Chunk, Generation } from "./chunks";
import { World } from "./world";

export const enum Ev {
  DefSite = 1, DefString, ThreadFirst, GFirst, GName, ProcStart, ProcStop, ProcSteal, GCreate,
  GUnblock, GRun, GBlock, GYield, GPreempt, GEnd, GRequeue,
  BlockRun = 20, YieldRun, PreemptRun, EndRun, BlockWoken, YieldWoken, EndWoken = 27,
  CallBegin = 30, CallEnd, StopBegin = 40, StopEnd, RegionBegin = 50, RegionEnd, TaskBegin,
  TaskEnd, Log,
}

export interface ThreadScan {
  index: number;
  number: number;
  chunks: Chunk[];
  sites: number[];
  strings: number[];
  events: number;
  first?: { p: number; acq: number; g: number; inCall: boolean };
}

export interface GFirst { g: number; state: number; reason: number }

export interface Scan {
  threads: ThreadScan[];
  firsts: GFirst[];
  lowest: Map<number, number>;         // P → the lowest acquisition that a proc_start names
  stolen: [number, number, number][];  // P, acquisition, thread number
  thefts: Map<number, number[]>;       // thread number → after how many of its events its P is taken
  spans: number;
}

// Spans an event may add.
const kSpans = new Uint8Array(256);
for (const e of [Ev.GFirst, Ev.ThreadFirst, Ev.ProcStart, Ev.ProcStop, Ev.ProcSteal, Ev.GCreate, Ev.GUnblock,
  Ev.GRun, Ev.GBlock, Ev.GYield, Ev.GPreempt, Ev.GRequeue, Ev.EndRun, Ev.EndWoken, Ev.CallBegin,
  Ev.CallEnd]) kSpans[e] = 1;
for (const e of [Ev.BlockRun, Ev.YieldRun, Ev.PreemptRun, Ev.BlockWoken, Ev.YieldWoken]) kSpans[e] = 2;

export function scanGeneration(bytes: Uint8Array, gen: Generation, world: World): Scan {
  const scan: Scan = { threads: [], firsts: [], lowest: new Map(), stolen: [], thefts: new Map(), spans: 0 };
  for (const [number, chunks] of gen.threads) {
    const thread: ThreadScan = {
      index: world.thread(number), number, chunks, sites: [0], strings: [0], events: 0,
    };
    scan.threads.push(thread);
    for (const chunk of chunks) scanChunk(bytes, chunk, thread, scan, world, gen.number);
  }
  return scan;
}

function place(thread: ThreadScan, n: number): number {
  const p = thread.sites[n];
  if (p === undefined) throw new Damaged(`thread ${thread.number} names a place it never defined`);
  return p;
}

function checkName(thread: ThreadScan, n: number): void {
  if (n >= thread.strings.length) {
    throw new Damaged(`thread ${thread.number} names a string it never defined`);
  }
}

function scanChunk(bytes: Uint8Array, chunk: Chunk, thread: ThreadScan, scan: Scan, world: World,
                   generation: number): void {
  const c = new Cursor(bytes, chunk.from, chunk.to);
  const sites = thread.sites;
  let last = 0, spans = 0, n = 0, woke = false;
  for (; c.pos < c.end; n++) {
    const type = bytes[c.pos++];
    spans += kSpans[type];
    c.varint();  // dt
    switch (type) {
      case Ev.GUnblock:
        woke = true;
        last += c.svarint();
        c.varint();
        break;
      case Ev.GRun: case Ev.YieldRun: case Ev.PreemptRun: case Ev.EndRun:
        last += c.svarint();
        c.varint();
        break;
      case Ev.BlockRun:
        if (c.varint() >= sites.length) place(thread, Infinity);
        last += c.svarint();
        c.varint();
        break;
      case Ev.BlockWoken: case Ev.GBlock: case Ev.CallBegin:
        if (!woke && type === Ev.BlockWoken) {
          throw new Damaged("a goroutine is run as the one woken, but none was");
        }
        if (c.varint() >= sites.length) place(thread, Infinity);
        break;
      case Ev.YieldWoken: case Ev.EndWoken:
        if (!woke) throw new Damaged("a goroutine is run as the one woken, but none was");
        break;
      case Ev.ProcStop: case Ev.GYield: case Ev.GPreempt: case Ev.GEnd: case Ev.GRequeue:
      case Ev.CallEnd: case Ev.StopEnd:
        break;
      default:
        last = scanRare(c, type, last, thread, scan, world, generation);
    }
  }
  if (n !== chunk.events) {
    throw new Damaged(`a chunk of thread ${thread.number} has ${n} events, its header says ${chunk.events}`);
  }
  scan.spans += spans;
  thread.events += n;
}

function scanRare(c: Cursor, type: number, last: number, thread: ThreadScan, scan: Scan,
                  world: World, generation: number): number {
  switch (type) {
    case Ev.DefSite: {
      const reason = c.varint(), n = c.varint(), pcs: number[] = [];
      for (let i = 0; i < n; i++) pcs.push(c.varint());
      thread.sites.push(world.places.add(reason, pcs));
      break;
    }
    case Ev.DefString:
      thread.strings.push(world.strings.add(c.string()));
      break;
    case Ev.ThreadFirst: {
      const p = c.varint() - 1, acq = c.varint();
      last += c.svarint();
      const flags = c.varint();
      if (thread.first) throw new Damaged(`thread ${thread.number} has two first events`);
      checkP(p);
      thread.first = { p, acq, g: last === 0 ? -1 : world.g.add(last), inCall: (flags & 1) !== 0 };
      break;
    }
    case Ev.GFirst: {
      last += c.svarint();
      checkId(last);
      const g = world.g.add(last), state = c.varint(), reason = c.varint(), parent = c.varint();
      if (state > 5) throw new Damaged(`goroutine ${last} is in state ${state}, which there is not`);
      if (world.g.seen[g] === generation) throw new Damaged(`goroutine ${last} has two first events`);
      world.g.seen[g] = generation;
      world.g.parent[g] = parent;
      world.g.fn[g] = place(thread, c.varint());
      world.g.site[g] = place(thread, c.varint());
      scan.firsts.push({ g, state, reason });
      break;
    }
    case Ev.GName:
      last += c.svarint();
      checkName(thread, c.varint());
      break;
    case Ev.ProcStart: {
      const p = c.varint(), acq = c.varint();
      checkP(p);
      const low = scan.lowest.get(p);
      if (low === undefined || acq < low) scan.lowest.set(p, acq);
      break;
    }
    case Ev.ProcSteal: {
      const p = c.varint();
      checkP(p);
      const acq = c.varint(), from = c.varint(), events = c.varint();
      scan.stolen.push([p, acq, from]);
      if (!scan.thefts.get(from)?.push(events)) scan.thefts.set(from, [events]);
      break;
    }
    case Ev.GCreate: {
      last += c.svarint();
      checkId(last);
      const g = world.g.add(last);
      if (world.g.seen[g] !== 0) throw new Damaged(`goroutine ${last} is created twice`);
      world.g.seen[g] = generation;
      world.g.fn[g] = place(thread, c.varint());
      world.g.site[g] = place(thread, c.varint());
      break;
    }
    case Ev.StopBegin: case Ev.RegionBegin: case Ev.RegionEnd:
      checkName(thread, c.varint());
      break;
    case Ev.TaskBegin:
      c.varint();
      c.varint();
      checkName(thread, c.varint());
      break;
    case Ev.TaskEnd:
      c.varint();
      break;
    case Ev.Log:
      c.varint();
      checkName(thread, c.varint());
      c.string();
      break;
    default:
      throw new Damaged(`there is an event of type ${type}, which version 1 does not have`);
  }
  return last;
}

function checkP(p: number): void {
  if (p > 65533) throw new Damaged(`there is a P ${p}`);
}

function checkId(id: number): void {
  if (!(id > 0 && id <= Number.MAX_SAFE_INTEGER)) throw new Damaged("a goroutine has no proper id");
}
