// The file as chunks, sorted into generations; and the chunks that are not events.
// See docs/trace-format.md, "File" and "Chunk".
//
// Law    what stands in a header is believed only after it was compared with the file's size and
//        the checksum. A broken generation is left out with a sentence; the others are shown.
// Proof  test/reader_test.mjs
import { Cursor, Damaged, crc32 } from "./bytes";

export const enum Kind { Begin = 1, End, Events, Listing, Modules, Symbols, Reasons }

export interface Chunk {
  from: number;
  to: number;
  thread: number;
  number: number;
  before: number;
  ticks: bigint;
  events: number;
}

export interface Generation {
  number: number;
  begin?: { ticks: bigint; mono: bigint; wall: bigint; perSecond: number; ps: number; pid: number };
  end?: { ticks: bigint; mono: bigint; lost: number; threads: Map<number, [number, number]> };
  threads: Map<number, Chunk[]>;
  listings: Chunk[];
  trouble: string;
}

export interface Frame { fn: string; file: string; line: number }
export interface Module { path: string; bias: number; from: number; to: number; build: string }

export interface TraceFile {
  bytes: Uint8Array;
  recovered: boolean;
  unfinished: boolean;
  generations: Generation[];
  modules: Module[];
  symbols: Map<number, Frame[]>;
  reasons: string[];
  notes: string[];
}

const kHeader = 48;

function text(b: Uint8Array, from: number, n: number): string {
  return String.fromCharCode(...b.subarray(from, from + n));
}

function checkHeader(b: Uint8Array, v: DataView): void {
  if (b.length === 0) throw new Damaged("The file is empty.");
  const magic = text(b, 0, Math.min(8, b.length));
  if (magic === "VOLERNG\n") {
    throw new Damaged("This is a flight recorder's ring, not a trace. " +
      "`vole trace recover RING -o FILE` makes a trace of it.");
  }
  if (magic !== "VOLETRC\n".slice(0, b.length)) {
    throw new Damaged("This is not a vole trace: it does not begin with VOLETRC.");
  }
  if (b.length < 32) throw new Damaged("The file ends within its header.");
  const major = v.getUint16(8, true);
  if (major !== 1) {
    throw new Damaged(`The trace has format version ${major}; this page reads version 1.`);
  }
}

export function readFile(bytes: Uint8Array): TraceFile {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  checkHeader(bytes, view);
  const flags = view.getUint32(12, true);
  const file: TraceFile = {
    bytes, recovered: (flags & 1) !== 0, unfinished: (flags & 2) !== 0,
    generations: [], modules: [], symbols: new Map(), reasons: [], notes: [],
  };
  const byNumber = new Map<number, Generation>();
  let p = 32;
  while (p < bytes.length) {
    if (bytes.length - p < kHeader || text(bytes, p, 4) !== "CHNK") {
      file.notes.push(bytes.length - p < kHeader ? "The file is cut off: it ends within a chunk."
        : `The file is damaged: there is no chunk at byte ${p}. What follows is left out.`);
      break;
    }
    const from = p + kHeader;
    const to = from + view.getUint32(p + 4, true);
    if (to > bytes.length) {
      file.notes.push("The file is cut off: it ends within a chunk.");
      break;
    }
    readChunk(file, byNumber, view, p, from, to);
    p = to;
  }
  file.generations = [...byNumber.values()].sort((a, b) => a.number - b.number);
  return file;
}

function readChunk(file: TraceFile, byNumber: Map<number, Generation>, view: DataView, p: number,
                   from: number, to: number): void {
  const kind = view.getUint16(p + 16, true);
  if (kind < Kind.Begin || kind > Kind.Reasons) return;
  const number = view.getUint32(p + 8, true);
  const bad = crc32(file.bytes, from, to) !== view.getUint32(p + 44, true);
  const c = new Cursor(file.bytes, from, to);
  if (kind >= Kind.Modules) {
    if (bad) file.notes.push("A chunk of names has a wrong checksum and is left out.");
    else readNames(file, kind, c);
    return;
  }
  let g = byNumber.get(number);
  if (!g) {
    g = { number, threads: new Map(), listings: [], trouble: "" };
    byNumber.set(number, g);
  }
  if (bad) {
    g.trouble ||= `a chunk at byte ${p} has a wrong checksum`;
    return;
  }
  try {
    readPart(g, kind, c, {
      from, to, thread: view.getUint32(p + 12, true), number: view.getUint32(p + 20, true),
      before: Number(view.getBigUint64(p + 24, true)), ticks: view.getBigUint64(p + 32, true),
      events: view.getUint32(p + 40, true),
    });
  } catch (e) {
    if (!(e instanceof Damaged)) throw e;
    g.trouble ||= e.message;
  }
}

function readPart(g: Generation, kind: Kind, c: Cursor, chunk: Chunk): void {
  if (kind === Kind.Begin) {
    g.begin = {
      ticks: c.bigVarint(), mono: c.bigVarint(), wall: c.bigVarint(), perSecond: c.varint(),
      ps: c.varint(), pid: c.varint(),
    };
  } else if (kind === Kind.End) {
    const ticks = c.bigVarint(), mono = c.bigVarint(), lost = c.varint(), n = c.varint();
    const threads = new Map<number, [number, number]>();
    for (let i = 0; i < n; i++) threads.set(c.varint(), [c.varint(), c.varint()]);
    g.end = { ticks, mono, lost, threads };
  } else if (kind === Kind.Listing) {
    g.listings.push(chunk);
  } else {
    const list = g.threads.get(chunk.thread);
    if (list) list.push(chunk);
    else g.threads.set(chunk.thread, [chunk]);
  }
}

function readNames(file: TraceFile, kind: Kind, c: Cursor): void {
  try {
    const n = c.varint();
    for (let i = 0; i < n; i++) {
      if (kind === Kind.Reasons) file.reasons.push(c.string());
      else if (kind === Kind.Modules) {
        file.modules.push({
          path: c.string(), bias: c.varint(), from: c.varint(), to: c.varint(), build: c.string(),
        });
      } else {
        const pc = c.varint(), k = c.varint(), frames: Frame[] = [];
        for (let j = 0; j < k; j++) {
          frames.push({ fn: c.string(), file: c.string(), line: c.varint() });
        }
        file.symbols.set(pc, frames);
      }
    }
  } catch (e) {
    if (!(e instanceof Damaged)) throw e;
    file.notes.push("A chunk of names is damaged; some names are missing.");
  }
}

// Is all there that `end` promises? Otherwise why not.
export function completeness(g: Generation, mayLackEnd: boolean): string {
  if (g.trouble) return g.trouble;
  if (!g.begin) return "its begin is missing";
  for (const [thread, chunks] of g.threads) {
    let before = 0;
    for (let i = 0; i < chunks.length; i++) {
      if (chunks[i].number !== i) return `chunk ${i} of thread ${thread} is missing`;
      if (chunks[i].before !== before) return `events of thread ${thread} are missing`;
      before += chunks[i].events;
    }
    const promised = g.end?.threads.get(thread);
    if (g.end && (!promised || promised[0] !== before || promised[1] !== chunks.length)) {
      return `thread ${thread} has ${before} events, the end says ${promised?.[0] ?? 0}`;
    }
  }
  if (!g.end) return mayLackEnd ? "" : "its end is missing";
  if (g.end.lost) return `${g.end.lost} events were lost`;
  for (const [thread, [events]] of g.end.threads) {
    if (events && !g.threads.has(thread)) return `the events of thread ${thread} are missing`;
  }
  return "";
}
