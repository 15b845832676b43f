// Makes the page: dist/viewer.html, one file that needs nothing else.
//
//   node build.mjs [--out FILE] [--reader FILE]     (--reader: the reader alone, for the tests)
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
// node_modules may lie elsewhere: a build leaves nothing in the source folder.
const esbuild = createRequire(join(process.env.VOLE_VIEWER_MODULES ?? here, "x.js"))("esbuild");
const option = (name) => {
  const i = process.argv.indexOf(name);
  return i < 0 ? undefined : process.argv[i + 1];
};

async function bundle(entry, more) {
  const result = await esbuild.build({
    entryPoints: [join(here, "src", entry)], bundle: true, write: false, target: "es2022",
    minify: true, legalComments: "none", logLevel: "warning", ...more,
  });
  return result.outputFiles[0].text;
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (option("--reader")) {
  write(option("--reader"), await bundle("reader.ts", { format: "esm", minify: false }));
}
if (existsSync(join(here, "src/main.ts")) && !(process.argv.includes("--only-reader"))) {
  const worker = await bundle("worker.ts", { format: "iife" });
  const script = await bundle("main.ts", { format: "iife", define: { WORKER_SOURCE: JSON.stringify(worker) } });
  const style = await bundle("style.css", {});
  const page = readFileSync(join(here, "src/index.html"), "utf8")
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script.replaceAll("</script", "<\\/script"));
  write(option("--out") ?? join(here, "dist/viewer.html"), page);
}
