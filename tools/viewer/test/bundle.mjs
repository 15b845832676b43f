// The reader as a module: from VOLE_VIEWER_READER, or bundled here.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export async function reader() {
  let path = process.env.VOLE_VIEWER_READER;
  if (!path || !existsSync(path)) {
    path = join(mkdtempSync(join(tmpdir(), "vole-viewer-")), "reader.mjs");
    spawnSync(process.execPath, [join(root, "build.mjs"), "--only-reader", "--reader", path], { stdio: "inherit" });
  }
  return import(pathToFileURL(path));
}
