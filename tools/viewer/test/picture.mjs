// A picture of the page, for the documents and for those who change it.
//
//   node test/picture.mjs TRACE OUT.png [--size 1280x760] [--dark] [--hash "#q=…"] [--do "js"]
import { launch, openPage } from "./browser.mjs";

const [, , trace, out, ...rest] = process.argv;
const option = (name, otherwise) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
const [width, height] = option("--size", "1280x760").split("x").map(Number);
const browser = await launch({ gl: true });
const page = await openPage(browser.context, trace, {
  viewport: { width, height }, colorScheme: rest.includes("--dark") ? "dark" : "light", hash: option("--hash", ""),
});
const js = option("--do", "");
if (js) await page.evaluate(`(async () => { const v = window.vole, m = v?.m; ${js} })()`);
await page.waitForTimeout(300);
await page.screenshot({ path: out });
if (page.problems.length) console.log(page.problems);
await browser.close();
