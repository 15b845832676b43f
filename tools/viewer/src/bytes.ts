// Bytes of a trace: varints, strings, checksums. See docs/trace-format.md, "Numbers".
//
// Law    every read is checked against `end`; what goes beyond is a `Damaged`.
// Proof  test/reader_test.mjs

// The file cannot be read, and why: a sentence for the reader of the page.
export class Damaged extends Error {}

const utf8 = new TextDecoder();

export class Cursor {
  constructor(readonly bytes: Uint8Array, public pos = 0, public end = bytes.length) {}

  byte(): number {
    if (this.pos >= this.end) throw new Damaged("a chunk ends in the middle of an event");
    return this.bytes[this.pos++];
  }

  // As a number: exact up to 2^53, which is enough for all but absolute ticks.
  varint(): number {
    const b = this.bytes;
    let p = this.pos;
    if (p >= this.end) throw new Damaged("a chunk ends in the middle of an event");
    let x = b[p++];
    if (x >= 0x80) {
      x &= 0x7f;
      let shift = 7;
      for (;;) {
        if (p >= this.end) throw new Damaged("a chunk ends in the middle of a number");
        const c = b[p++];
        if (shift < 28) x |= (c & 0x7f) << shift;
        else x += (c & 0x7f) * 2 ** shift;
        if (c < 0x80) break;
        shift += 7;
        if (shift >= 70) throw new Damaged("a number has more than ten bytes");
      }
    }
    this.pos = p;
    return x;
  }

  svarint(): number {
    const x = this.varint();
    if (x < 0x80000000) return (x >>> 1) ^ -(x & 1);
    return x % 2 === 0 ? x / 2 : -(x + 1) / 2;
  }

  bigVarint(): bigint {
    let x = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const c = this.byte();
      x |= BigInt(c & 0x7f) << shift;
      if (c < 0x80) return x;
    }
    throw new Damaged("a number has more than ten bytes");
  }

  string(): string {
    const n = this.varint();
    if (n > this.end - this.pos) throw new Damaged("a string is longer than its chunk");
    const s = utf8.decode(this.bytes.subarray(this.pos, this.pos + n));
    this.pos += n;
    return s;
  }
}

// CRC-32 of zlib and PNG, eight bytes at a time.
const crcTables = (() => {
  const t = new Uint32Array(8 * 256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    t[n] = c >>> 0;
  }
  for (let n = 0; n < 256; n++) {
    for (let k = 1; k < 8; k++) {
      const c = t[(k - 1) * 256 + n];
      t[k * 256 + n] = (t[c & 0xff] ^ (c >>> 8)) >>> 0;
    }
  }
  return t;
})();

export function crc32(b: Uint8Array, from: number, to: number): number {
  const t = crcTables;
  let c = -1;
  let p = from;
  for (; p + 8 <= to; p += 8) {
    c ^= b[p] | (b[p + 1] << 8) | (b[p + 2] << 16) | (b[p + 3] << 24);
    c = t[1792 + (c & 0xff)] ^ t[1536 + ((c >>> 8) & 0xff)] ^
        t[1280 + ((c >>> 16) & 0xff)] ^ t[1024 + (c >>> 24)] ^
        t[768 + b[p + 4]] ^ t[512 + b[p + 5]] ^ t[256 + b[p + 6]] ^ t[b[p + 7]];
  }
  for (; p < to; p++) c = t[(c ^ b[p]) & 0xff] ^ (c >>> 8);
  return (c ^ -1) >>> 0;
}
