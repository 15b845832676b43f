// The page around a trace: opens it, and ties fields, buttons and keys to it.
import type { Thing } from "./app";
import { setTheme, stateColour } from "./colours";
import { helpHtml } from "./help";
import { key, listen } from "./input";
import type { Model } from "./model";
import { kTabs, Page } from "./page";
import { showPanel } from "./panel";
import { css } from "./render";
import { ownTrace, Source } from "./source";

declare const WORKER_SOURCE: string;

const $ = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;
const params = new URLSearchParams(location.search);
let page: Page | null = null;
let worker: Worker | null = null;

function say(text: string, bad = false): void {
  if (bad && page) {
    $("notice").textContent = text;
    $("notice").hidden = false;
    return;
  }
  $("state").textContent = text;
  $("state").className = bad ? "bad" : "";
}

function openTrace(source: Source): void {
  const from = performance.now();
  worker?.terminate();
  const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  if (!page) say(`Reading ${source.name} …`);
  const bar = $<HTMLProgressElement>("progress");
  bar.hidden = false;
  worker.onerror = (e) => {
    bar.hidden = true;
    say(`The trace could not be read: ${e.message}.`, true);
  };
  worker.onmessage = (e) => {
    const { model, trouble, part } = e.data as { model?: Model; trouble?: string; part?: number };
    if (part !== undefined) bar.value = part;
    if (trouble) {
      bar.hidden = true;
      say(trouble, true);
      document.documentElement.dataset.state = "refused";
    }
    if (!model) return;
    bar.hidden = true;
    worker?.terminate();
    worker = null;
    start(model, source.name);
    document.documentElement.dataset.openedIn = String(Math.round(performance.now() - from));
    document.documentElement.dataset.state = "open";
  };
  const data = source.data;
  worker.postMessage(data, data instanceof ArrayBuffer ? [data] : []);
}

function start(model: Model, name: string): void {
  if (page) {
    // A second file: everything begins again, with a clean address.
    history.replaceState(null, "", location.pathname + location.search);
    $("main").innerHTML = kMain;
    wireMain();
  }
  document.title = `${name} · vole trace`;
  $("brand").textContent = name;
  $("brand").title = name;
  $("notice").hidden = !model.notes.length;
  $("notice").textContent = model.notes.slice(0, 20).join(" ");
  page = new Page(model, params.get("renderer") === "canvas");
  (window as unknown as { vole: Page }).vole = page;  // for the curious, and the tests
  listen(page, page.tl, $("stage"));
  showPanel(page, $("panel"));
  $("stage").focus({ preventScroll: true });
}

const kMain = $("main").innerHTML;

// What belongs to <main>, which is made anew for a second file.
function wireMain(): void {
  $("open2").onclick = () => $("file").click();
  $("panel").addEventListener("click", (e) => {
    const button = (e.target as HTMLElement).closest<HTMLElement>("[data-span], [data-thing], [data-only]");
    if (button && page) follow(page, button.dataset);
  });
}

// A link in the panel: to a slice, to a task or region, or to a few goroutines alone.
function follow(p: Page, to: DOMStringMap): void {
  if (to.span) {
    p.chosenRow = -1;
    p.choose(Number(to.span), true);
  } else if (to.thing) {
    const [kind, i] = to.thing.split(".");
    p.showThing({ kind: kind as Thing["kind"], i: Number(i) });
  } else if (to.only) {
    for (const id of to.only.split(",")) p.open.add(p.m.fn[p.m.id.indexOf(Number(id))]);
    p.top = 0;
    p.setFilter({ q: `g ${to.only}`, reason: "", longer: "" });
  }
}

function applyTheme(name: string): void {
  document.documentElement.dataset.theme = name;
  setTheme(name);
  if (!page) return;
  page.showTab(page.tab);
  showPanel(page, $("panel"));
}

function typing(e: Event): boolean {
  return (e.target as HTMLElement).closest("input, select, textarea, dialog") !== null;
}

function onKey(e: KeyboardEvent): void {
  if (typing(e)) {
    if (e.key === "Escape" && !$<HTMLDialogElement>("help").open) $("stage").focus();
    return;
  }
  const focused = (e.target as HTMLElement).closest("button, a, summary");
  if (focused && (e.key === "Enter" || e.key === " ")) return;
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  let ours = true;
  if (e.key === "?") help();
  else if (e.key === "o" || e.key === "O") $("file").click();
  else if (!page) ours = false;
  else if (focused?.closest("#tabs") && /^Arrow(Left|Right)$/.test(e.key)) nextTab(page, e.key === "ArrowRight" ? 1 : 2);
  else if (e.key === "/") $("q").focus();
  else if (e.key === "n") page.go(true);
  else if (e.key === "N") page.go(false);
  else if (e.key >= "1" && e.key <= "3") page.showTab(kTabs[Number(e.key) - 1]);
  else ours = page.tab === "timeline" && !(focused && e.key.startsWith("Arrow") && !focused.closest("#labels")) && key(page, page.tl, e);
  if (ours) e.preventDefault();
}

function nextTab(p: Page, by: number): void {
  p.showTab(kTabs[(kTabs.indexOf(p.tab) + by) % 3]);
  document.querySelector<HTMLElement>('#tabs [aria-selected="true"]')!.focus();
}

function help(): void {
  $("help").innerHTML = helpHtml((s) => css(stateColour(s)));
  $<HTMLDialogElement>("help").showModal();
}

function wire(): void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  applyTheme(params.get("theme") ?? (media.matches ? "dark" : "light"));
  media.addEventListener("change", () => applyTheme(media.matches ? "dark" : "light"));
  $("theme").onclick = () => applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  $("help-button").onclick = help;
  $("open").onclick = () => $("file").click();
  const file = $<HTMLInputElement>("file");
  file.onchange = () => {
    if (file.files?.[0]) openTrace({ name: file.files[0].name, data: file.files[0] });
    file.value = "";
  };
  addEventListener("dragover", (e) => { e.preventDefault(); $("welcome").classList.add("over"); });
  addEventListener("dragleave", () => $("welcome").classList.remove("over"));
  addEventListener("drop", (e) => {
    e.preventDefault();
    const f = e.dataTransfer?.files[0];
    if (f) openTrace({ name: f.name, data: f });
  });
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => page?.fromUrl());
  $("tabs").onclick = (e) => {
    const tab = (e.target as HTMLElement).dataset.tab;
    if (tab && page) page.showTab(tab);
  };
  let waiting = 0;
  const later = () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => page?.readFilter(), 120);
  };
  for (const id of ["q", "longer"]) $(id).addEventListener("input", later);
  $("reason").addEventListener("change", () => page?.readFilter());
  $("filters").addEventListener("submit", (e) => {
    e.preventDefault();
    clearTimeout(waiting);
    page?.readFilter();
    page?.go(true);
  });
  $("prev").onclick = () => page?.go(false);
  wireMain();
}

wire();
ownTrace().then((s) => { if (s) openTrace(s); }, (e: Error) => say(e.message, true));
