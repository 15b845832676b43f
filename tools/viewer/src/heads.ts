// The threads of a generation, each at its next event, and which of them comes first.
import { Cursor } from "./bytes";
import { Chunk } from "./chunks";
import { ThreadScan } from "./scan";

export const enum Wait { None, Goroutine, P, Progress, Theft }

export class Head {
  readonly cursor: Cursor;
  chunk = -1;
  time = 0;      // ticks since the generation's begin
  type = 0;
  lastG = 0;     // id
  lastSeq = 0;
  woken = -1;    // goroutine of the last g_unblock in this chunk
  wokenSeq = 0;
  count = 0;     // events taken
  wait = Wait.None;
  waitFor = 0;
  theftAt = Infinity;  // its P is taken when so many events have come

  constructor(readonly scan: ThreadScan, bytes: Uint8Array, readonly origin: bigint, private thefts: number[]) {
    this.cursor = new Cursor(bytes, 0, 0);
    thefts.sort((a, b) => b - a);
    this.nextTheft();
  }

  nextTheft(): void {
    this.theftAt = this.thefts.pop() ?? Infinity;
  }

  // Goes to the next event. False: there is none.
  advance(): boolean {
    const c = this.cursor;
    while (c.pos >= c.end) {
      if (++this.chunk >= this.scan.chunks.length) return false;
      const chunk: Chunk = this.scan.chunks[this.chunk];
      c.pos = chunk.from;
      c.end = chunk.to;
      this.time = Number(chunk.ticks - this.origin);
      this.lastG = this.lastSeq = 0;
      this.woken = -1;
    }
    this.type = c.bytes[c.pos++];
    this.time += c.varint();
    return true;
  }
}

// By the time of each thread's next event.
export class Heap {
  private list: Head[] = [];

  get size(): number {
    return this.list.length;
  }
  get first(): Head {
    return this.list[0];
  }
  // The first one stands at a later event now.
  firstHasGone(): void {
    this.siftDown(0);
  }
  secondTime(): number {
    const a = this.list;
    const l = a.length > 1 ? a[1].time : Infinity, r = a.length > 2 ? a[2].time : Infinity;
    return l < r ? l : r;
  }

  push(h: Head): void {
    const a = this.list;
    let i = a.push(h) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (a[up].time <= h.time) break;
      a[i] = a[up];
      i = up;
    }
    a[i] = h;
  }

  pop(): void {
    const last = this.list.pop()!;
    if (!this.list.length) return;
    this.list[0] = last;
    this.siftDown(0);
  }

  private siftDown(i: number): void {
    const a = this.list, h = a[i], n = a.length;
    for (;;) {
      let k = 2 * i + 1;
      if (k >= n) break;
      if (k + 1 < n && a[k + 1].time < a[k].time) k++;
      if (a[k].time >= h.time) break;
      a[i] = a[k];
      i = k;
    }
    a[i] = h;
  }
}
