// A Chromium for the tests: Debian's, without a screen and without network.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const kChromium = process.env.VOLE_CHROMIUM ?? "/usr/bin/chromium";
export const kPage = process.env.VOLE_VIEWER_PAGE ?? new URL("../dist/viewer.html", import.meta.url).pathname;

export async function launch({ gl = false } = {}) {
  const modules = process.env.VOLE_VIEWER_MODULES ?? fileURLToPath(new URL("..", import.meta.url));
  const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "vole-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: kChromium, headless: true, timeout: 120000, viewport: { width: 1280, height: 760 },
    args: ["--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
      ...(gl ? ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"] : ["--disable-gpu"])],
  });
  context.setDefaultTimeout(120000);
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// Why the page cannot be tested here; false: it can.
export const missing = () => (!existsSync(kChromium) ? `there is no Chromium at ${kChromium}` : !existsSync(kPage) && `there is no page at ${kPage}`);

// A new tab with this file open in it. Fails on any error in the page.
export async function openPage(context, file, { query = "", hash = "", ...options } = {}) {
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (e) => page.problems.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error") page.problems.push(m.text()); });
  page.on("request", (r) => { if (/^https?:/.test(r.url())) page.problems.push("network: " + r.url()); });
  if (options.viewport) await page.setViewportSize(options.viewport);
  if (options.colorScheme) await page.emulateMedia({ colorScheme: options.colorScheme });
  await page.goto(pathToFileURL(kPage) + query + hash);
  if (file) {
    await page.setInputFiles("#file", file);
    await page.waitForSelector('html[data-state="open"], html[data-state="refused"]', { state: "attached" });
  }
  return page;
}
