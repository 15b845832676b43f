// The open trace: what is shown of it and what is chosen, kept in one place and in the address.
import type { App, Area, Filter, Thing } from "./app";
import { explain, Explanation } from "./explain";
import { Load } from "./load";
import type { Model } from "./model";
import { Overview } from "./overview";
import { sentence, showPanel } from "./panel";
import { Row, RowPlan, Rows } from "./rows";
import { compile, Counter, jumpTarget, nextMatch, reasonOptions } from "./search";
import { FunctionTable, showLatency } from "./tables";
import { Timeline } from "./timeline";
import { applyUrl, readUrl, writeUrl } from "./url";
import { count } from "./words";
import { State } from "./world";

const $ = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

interface Place { chosen: number; row: number; t0: number; perPixel: number; top: number }

export const kTabs = ["timeline", "functions", "latency"];

export class Page implements App {
  plan: RowPlan;
  rows: Rows;
  load: Load;
  t0 = 0;
  perPixel = 0;
  top = 0;
  chosen = -1;
  chosenRow = -1;
  chain: Explanation | null = null;
  thing: Thing | null = null;
  area: Area | null = null;
  open: Set<number>;
  shut: Set<number>;
  filter: Filter = { q: "", reason: "", longer: "" };
  matchG: Uint8Array | null = null;
  matches: ((span: number) => boolean) | null = null;
  tab = "timeline";
  sort = "2";
  readonly tl: Timeline;
  private overview: Overview;
  private table: FunctionTable;
  private counter = new Counter();
  private past: Place[] = [];
  private saving = 0;

  constructor(readonly m: Model, plain: boolean) {
    this.plan = new RowPlan(m);
    this.load = new Load(m);
    this.open = new Set(this.plan.open);
    this.shut = new Set(this.plan.shut);
    this.rows = this.plan.rows({ open: this.open, shut: this.shut, match: null });
    this.showViews();
    this.tl = new Timeline(this, plain);
    this.overview = new Overview(this, this.tl, $("overview"));
    this.tl.afterFrame = () => this.overview.draw();
    this.table = new FunctionTable(this, $("functions"));
    $("reason").innerHTML = "";
    for (const [value, text] of reasonOptions(m)) $<HTMLSelectElement>("reason").add(new Option(text, value));
    this.tl.fitAll();
    this.fromUrl();
  }

  fromUrl(): void {
    const state = readUrl(location.hash);
    applyUrl(this, state, this.tl.width);
    this.showFilter();
    this.tab = kTabs.includes(state.tab ?? "") ? state.tab! : "timeline";
    this.search();
    if (this.chosen >= 0) this.choose(this.chosen, false);
    else this.changed();
    this.showTab(this.tab);
  }

  private showViews(): void {
    for (const id of kTabs) $(id).hidden = id !== this.tab;
    $("welcome").hidden = true;
    for (const b of document.querySelectorAll<HTMLElement>("#tabs button")) {
      const on = b.dataset.tab === this.tab;
      b.setAttribute("aria-selected", String(on));
      b.tabIndex = on ? 0 : -1;
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
    this.rows = this.plan.rows({ open: this.open, shut: this.shut, match: this.matchG });
    if (this.chosenRow >= 0) this.chosenRow = this.findRow(kind, ref);
    this.redraw();
  }

  private findRow(kind: number, ref: number): number {
    for (let r = 0; r < this.rows.n; r++) if (this.rows.kind[r] === kind && this.rows.ref[r] === ref) return r;
    return -1;
  }

  // The panel, the address and the picture follow what is chosen.
  private changed(): void {
    showPanel(this, $("panel"));
    this.saveUrl();
    this.redraw();
  }

  choose(span: number, show = false): void {
    if (show && span >= 0 && span !== this.chosen) this.remember();
    this.chosen = span;
    this.thing = null;
    this.chain = span >= 0 && (this.m.kind[span] & 15) === State.Waiting ? explain(this.m, span) : null;
    if (span >= 0) {
      this.area = null;
      if (show && !(this.chosenRow >= 0 && this.tl.rowHas(this.chosenRow, span))) this.toGoroutine(span);
      else if (this.chosenRow < 0) this.toGoroutine(span);
      if (show) {
        this.tl.showSpan(span);
        this.tl.reveal(this.chosenRow);
      }
      $("said").textContent = sentence(this.m, span);
    }
    this.changed();
  }

  private remember(): void {
    if (this.chosen < 0) return;
    this.past.push({ chosen: this.chosen, row: this.chosenRow, t0: this.t0, perPixel: this.perPixel, top: this.top });
    if (this.past.length > 100) this.past.shift();
  }

  // To what was chosen before, and as it was seen then.
  back(): void {
    const p = this.past.pop();
    if (!p) return;
    this.chosenRow = -1;
    this.choose(p.chosen);
    Object.assign(this, { t0: p.t0, perPixel: p.perPixel, top: p.top });
    this.redraw();
  }

  // The goroutine's own row, expanded if need be.
  private toGoroutine(span: number): void {
    const g = this.m.g[span];
    let row = this.findRow(Row.Goroutine, g);
    if (row < 0) {
      this.open.add(this.m.fn[g]);
      this.shut.delete(4);
      if (this.matchG && !this.matchG[g]) this.matchG[g] = 1;
      this.rows = this.plan.rows({ open: this.open, shut: this.shut, match: this.matchG });
      row = this.findRow(Row.Goroutine, g);
    }
    this.chosenRow = row;
    if (row >= 0) this.tl.reveal(row);
  }

  chooseThing(thing: Thing | null): void {
    this.chosen = -1;
    this.chain = null;
    this.area = null;
    this.thing = thing;
    if (thing) $("said").textContent = $("panel").querySelector("h2")?.textContent ?? "";
    this.changed();
  }

  // To a task or region that may be elsewhere.
  showThing(thing: Thing): void {
    const m = this.m, list = { task: m.tasks, region: m.regions, stop: m.stops }[thing.kind];
    if (thing.kind === "region") this.toGoroutine(m.first[list.who[thing.i]]);
    else {
      this.shut.delete(2);
      this.relayout();
      const lane = this.plan.lanes.findIndex((l) => l.includes(thing.i));
      this.chosenRow = this.findRow(thing.kind === "task" ? Row.Tasks : Row.Stops, Math.max(0, lane));
      this.tl.reveal(this.chosenRow);
    }
    this.chooseThing(thing);
    const t = list.start[thing.i], e = list.end[thing.i], w = this.perPixel * this.tl.width;
    if (t < this.t0 || e > this.t0 + w || (e - t) * 50 < w) this.tl.fitChosen();
  }

  chooseArea(area: Area | null): void {
    this.area = area && area.t1 > area.t0 ? area : null;
    this.changed();
  }

  search(): void {
    const q = compile(this), hits = $("hits");
    hits.className = q.trouble && !q.trouble.startsWith("Enter") ? "bad" : "";
    this.matches = q.span;
    if (!q.span) {
      this.counter.stop();
      hits.textContent = q.trouble;
      this.matchG = null;
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

  private showFilter(): void {
    $<HTMLInputElement>("q").value = this.filter.q;
    $<HTMLInputElement>("longer").value = this.filter.longer;
    $<HTMLSelectElement>("reason").value = this.filter.reason;
  }

  setFilter(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
    this.showFilter();
    this.search();
    this.saveUrl();
  }

  // What the fields say.
  readFilter(): void {
    this.filter = {
      q: $<HTMLInputElement>("q").value, reason: $<HTMLSelectElement>("reason").value,
      longer: $<HTMLInputElement>("longer").value,
    };
    this.search();
    this.saveUrl();
  }

  // To the next match, or to the time that was asked for.
  go(forward: boolean): void {
    const t = jumpTarget(this.filter.q);
    if (!Number.isNaN(t)) {
      this.showTab("timeline");
      this.tl.jump(t);
      $("stage").focus();
      return;
    }
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
