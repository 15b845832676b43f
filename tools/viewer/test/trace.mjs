// Writes traces, from docs/trace-format.md: bytes, chunks, streams of events. Each thread has its
// own clock.

export const kReasons = ["none", "chan receive", "chan send", "sleep", "mutex", "network"];

export class Bytes {
  constructor(size = 256) { this.b = new Uint8Array(size); this.n = 0; }
  room(k) {
    if (this.n + k <= this.b.length) return;
    const b = new Uint8Array(Math.max(this.b.length * 2, this.n + k));
    b.set(this.b.subarray(0, this.n));
    this.b = b;
  }
  byte(x) { this.room(1); this.b[this.n++] = x; return this; }
  varint(x) {
    this.room(10);
    if (typeof x === "bigint") {
      while (x >= 128n) { this.b[this.n++] = Number(x & 127n) | 128; x >>= 7n; }
      this.b[this.n++] = Number(x);
      return this;
    }
    while (x >= 128) { this.b[this.n++] = (x % 128) | 128; x = Math.floor(x / 128); }
    this.b[this.n++] = x;
    return this;
  }
  svarint(x) { return this.varint(x >= 0 ? 2 * x : -2 * x - 1); }
  string(s) { const u = new TextEncoder().encode(s); this.varint(u.length); return this.raw(u); }
  raw(u) { this.room(u.length); this.b.set(u, this.n); this.n += u.length; return this; }
  done() { return this.b.slice(0, this.n); }
}

const kindOf = { begin: 1, end: 2, events: 3, listing: 4, modules: 5, symbols: 6, reasons: 7 };

export function chunk(kind, generation, thread, number, before, ticks, events, payload) {
  const h = Buffer.alloc(48);
  h.write("CHNK", 0, "latin1");
  h.writeUInt32LE(payload.length, 4);
  h.writeUInt32LE(generation, 8);
  h.writeUInt32LE(thread, 12);
  h.writeUInt16LE(kindOf[kind] ?? kind, 16);
  h.writeUInt32LE(number, 20);
  h.writeBigUInt64LE(BigInt(before), 24);
  h.writeBigUInt64LE(BigInt(ticks), 32);
  h.writeUInt32LE(events, 40);
  h.writeUInt32LE(crc32(payload), 44);
  return [h, Buffer.from(payload)];
}

let table;
export function crc32(b) {
  if (!table) {
    table = new Uint32Array(256);
    for (let n = 0; n < 256; n++) {
      let c = n;
      for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
      table[n] = c;
    }
  }
  let c = -1;
  for (let i = 0; i < b.length; i++) c = table[(c ^ b[i]) & 255] ^ (c >>> 8);
  return (c ^ -1) >>> 0;
}

export function fileHeader({ major = 1, minor = 0, flags = 0, magic = "VOLETRC\n" } = {}) {
  const h = Buffer.alloc(32);
  h.write(magic, 0, "latin1");
  h.writeUInt16LE(major, 8);
  h.writeUInt16LE(minor, 10);
  h.writeUInt32LE(flags, 12);
  return h;
}

// One thread's events of one generation.
export class Stream {
  constructor(trace, thread, skew) {
    Object.assign(this, { trace, thread, skew, out: [], before: 0, number: 0, sites: new Map(), strings: new Map() });
    this.open(null);
  }
  open(time) {
    this.buf = new Bytes(70000);
    this.time = time;
    this.start = time;
    this.count = 0;
    this.lastG = this.lastSeq = 0;
    this.unblocked = 0;
  }
  flush() {
    if (!this.count) return;
    const payload = this.buf.done();
    this.out.push(...chunk("events", this.trace.generation, this.thread, this.number++, this.before, this.start, this.count, payload));
    this.before += this.count;
    this.open(null);
  }
  get events() { return this.before + this.count; }
  event(type, time) {
    if (this.buf.n > 65000 && (type < 24 || type > 27)) this.flush();
    const t = Math.max(time + this.skew, this.time ?? 0);
    if (this.time === null) this.start = this.time = t;
    this.buf.byte(type).varint(t - this.time);
    this.time = t;
    this.count++;
    return this;
  }
  v(x) { this.buf.varint(x); return this; }
  n(seq) { this.buf.svarint(seq - this.lastSeq); this.lastSeq = seq; return this; }
  g(id) { this.buf.svarint(id - this.lastG); this.lastG = id; return this; }
  site(time, reason, pcs) {
    const key = reason + ":" + pcs;
    if (!this.sites.has(key)) {
      this.event(1, time).v(reason).v(pcs.length);
      for (const pc of pcs) this.v(pc);
      this.sites.set(key, this.sites.size + 1);
    }
    return this.sites.get(key);
  }
  str(time, s) {
    if (!this.strings.has(s)) {
      this.event(2, time).buf.string(s);
      this.strings.set(s, this.strings.size + 1);
    }
    return this.strings.get(s);
  }
}

// A trace in the making: time in ticks of 1 ns, generations by hand.
export class Trace {
  constructor({ ps = 2, skew = () => 0, perSecond = 1e9, origin = 1_000_000_000 } = {}) {
    Object.assign(this, { ps, skew, perSecond, origin, parts: [], generation: 0, streams: new Map() });
  }
  begin(time) {
    this.generation++;
    this.streams = new Map();
    const b = new Bytes().varint(this.origin + time).varint(5_000_000_000 + time)
      .varint(1_790_000_000_000_000_000n).varint(this.perSecond).varint(this.ps).varint(4242).done();
    this.parts.push(...chunk("begin", this.generation, 0, 0, 0, this.origin + time, 0, b));
  }
  on(thread) {
    let s = this.streams.get(thread);
    if (!s) this.streams.set(thread, (s = new Stream(this, thread, this.origin + this.skew(thread))));
    return s;
  }
  end(time, { lost = 0, without = false, lie = 0 } = {}) {
    const b = new Bytes().varint(this.origin + time).varint(5_000_000_000 + time).varint(lost);
    const used = [...this.streams.values()].filter((s) => s.events > 0);
    b.varint(used.length);
    for (const s of used) {
      s.flush();
      this.parts.push(...s.out);
      b.varint(s.thread).varint(s.before + lie).varint(s.number);
    }
    if (!without) this.parts.push(...chunk("end", this.generation, 0, 0, 0, this.origin + time, 0, b.done()));
  }
  // goroutines: {id, parent, state, reason, fn, site, thread, waited, name}; threads: {number, tid, p, acq, g}
  listing(goroutines, threads) {
    const b = new Bytes().varint(goroutines.length);
    for (const g of goroutines) {
      b.varint(g.id).varint(g.parent ?? 0).varint(g.state).varint(g.reason ?? 0).varint(g.fn ?? 0)
        .varint(g.site ?? 0).varint(g.thread ?? 0).varint(g.waited ?? 0).string(g.name ?? "");
    }
    b.varint(threads.length);
    for (const t of threads) b.varint(t.number).varint(t.tid).varint((t.p ?? -1) + 1).varint(t.acq ?? 0).varint(t.g ?? 0);
    this.parts.push(...chunk("listing", this.generation, 0, 0, 0, 0, 0, b.done()));
  }
  names(symbols) {
    const r = new Bytes().varint(kReasons.length);
    for (const s of kReasons) r.string(s);
    this.parts.push(...chunk("reasons", 0, 0, 0, 0, 0, 0, r.done()));
    const s = new Bytes().varint(symbols.length);
    for (const [pc, frames] of symbols) {
      s.varint(pc).varint(frames.length);
      for (const [fn, file, line] of frames) s.string(fn).string(file).varint(line);
    }
    this.parts.push(...chunk("symbols", 0, 0, 0, 0, 0, 0, s.done()));
  }
  file(options) { return Buffer.concat([fileHeader(options), ...this.parts]); }
}
