// Where the trace comes from: embedded in the page, served beside it, chosen or dropped.
//
// Note   `vole trace view` puts <script type="text/plain" id="trace" data-name data-encoding> with
//        the file in base64 into the page, or serves the file as ./trace.

export interface Source { name: string; data: Blob | ArrayBuffer }

async function unpack(text: string, packed: boolean): Promise<ArrayBuffer> {
  const body = (await fetch("data:application/octet-stream;base64," + text)).body!;
  return new Response(packed ? body.pipeThrough(new DecompressionStream("gzip")) : body).arrayBuffer();
}

export async function ownTrace(): Promise<Source | null> {
  const e = document.getElementById("trace");
  if (!e) return null;
  const name = e.dataset.name ?? "trace";
  if (e.dataset.at) {
    const r = await fetch(e.dataset.at);
    if (!r.ok) throw new Error(`The trace could not be fetched: ${r.status}.`);
    return { name, data: await r.arrayBuffer() };
  }
  const text = e.textContent ?? "";
  e.textContent = "";
  return { name, data: await unpack(text.trim(), e.dataset.encoding === "gzip") };
}
