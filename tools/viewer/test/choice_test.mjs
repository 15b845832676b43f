// Choosing in the page: waits and their chains, what the Ps did meanwhile, tasks, regions, jumps;
// by pointer, by finger and by keyboard alone.
import assert from "node:assert/strict";
import { reader } from "./bundle.mjs";
import { browserTests, frame, panel, spot } from "./pages.mjs";
import { server } from "./server.mjs";
import { small } from "./workload.mjs";

const { readTrace, explain, meanwhile, spanEnd } = await reader();
const { inPage, put } = browserTests();
const bytes = server({ ms: 20 }).trace.file(), m = readTrace(bytes);
const file = put("server.trace", bytes), tiny = put("small.trace", small().file());
const kRunnable = 0, kWaiting = 2, kMutex = 4;

// The longest span of a state, and of a reason if one is given.
function longest(state, reason) {
  let best = -1;
  for (let i = 0; i + 1 < m.n; i++) {
    if ((m.kind[i] & 15) !== state || m.g[i + 1] !== m.g[i] || (reason !== undefined && m.placeReason[m.arg[i]] !== reason)) continue;
    if (best < 0 || spanEnd(m, i) - m.start[i] > spanEnd(m, best) - m.start[best]) best = i;
  }
  return best;
}
const choose = (page, span) => page.evaluate((i) => { window.vole.chosenRow = -1; window.vole.choose(i, true); window.vole.tl.fitChosen(); }, span);

inPage("a wait is explained: in words, as steps, on the timeline", file, {}, async (page) => {
  const wait = longest(kWaiting, kMutex), { steps } = explain(m, wait);
  assert.ok(steps.length > 3);
  await choose(page, wait);
  const text = await panel(page);
  assert.match(text, /waiting: mutex/);
  assert.match(text, /What it waited for ran for/);
  assert.equal(await page.locator("#panel ol.steps li").count(), Math.min(40, steps.length));
  await frame(page);
  const drawn = await page.evaluate(() => window.vole.chain.steps.map((s) => [s.span, s.from, s.to]));
  assert.deepEqual(drawn, steps.map((s) => [s.span, s.from, s.to]));
});

inPage("those of the chain can be shown alone, and the address keeps it", file, {}, async (page) => {
  const wait = longest(kWaiting, kMutex), chain = new Set([m.g[wait], ...explain(m, wait).steps.map((s) => s.g)].filter((g) => g >= 0));
  await choose(page, wait);
  await page.locator("#panel button[data-only]").click();
  const shown = () => page.evaluate(() => { const v = window.vole; return [...v.rows.kind].flatMap((k, r) => (k === 6 ? [v.rows.ref[r]] : [])); });
  await page.waitForFunction((n) => [...window.vole.rows.kind].filter((k) => k === 6).length === n, chain.size);
  assert.deepEqual(new Set(await shown()), chain);
  await page.waitForFunction(() => location.hash.includes("q=g"));
});

inPage("a runnable slice says what the Ps did meanwhile", file, {}, async (page) => {
  const span = longest(kRunnable), w = meanwhile(m, m.start[span], spanEnd(m, span));
  const all = (spanEnd(m, span) - m.start[span]) * m.ps, sum = [...w.by.values()].reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum + w.calls + w.idle - all) < 1);
  await choose(page, span);
  assert.match(await panel(page), /WHAT THE 4 PS DID MEANWHILE/i);
});

inPage("the whole trace leads to its longest waits", file, {}, async (page) => {
  await page.locator("#panel tr", { hasText: "mutex" }).locator("button").click();
  assert.equal(await page.evaluate(() => window.vole.chosen), longest(kWaiting, kMutex));
});

inPage("tasks and regions can be clicked, and say where the time went", tiny, {}, async (page) => {
  await frame(page);
  const [x, y] = await spot(page, 2, 1);
  await page.mouse.click(x, y + 16);
  let text = await panel(page);
  assert.match(text, /^prepare\s+region/);
  assert.match(text, /running\s+2\.00 µs/);
  await page.evaluate(() => window.vole.showThing({ kind: "task", i: 0 }));
  text = await panel(page);
  assert.match(text, /^request\s+task 77/);
  assert.match(text, /info: sent one/);
  await page.waitForFunction(() => location.hash.includes("thing=task.0"));
});

inPage("a jump to a time, and back to what was chosen before", file, {}, async (page) => {
  await choose(page, longest(kWaiting, kMutex));
  const first = await page.evaluate(() => window.vole.chosen);
  await page.keyboard.press("b");
  assert.notEqual(await page.evaluate(() => window.vole.chosen), first);
  await page.keyboard.press("Backspace");
  assert.equal(await page.evaluate(() => window.vole.chosen), first);
  await page.keyboard.press("/");
  await page.keyboard.type("@7.5ms");
  await page.keyboard.press("Enter");
  const middle = () => page.evaluate(() => window.vole.tl.timeAt(window.vole.tl.width / 2));
  assert.ok(Math.abs((await middle()) - 7.5e6) < 1000, String(await middle()));
});

inPage("by Tab alone everything is reached, in the order it is seen, and has a name", tiny, {}, async (page) => {
  await page.locator('#tabs [data-tab="timeline"]').focus();
  const order = [];
  for (let i = 0; i < 10; i++) {
    await page.keyboard.press("Tab");
    order.push(await page.evaluate(() => {
      const e = document.activeElement;
      return { id: e.id, name: e.getAttribute("aria-label") || e.textContent.trim() };
    }));
  }
  assert.deepEqual(order.map((o) => o.id), ["q", "reason", "longer", "prev", "next", "open", "theme", "help-button", "stage", "panel"]);
  for (const o of order) assert.ok(o.name, o.id);
  await page.locator('#tabs [data-tab="timeline"]').focus();
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#functions").isVisible());
  assert.equal(await page.evaluate(() => document.activeElement.dataset.tab), "functions");
});

inPage("what is chosen is said to those who do not see it", tiny, {}, async (page) => {
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#said").textContent(), /^G \d+.*, running, for .* until /);
});

inPage("fingers: a tap chooses, two zoom", tiny, {}, async (page) => {
  await frame(page);
  const [x, y] = await spot(page, 3, 2), cdp = await page.context().newCDPSession(page);
  const touch = (type, ...points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await touch("touchStart", [x, y]);
  await touch("touchEnd");
  await page.waitForFunction(() => window.vole.chosen >= 0);
  assert.match(await panel(page), /chan receive/);
  const before = await page.evaluate(() => window.vole.perPixel);
  await touch("touchStart", [500, 300], [600, 300]);
  for (let d = 10; d <= 100; d += 10) await touch("touchMove", [500 - d, 300], [600 + d, 300]);
  await touch("touchEnd");
  await page.waitForFunction((p) => window.vole.perPixel < p / 1.5, before);
});

inPage("over a function's row it is said how many run; a line shows the time", file, {}, async (page) => {
  await frame(page);
  const y = await page.evaluate(() => { const v = window.vole, r = v.rows.kind.indexOf(5); return document.getElementById("stage").getBoundingClientRect().top + v.tl.ruler + v.rows.y[r] - v.top + 10; });
  await page.mouse.move(600, y);
  assert.match(await page.locator("#tip").innerText(), /running.*runnable/);
  assert.match(await page.locator("#cursor").innerText(), /^\d+\.\d+ ms$/);
});
