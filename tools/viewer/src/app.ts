// What the parts of the page share: the trace, what is shown of it, and what is chosen.
import type { Model } from "./model";
import { RowPlan, Rows } from "./rows";

export interface Area { t0: number; t1: number; y0: number; y1: number }

export interface Filter { q: string; reason: string; longer: string }

export interface App {
  m: Model;
  plan: RowPlan;
  rows: Rows;
  t0: number;              // ns at the left edge
  perPixel: number;        // ns
  top: number;             // scrolled by, in pixels
  chosen: number;          // span, −1: none
  chosenRow: number;       // row, −1: none
  area: Area | null;
  open: Set<number>;
  threads: boolean;
  filter: Filter;
  matchG: Uint8Array | null;     // goroutines that the search is about; null: all
  matches: ((span: number) => boolean) | null;   // spans; null: all
  tab: string;
  // Things to do
  redraw(): void;
  relayout(): void;
  choose(span: number, show?: boolean): void;
  chooseArea(area: Area | null): void;
  showTab(tab: string): void;
  saveUrl(): void;
}
