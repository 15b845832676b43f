// The page: opens a trace and ties its parts together.
import type { App, Area } from "./app";
import { setTheme, stateColour } from "./colours";
import { helpHtml } from "./help";
import { key, listen } from "./input";
import type { Model } from "./model";
import { Overview } from "./overview";
import { showPanel } from "./panel";
import { css } from "./render";
import { Row, RowPlan } from "./rows";
import { compile, Counter, nextMatch, reasonOptions } from "./search";
import { ownTrace, Source } from "./source";
import { FunctionTable, showLatency } from "./tables";
import { Timeline } from "./timeline";
import { applyUrl, readUrl, writeUrl } from "./url";
import { count } from "./words";

declare const WORKER_SOURCE: string;

const $ = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;
const params = new URLSearchParams(location.search);
let page: Page | null = null;
let worker: Worker | null = null;

class Page implements App {
  plan: RowPlan;
  rows;
  t0 = 0;
  perPixel = 0;
  top = 0;
  chosen = -1;
  chosenRow = -1;
  area: Area | null = null;
  open = new Set<number>();
  threads: boolean;
  filter = { q: "", reason: "", longer: "" };
  matchG: Uint8Array | null = null;
  matches: ((span: number) => boolean) | null = null;
  tab = "timeline";
  readonly tl: Timeline;
  private overview: Overview;
  private table: FunctionTable;
  private counter = new Counter();
  private saving = 0;

  constructor(readonly m: Model) {
    this.plan = new RowPlan(m);
    this.threads = m.threadNumber.length <= 16;
    this.rows = this.plan.rows({ open: this.open, threads: this.threads, match: null });
    this.showViews();
    const plain = params.get("renderer") === "canvas";
    this.tl = new Timeline(this, plain);
    this.overview = new Overview(this, this.tl, $("overview"));
    this.tl.afterFrame = () => this.overview.draw();
    this.table = new FunctionTable(this, $("functions"));
    if (m.goroutines <= 60) m.functions.name.forEach((_, f) => this.open.add(f));
    $("reason").innerHTML = "";
    for (const [value, text] of reasonOptions(m)) $<HTMLSelectElement>("reason").add(new Option(text, value));
    this.tl.fitAll();
    this.fromUrl();
  }

  fromUrl(): void {
    const state = readUrl(location.hash);
    applyUrl(this, state, this.tl.width);
    $<HTMLInputElement>("q").value = this.filter.q;
    $<HTMLInputElement>("longer").value = this.filter.longer;
    $<HTMLSelectElement>("reason").value = this.filter.reason;
    this.tab = ["functions", "latency"].includes(state.tab ?? "") ? state.tab! : "timeline";
    this.search();
    if (this.chosen >= 0) this.choose(this.chosen, false);
    this.showTab(this.tab);
  }

  private showViews(): void {
    for (const id of ["timeline", "functions", "latency"]) $(id).hidden = id !== this.tab;
    $("welcome").hidden = true;
    for (const b of document.querySelectorAll<HTMLElement>("#tabs button")) {
      b.setAttribute("aria-selected", String(b.dataset.tab === this.tab));
    }
  }

  showTab(tab: string): void {
    this.tab = tab;
    this.showViews();
    if (tab === "functions") this.table.show();
    if (tab === "latency") showLatency(this, $("latency"));
    if (tab === "timeline") this.redraw();
    this.saveUrl();
  }

  redraw(): void {
    this.tl.redraw();
  }

  relayout(): void {
    const kind = this.rows.kind[this.chosenRow], ref = this.rows.ref[this.chosenRow];
    this.rows = this.plan.rows({ open: this.open, threads: this.threads, match: this.matchG });
    if (this.chosenRow >= 0) this.chosenRow = this.findRow(kind, ref);
    this.redraw();
  }

  private findRow(kind: number, ref: number): number {
    for (let r = 0; r < this.rows.n; r++) if (this.rows.kind[r] === kind && this.rows.ref[r] === ref) return r;
    return -1;
  }

  choose(span: number, show = false): void {
    this.chosen = span;
    if (span >= 0) {
      this.area = null;
      if (show && !(this.chosenRow >= 0 && this.tl.rowHas(this.chosenRow, span))) this.toGoroutine(span);
      else if (this.chosenRow < 0) this.toGoroutine(span);
      if (show) {
        this.tl.showSpan(span);
        this.tl.reveal(this.chosenRow);
      }
    }
    showPanel(this, $("panel"));
    this.saveUrl();
    this.redraw();
  }

  // The goroutine's own row, expanded if need be.
  private toGoroutine(span: number): void {
    const g = this.m.g[span];
    let row = this.findRow(Row.Goroutine, g);
    if (row < 0) {
      this.open.add(this.m.fn[g]);
      if (this.matchG && !this.matchG[g]) this.matchG[g] = 1;
      this.rows = this.plan.rows({ open: this.open, threads: this.threads, match: this.matchG });
      row = this.findRow(Row.Goroutine, g);
    }
    this.chosenRow = row;
    if (row >= 0) this.tl.reveal(row);
  }

  chooseArea(area: Area | null): void {
    this.area = area && area.t1 > area.t0 ? area : null;
    showPanel(this, $("panel"));
    this.redraw();
  }

  search(): void {
    const q = compile(this), hits = $("hits");
    hits.className = q.trouble ? "bad" : "";
    this.matches = q.span;
    if (!q.span) {
      hits.textContent = q.trouble;
      this.matchG = q.g;
      this.searched();
      return;
    }
    hits.textContent = "…";
    this.counter.run(this.m, q, (n, g) => {
      hits.textContent = n === 1 ? "1 slice" : `${count(n)} slices`;
      this.matchG = g;
      this.searched();
    });
  }

  private searched(): void {
    this.relayout();
    if (this.tab !== "timeline") this.showTab(this.tab);
    document.documentElement.dataset.searched = String(Number(document.documentElement.dataset.searched ?? 0) + 1);
  }

  setFilter(): void {
    this.filter = {
      q: $<HTMLInputElement>("q").value, reason: $<HTMLSelectElement>("reason").value,
      longer: $<HTMLInputElement>("longer").value,
    };
    this.search();
    this.saveUrl();
  }

  go(forward: boolean): void {
    if (!this.matches) return;
    let i = nextMatch(this.m, this.matches, this.chosen, forward);
    if (i < 0) i = nextMatch(this.m, this.matches, -1, forward);
    if (i >= 0) {
      if (this.tab !== "timeline") this.showTab("timeline");
      this.choose(i, true);
    }
  }

  saveUrl(): void {
    clearTimeout(this.saving);
    this.saving = window.setTimeout(() => {
      const hash = writeUrl(this, this.tl.width);
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    }, 150);
  }
}

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
  page = new Page(model);
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
    const span = (e.target as HTMLElement).closest<HTMLElement>("[data-span]")?.dataset.span;
    if (span && page) {
      page.chosenRow = -1;
      page.choose(Number(span), true);
    }
  });
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
  else if (e.key === "/") $("q").focus();
  else if (e.key === "n") page.go(true);
  else if (e.key === "N") page.go(false);
  else if (e.key >= "1" && e.key <= "3") page.showTab(["timeline", "functions", "latency"][Number(e.key) - 1]);
  else ours = page.tab === "timeline" && !(focused && e.key.startsWith("Arrow") && !focused.closest("#labels")) && key(page, page.tl, e);
  if (ours) e.preventDefault();
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
    waiting = window.setTimeout(() => page?.setFilter(), 120);
  };
  for (const id of ["q", "longer"]) $(id).addEventListener("input", later);
  $("reason").addEventListener("change", () => page?.setFilter());
  $("filters").addEventListener("submit", (e) => {
    e.preventDefault();
    clearTimeout(waiting);
    page?.setFilter();
    page?.go(true);
  });
  $("prev").onclick = () => page?.go(false);
  wireMain();
}

wire();
ownTrace().then((s) => { if (s) openTrace(s); }, (e: Error) => say(e.message, true));
