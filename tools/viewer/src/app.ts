// What the parts of the page share: the trace, what is shown of it, and what is chosen.
import type { Explanation } from "./explain";
import type { Load } from "./load";
import type { Model } from "./model";
import { RowPlan, Rows } from "./rows";

export interface Area { t0: number; t1: number; y0: number; y1: number }

export interface Filter { q: string; reason: string; longer: string }

// A task, a region or a stop of the world, by its place in the model.
export interface Thing { kind: "task" | "region" | "stop"; i: number }

export interface App {
  m: Model;
  plan: RowPlan;
  rows: Rows;
  load: Load;
  t0: number;              // ns at the left edge
  perPixel: number;        // ns
  top: number;             // scrolled by, in pixels
  chosen: number;          // span, −1: none
  chosenRow: number;       // row, −1: none
  chain: Explanation | null;   // of the chosen span, if it is a wait
  thing: Thing | null;
  area: Area | null;
  open: Set<number>;       // functions that are expanded
  shut: Set<number>;       // headings that are collapsed
  filter: Filter;
  matchG: Uint8Array | null;     // goroutines that the search is about; null: all
  matches: ((span: number) => boolean) | null;   // spans; null: all
  tab: string;
  sort: string;            // column of the table of functions, negative: upwards
  // Things to do
  redraw(): void;
  relayout(): void;
  choose(span: number, show?: boolean): void;
  chooseThing(thing: Thing | null): void;
  chooseArea(area: Area | null): void;
  setFilter(filter: Partial<Filter>): void;
  back(): void;
  showTab(tab: string): void;
  saveUrl(): void;
}
