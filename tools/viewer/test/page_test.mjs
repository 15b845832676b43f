// The page in a real Chromium: load, zoom, search, table, narrow window, dark, foreign files.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { reader } from "./bundle.mjs";
import { browserTests, frame, searched, searches, spot } from "./pages.mjs";
import { server } from "./server.mjs";
import { many, pairs, random, small, spoiled } from "./workload.mjs";

const { readTrace, spanEnd } = await reader();
const { inPage, put, dir, skip, browser } = browserTests();
const files = {
  small: put("small.trace", small().file()),
  pairs: put("pairs.trace", pairs({ events: 60000 }).file()),
  many: put("many.trace", many({ goroutines: 100000 }).file()),
  server: put("server.trace", server({ ms: 20 }).trace.file()),
};

for (const renderer of ["webgl2", "canvas"]) {
  inPage(`${renderer}: as many rectangles as the reader has spans`, files.small, { query: renderer === "canvas" ? "?renderer=canvas" : "" }, async (page) => {
    await frame(page);
    const seen = await page.evaluate(() => {
      const { tl } = window.vole, spans = [...tl.list.spans.subarray(0, tl.list.n)].filter((s) => s >= 0);
      return { name: tl.renderer.name, n: spans.length, each: new Set(spans).size, blank: tl.list.n === 0 };
    });
    const m = readTrace(small().file());
    assert.equal(seen.name, renderer);
    // Each span is in its goroutine's row, and those that ran in a P's or a thread's besides.
    assert.equal(seen.n, m.n + m.pIndex.length + m.tIndex.length);
    assert.equal(seen.each, m.n);
  });
}

// Every slice of a visible row that is two pixels wide or more is a rectangle of its own, wherever
// one looks, and no other slice is.
inPage("in any view the rectangles are the reader's spans", files.server, {}, async (page) => {
  const m = readTrace(server({ ms: 20 }).trace.file()), rnd = random(3);
  let wide = 0;
  for (let k = 0; k < 25; k++) {
    const length = m.duration / 10 ** (1 + 2 * rnd()), t0 = rnd() * (m.duration - length), top = rnd() * 500;
    const seen = await page.evaluate(async ([t0, t1, top]) => {
      const v = window.vole;
      v.top = top;
      v.tl.show(t0, t1);
      await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
      const { list } = v.tl, drawn = [];
      for (let i = 0; i < list.n; i++) if (list.spans[i] >= 0) drawn.push([list.spans[i], Math.round((list.floats[i * 5 + 1] + list.floats[i * 5 + 3]) / 2)]);
      const rows = [...v.rows.kind].map((kind, r) => [kind, v.rows.ref[r], v.rows.y[r] - v.top + v.tl.ruler, v.rows.y[r + 1] - v.top + v.tl.ruler]);
      return { drawn, rows, height: v.tl.height + v.tl.ruler, ruler: v.tl.ruler, t0: v.t0, perPixel: v.perPixel, width: v.tl.width };
    }, [t0, t0 + length, top]);
    const t1 = seen.t0 + seen.perPixel * seen.width, want = new Set(), allowed = new Set();
    for (const [kind, ref, y, bottom] of seen.rows) {
      if (y >= seen.height || bottom <= seen.ruler || ![1, 6].includes(kind)) continue;
      const list = kind === 1 ? m.pIndex.subarray(m.pFirst[ref], m.pFirst[ref + 1])
        : Uint32Array.from({ length: m.first[ref + 1] - m.first[ref] }, (_, i) => m.first[ref] + i);
      for (const i of list) {
        if (m.start[i] >= t1 || spanEnd(m, i) <= seen.t0) continue;
        allowed.add(`${kind} ${i}`);
        if (spanEnd(m, i) - m.start[i] >= 2 * seen.perPixel) want.add(`${kind} ${i}`);
      }
    }
    const have = new Set(seen.drawn.map(([i, y]) => {
      const row = seen.rows.findLastIndex(([, , top]) => top <= y);
      return `${seen.rows[row][0]} ${i}`;
    }));
    for (const x of want) assert.ok(have.has(x), `view ${k}: span ${x} is missing`);
    for (const x of have) assert.ok(allowed.has(x), `view ${k}: span ${x} should not be there`);
    wide += want.size;
  }
  assert.ok(wide > 500, `${wide} wide slices`);
});

inPage("what is drawn is on the screen", files.small, {}, async (page) => {
  await frame(page);
  const [x, y] = await spot(page, 2, 1);
  const shot = await page.screenshot({ clip: { x: x - 3, y: y - 3, width: 6, height: 6 } });
  const other = await page.screenshot({ clip: { x: x - 3, y: 745, width: 6, height: 6 } });
  assert.notDeepEqual(shot, other);
});

inPage("a click shows the goroutine, who woke it and why it waited", files.small, {}, async (page) => {
  await frame(page);
  await page.mouse.click(...(await spot(page, 3, 2)));
  const text = await page.locator("#panel").innerText();
  for (const part of ["G 3", "consume", "chan receive", "4.00 µs", "G 2 “the producer”", "demo.cc:22", "all 2 frames", "demo.cc:44"]) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  await page.locator("#panel button", { hasText: "G 2" }).first().click();
  assert.match(await page.locator("#panel h2").innerText(), /G 2/);
});

inPage("hovering says what, how long and why it ended", files.small, {}, async (page) => {
  await frame(page);
  await page.mouse.move(...(await spot(page, 3, 2)));
  const text = await page.locator("#tip").innerText();
  assert.match(text, /waiting: chan receive, 4\.00 µs/);
  assert.match(text, /until it was woken/);
});

inPage("zooming and panning by keys, wheel and drag", files.pairs, {}, async (page) => {
  const range = () => page.evaluate(() => [window.vole.t0, window.vole.perPixel]);
  const [, all] = await range();
  await page.locator("#stage").focus();
  for (const k of ["w", "w", "w", "w"]) await page.keyboard.press(k);
  const [t1, near] = await range();
  assert.ok(near < all / 3);
  await page.keyboard.press("d");
  assert.ok((await range())[0] > t1);
  await page.mouse.move(700, 400);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await page.waitForFunction((p) => window.vole.perPixel < p, near);
  const [t2] = await range();
  await page.mouse.move(700, 400);
  await page.mouse.down();
  await page.mouse.move(600, 400, { steps: 4 });
  await page.mouse.up();
  assert.ok((await range())[0] > t2);
  await page.keyboard.press("0");
  assert.ok(Math.abs((await range())[1] / all - 1) < 0.05);
});

inPage("zoomed out there is a bounded number of rectangles, zoomed in each span", files.pairs, {}, async (page) => {
  await frame(page);
  const n = () => page.evaluate(() => window.vole.tl.list.n);
  assert.ok((await n()) < 40 * 2600);
  const exact = await page.evaluate(async () => {
    const v = window.vole, m = v.m, t = m.start[m.pIndex[500]];
    v.tl.show(t, t + 4000);
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    const { spans, n } = v.tl.list, seen = new Set([...spans.subarray(0, n)].filter((s) => s >= 0));
    let want = 0, have = 0;
    for (let k = m.pFirst[0]; k < m.pFirst[1]; k++) {
      const i = m.pIndex[k], end = m.start[i + 1] ?? m.duration;
      if (m.start[i] < v.t0 + v.perPixel * v.tl.width && end > v.t0 && end - m.start[i] > 2 * v.perPixel) {
        want++;
        if (seen.has(i)) have++;
      }
    }
    return [want, have];
  });
  assert.ok(exact[0] > 3);
  assert.equal(exact[1], exact[0]);
});

inPage("search and filters count what the reader counts, and are in the address", files.pairs, {}, async (page) => {
  const m = readTrace(pairs({ events: 60000 }).file());
  let want = 0;
  for (let i = 0; i < m.n; i++) if ((m.kind[i] & 15) === 2 && m.functions.name[m.fn[m.g[i]]].startsWith("consume") && spanEnd(m, i) - m.start[i] > 5000) want++;
  let n = await searches(page);
  await page.keyboard.press("/");
  await page.keyboard.type("consume");
  await page.locator("#longer").fill("5us");
  await page.locator("#reason").selectOption({ label: "waiting: chan receive" });
  await page.waitForFunction((w) => document.getElementById("hits").textContent.replace(/\D/g, "") === w, String(want));
  await page.waitForFunction(() => location.hash.includes("longer=5us"));
  assert.match(page.url(), /q=consume/);
  assert.ok(await page.evaluate(() => window.vole.rows.kind.filter((k) => k === 5).length) === 1);
  await page.locator("#q").press("Enter");
  await page.waitForFunction(() => window.vole.chosen >= 0);
  assert.match(await page.locator("#panel").innerText(), /consume/);
  const address = page.url();
  await page.reload();
  await page.goto(address);
  await page.setInputFiles("#file", files.pairs);
  await page.waitForFunction((w) => document.getElementById("hits").textContent.replace(/\D/g, "") === w, String(want));
  n = await searches(page);
  await page.locator("#longer").fill("soon");
  await searched(page, n);
  assert.match(await page.locator("#hits").innerText(), /250us/);
});

inPage("by keyboard alone: choose, step, go to the waker, help", files.small, {}, async (page) => {
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#panel h2").innerText(), /^G /);
  const chosen = () => page.evaluate(() => window.vole.chosen);
  const a = await chosen();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await chosen(), a);
  await page.keyboard.press("ArrowDown");
  assert.ok((await chosen()) >= 0);
  await page.evaluate(() => { const v = window.vole, g = v.m.id.indexOf(3); v.chosenRow = -1; v.choose(v.m.first[g] + 2, true); });
  await page.keyboard.press("b");
  assert.match(await page.locator("#panel h2").innerText(), /G 2/);
  await page.keyboard.press("m");
  assert.match(await page.locator("#panel").innerText(), /chosen/);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible());
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  assert.ok(await page.locator("#functions table").isVisible());
  assert.ok(!(await page.locator("#stage").isVisible()));
  await page.keyboard.press("3");
  assert.ok(await page.locator("#latency svg").first().isVisible());
});

inPage("the table sorts and leads to the timeline", files.pairs, { hash: "#tab=functions" }, async (page) => {
  const first = () => page.locator("#functions tbody tr td").first().innerText();
  await page.locator("#functions th button", { hasText: "Function" }).click();
  const a = await first();
  await page.locator("#functions th button", { hasText: "Function" }).click();
  assert.notEqual(await first(), a);
  await page.locator("#functions tbody button").first().click();
  assert.ok(await page.locator("#stage").isVisible());
});

inPage("an area is added up", files.small, {}, async (page) => {
  await frame(page);
  const text = await page.evaluate(() => {
    window.vole.chooseArea({ t0: 6000, t1: 10000, y0: 0, y1: Infinity });
    return document.getElementById("panel").innerText;
  });
  assert.match(text, /4\.00 µs chosen/);
  assert.match(text, /running\s+4\.00 µs/);      // goroutine 2 on P 0 all the time
  assert.match(text, /waiting\s+12\.0 µs/);      // 1, 3 and 9
  const box = await page.locator("#stage").boundingBox();
  await page.mouse.move(box.x + 400, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 10, { steps: 3 });
  await page.mouse.up();
  assert.match(await page.locator("#panel h2").innerText(), /chosen/);
});

inPage("a hundred thousand goroutines can be expanded and scrolled", files.many, {}, async (page) => {
  const rows = await page.evaluate(async () => {
    const v = window.vole;
    v.m.functions.name.forEach((_, f) => v.open.add(f));
    v.relayout();
    v.tl.scroll(1e9);
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    return [v.rows.n, document.querySelectorAll("#labels button:not([hidden])").length];
  });
  assert.ok(rows[0] > 100000);
  assert.ok(rows[1] > 5 && rows[1] < 100);
});

inPage("a narrow window", files.small, { viewport: { width: 380, height: 700 } }, async (page) => {
  await frame(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.mouse.click(...(await spot(page, 3, 2)));
  const panel = await page.locator("#panel").boundingBox();
  assert.ok(panel.width > 300 && panel.y > 300);
  assert.match(await page.locator("#panel").innerText(), /chan receive/);
});

inPage("dark", files.small, { colorScheme: "dark" }, async (page) => {
  const dark = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
  assert.deepEqual(await dark(), ["dark", "rgb(20, 24, 29)"]);
  await page.locator("#theme").click();
  assert.equal((await dark())[0], "light");
});

const vole = process.env.VOLE_COMMAND;
const noCommand = skip || (vole && existsSync(vole) ? false : "the command was not built");

test("the page that the command writes has the trace in it", { skip: noCommand }, async () => {
  const out = join(dir, "page.html");
  assert.equal(spawnSync(vole, ["trace", "view", files.small, "-o", out]).status, 0);
  const page = await browser().context.newPage();
  await page.goto(pathToFileURL(out).href);
  await page.waitForSelector('html[data-state="open"]', { state: "attached" });
  assert.equal(await page.evaluate(() => window.vole.m.goroutines), 4);
  assert.equal(await page.title(), "small.trace · vole trace");
  await page.close();
});

test("the page that the command serves fetches the trace", { skip: noCommand }, async () => {
  const server = spawn(vole, ["trace", "view", "--no-open", files.small], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [first] = await once(server.stdout, "data");
    const page = await browser().context.newPage();
    await page.goto(String(first).split("\n")[0]);
    await page.waitForSelector('html[data-state="open"]', { state: "attached" });
    assert.equal(await page.evaluate(() => window.vole.m.goroutines), 4);
    await page.close();
  } finally {
    server.kill();
  }
});

const damaged = {
  "an empty file": [Buffer.alloc(0), /empty/],
  "a foreign file": [Buffer.from("%PDF-1.7 and so on and so forth, more than a header's worth"), /not a vole trace/],
  "half a file": [small().file().subarray(0, 400), /cut off|missing/],
  "a flipped byte": [(() => { const b = Buffer.from(small().file()); b[82] ^= 64; return b; })(), /checksum/],
};
for (const [what, [bytes, sentence]] of Object.entries(damaged)) {
  inPage(`${what} is refused with a sentence`, put(what.replace(/\W/g, "_"), bytes), {}, async (page) => {
    assert.match(await page.locator("#state").innerText(), sentence);
  });
}

inPage("a damaged generation is left out with a sentence, the others are shown", (() => {
  const b = Buffer.from(server({ ms: 9, generation: 3e6 }).trace.file());
  for (let p = 32; p < b.length; p += 48 + b.readUInt32LE(p + 4)) {
    if (b.readUInt16LE(p + 16) === 3 && b.readUInt32LE(p + 8) === 2) { b[p + 60] ^= 1; break; }
  }
  return put("middle.trace", b);
})(), {}, async (page) => {
  assert.match(await page.locator("#notice").innerText(), /Generation 2 is left out: a chunk at byte \d+ has a wrong checksum/);
  assert.ok(await page.locator("#stage").isVisible());
  assert.equal(await page.evaluate(() => window.vole.m.gaps.length), 1);
});

// Every file is opened or refused with a sentence; the page goes on either way.
inPage("spoiled files one after the other in one page", files.small, {}, async (page) => {
  const rnd = random(17), all = small().file();
  for (let k = 0; k < 15; k++) {
    await page.evaluate(() => { delete document.documentElement.dataset.state; });
    await page.setInputFiles("#file", { name: "spoiled.trace", mimeType: "application/octet-stream", buffer: spoiled(all, rnd) });
    await page.waitForSelector('html[data-state="open"], html[data-state="refused"]', { state: "attached" });
    const notice = await page.locator("#notice").textContent();
    assert.doesNotMatch(notice, /This page made a mistake/);
  }
});

inPage("a name that looks like markup stays text", put("evil.trace", small({ name: "<img src=x onerror=alert(1)>" }).file()), {}, async (page) => {
  await frame(page);
  await page.mouse.click(...(await spot(page, 2, 1)));
  assert.match(await page.locator("#panel h2").innerText(), /<img src=x/);
  assert.equal(await page.locator("img").count(), 0);
});
