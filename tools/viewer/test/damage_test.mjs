// Damaged and foreign files: each gets a sentence, or is shown without its damaged generation;
// nothing else is ever thrown. And an order that does not exist is refused.
import assert from "node:assert/strict";
import test from "node:test";
import { reader } from "./bundle.mjs";
import { Bytes, chunk, fileHeader, Trace } from "./trace.mjs";
import { server } from "./server.mjs";
import { pairs, random, small, spoiled } from "./workload.mjs";

const { readTrace, Damaged } = await reader();

// The sentence of a refusal; "" if the file was read.
function refusal(bytes) {
  try {
    readTrace(new Uint8Array(bytes));
    return "";
  } catch (e) {
    assert.ok(e instanceof Damaged, String(e.stack));
    assert.match(e.message, /\.$/);
    return e.message;
  }
}

test("headers that are wrong are named", () => {
  assert.match(refusal(Buffer.alloc(0)), /empty/);
  assert.match(refusal(Buffer.from("VOLE")), /header/);
  assert.match(refusal(Buffer.from("#!/bin/sh\n")), /not a vole trace/);
  assert.match(refusal(fileHeader({ major: 2 })), /version 2/);
  assert.match(refusal(fileHeader({ magic: "VOLERNG\n" })), /recover/);
  assert.match(refusal(fileHeader()), /no events/);
});

test("a file cut anywhere is refused or shown in part", () => {
  const all = small().file();
  for (let n = 0; n < all.length; n += 7) refusal(all.subarray(0, n));
});

test("a flipped bit anywhere is noticed or harmless", () => {
  const all = small().file();
  for (let i = 0; i < all.length; i++) {
    const b = Buffer.from(all);
    b[i] ^= 1 << i % 8;
    refusal(b);
  }
});

// With checksums that are right, so that the damage reaches the events.
test("damaged events with right checksums are refused or read, never worse", () => {
  const rnd = random(3), some = server({ ms: 1, generation: 2e5 }).trace.file();
  for (const [all, rounds] of [[small().file(), 3000], [some, 400]]) {
    for (let round = 0; round < rounds; round++) refusal(spoiled(all, rnd));
  }
});

test("lost events: the generation is left out and the number is said", () => {
  const t = new Trace();
  for (const lost of [0, 17]) {
    t.begin(t.generation * 1000);
    t.on(1).event(3, t.generation * 1000).v(0).v(0).g(0).v(0);
    t.end(t.generation * 1000 + 900, { lost });
  }
  const m = readTrace(new Uint8Array(t.file()));
  assert.match(m.notes.join(), /Generation 2 is left out: 17 events were lost/);
  assert.equal(m.gaps.length, 1);
});

test("a generation that lacks an event is refused", () => {
  const t = small();
  t.parts = t.parts.slice();
  assert.equal(refusal(t.file()), "");
  const lie = new Trace();
  lie.begin(0);
  lie.on(1).event(3, 0).v(0).v(0).g(0).v(0);
  lie.end(100, { lie: 1 });
  assert.match(refusal(lie.file()), /has 1 events, the end says 2/);
});

// One thread's events; P 0 is held.
function broken(write) {
  const t = new Trace({ ps: 1 });
  t.begin(0);
  const s = t.on(1);
  s.event(3, 0).v(1).v(1).g(0).v(0);
  s.fn = s.site(0, 0, [4096]);
  write(s, t);
  t.end(1000);
  return refusal(t.file());
}

test("an order that does not exist is refused", () => {
  assert.equal(broken((s) => s.event(9, 1).g(5).v(s.fn).v(0)), "");
  assert.match(broken((s) => s.event(11, 1).g(5).n(1)), /never introduced/);
  assert.match(broken((s) => { s.event(9, 1).g(5).v(s.fn).v(0); s.event(11, 2).g(5).n(3); }), /no order/);
  assert.match(broken((s) => { s.event(9, 1).g(5).v(s.fn).v(0); s.event(10, 2).g(5).n(2); }), /no order/);
  assert.match(broken((s) => s.event(15, 1)), /does not run/);
  assert.match(broken((s) => s.event(6, 1).v(0).v(2)), /no order/);
  assert.match(broken((s) => { s.event(7, 1); s.event(6, 2).v(0).v(3); }), /no order/);
  assert.match(broken((s) => { s.event(9, 1).g(5).v(s.fn).v(0); s.event(9, 2).g(5).v(s.fn).v(0); }), /created twice/);
  assert.match(broken((s) => s.event(99, 1)), /type 99/);
  assert.match(broken((s) => s.event(12, 1).v(9)), /never defined/);
});

test("a trace with one event dropped is rejected", () => {
  // An unblock is left out, and the counts are as if it had never been.
  const t = new Trace({ ps: 1 });
  t.begin(0);
  const s = t.on(1);
  s.event(3, 0).v(1).v(1).g(0).v(0);
  const fn = s.site(0, 0, [4096]), wait = s.site(0, 1, [8192]);
  s.event(9, 1).g(5).v(fn).v(0);
  s.event(11, 2).g(5).n(2);
  s.event(12, 3).v(wait);
  s.event(11, 5).g(5).n(4);
  t.end(1000);
  assert.match(refusal(t.file()), /no order/);
});

test("a last generation without an end goes as far as it goes", () => {
  const t = new Trace({ ps: 1 });
  t.begin(0);
  const s = t.on(1);
  s.event(3, 0).v(1).v(1).g(0).v(0);
  const fn = s.site(0, 0, [4096]);
  s.event(9, 1).g(5).v(fn).v(0);
  t.end(1000, { without: true });
  assert.match(refusal(t.file()), /end is missing/);
  assert.equal(readTrace(new Uint8Array(t.file({ flags: 2 }))).goroutines, 1);
});

test("unknown chunks are passed over", () => {
  const t = small();
  t.parts.push(...chunk(99, 1, 0, 0, 0, 0, 0, new Bytes().string("later").done()));
  assert.deepEqual(readTrace(new Uint8Array(t.file({ minor: 3 }))).notes, []);
});

test("a damaged generation among others is left out", () => {
  const t = pairs({ events: 9000, generationEvents: 3000 }), b = t.file();
  const at = b.indexOf("CHNK", Math.floor(b.length / 2)) - 40;
  b[at] ^= 255;
  const m = readTrace(new Uint8Array(b));
  assert.equal(m.notes.length, 1);
  assert.match(m.notes[0], /Generation \d is left out: .*checksum/);
  assert.ok(m.events > 3000);
});
