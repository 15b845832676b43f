// What the tests of the page share: one Chromium for a file of tests, files in a folder of their
// own, and pages that must leave no error behind.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { missing, launch, openPage } from "./browser.mjs";

export function browserTests() {
  const skip = missing();
  const dir = mkdtempSync(join(tmpdir(), "vole-page-"));
  let browser;
  before(async () => { if (!skip) browser = await launch({ gl: true }); });
  after(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    dir, skip, browser: () => browser,
    put(name, bytes) {
      writeFileSync(join(dir, name), bytes);
      return join(dir, name);
    },
    // A page with this file, looked at by `body`, which must leave no error behind.
    inPage(name, file, options, body) {
      test(name, { skip }, async () => {
        const page = await openPage(browser.context, file, options);
        await body(page);
        assert.deepEqual(page.problems, []);
        await page.close();
      });
    },
  };
}

export const frame = (page) => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
export const searched = (page, n) => page.waitForFunction((k) => Number(document.documentElement.dataset.searched) > k, n);
export const searches = (page) => page.evaluate(() => Number(document.documentElement.dataset.searched));
export const panel = (page) => page.locator("#panel").innerText();
// The middle of a goroutine's span number n, in the page.
export const spot = (page, id, n) => page.evaluate(([id, n]) => {
  const { vole: v } = window, m = v.m, g = m.id.indexOf(id), i = m.first[g] + n, tl = v.tl;
  let row = 0;
  while (!(v.rows.kind[row] === 6 && v.rows.ref[row] === g)) row++;
  tl.reveal(row);
  tl.redraw();
  const box = document.getElementById("stage").getBoundingClientRect();
  const x0 = tl.xOf(m.start[i]), x1 = tl.xOf(i + 1 < m.first[g + 1] ? m.start[i + 1] : m.duration);
  return [box.left + tl.left + (x0 + x1) / 2, box.top + tl.ruler + v.rows.y[row] - v.top + 10];
}, [id, n]);

