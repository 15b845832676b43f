// Reads a trace beside the page, so that the page never stands still.
import { Damaged } from "./bytes";
import { readTrace } from "./model";

async function bytesOf(source: Blob | ArrayBuffer): Promise<Uint8Array> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return new Uint8Array(await source.arrayBuffer());
}

function buffers(x: unknown, found: Set<ArrayBuffer>): void {
  if (ArrayBuffer.isView(x)) found.add(x.buffer as ArrayBuffer);
  else if (x && typeof x === "object" && !Array.isArray(x) && !(x instanceof Map)) {
    for (const y of Object.values(x)) buffers(y, found);
  }
}

self.onmessage = async (e: MessageEvent<Blob | ArrayBuffer>) => {
  try {
    const bytes = await bytesOf(e.data);
    const model = readTrace(bytes, (what, part) => self.postMessage({ what, part }));
    const transfer = new Set<ArrayBuffer>();
    buffers(model, transfer);
    self.postMessage({ model }, { transfer: [...transfer] });
  } catch (error) {
    const known = error instanceof Damaged || error instanceof RangeError;
    const text = error instanceof RangeError ? "The trace is too large for this browser."
      : (error as Error).message;
    self.postMessage({ trouble: known ? text : `This page made a mistake: ${text}` });
  }
};
