// The names left of the rows. Elements exist for visible rows only, and are used again.
import type { App } from "./app";
import { kHeadings, Row } from "./rows";
import type { Timeline } from "./timeline";
import { toggleRow } from "./walk";
import { count, functionLabel } from "./words";

export class Labels {
  private pool: HTMLElement[] = [];
  private key = "";

  constructor(private app: App, private tl: Timeline, private box: HTMLElement) {
    box.addEventListener("click", (e) => {
      const row = Number((e.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset.row ?? -1);
      if (row < 0) return;
      app.chosenRow = row;
      toggleRow(app);
      tl.redraw();
    });
  }

  update(first: number, last: number): void {
    const a = this.app, key = [first, last, a.top, a.rows.n, a.chosenRow, a.open.size, a.shut.size, this.tl.height].join();
    if (key === this.key) return;
    this.key = key;
    let n = 0;
    for (let row = first; row <= last; row++) this.place(this.pool[n] ?? this.make(), row, n++);
    for (; n < this.pool.length; n++) this.pool[n].hidden = true;
  }

  private make(): HTMLElement {
    const e = document.createElement("button");
    e.append(document.createElement("span"), document.createElement("span"));
    e.children[0].className = "name";
    e.children[1].className = "number";
    e.tabIndex = -1;
    this.box.append(e);
    this.pool.push(e);
    return e;
  }

  private place(e: HTMLElement, row: number, _n: number): void {
    const a = this.app, y = a.rows.y[row] - a.top, kind = a.rows.kind[row];
    e.hidden = false;
    e.style.top = y + "px";
    e.style.height = a.rows.y[row + 1] - a.rows.y[row] + "px";
    e.dataset.row = String(row);
    const [text, number, full] = this.text(kind, a.rows.ref[row]);
    e.className = ["heading", "p", "stops", "task", "t", "group", "g"][kind] + (row === a.chosenRow ? " chosen" : "");
    if (e.children[0].textContent !== text) e.children[0].textContent = text;
    if (e.children[1].textContent !== number) e.children[1].textContent = number;
    e.title = full;
  }

  private text(kind: Row, ref: number): [string, string, string] {
    const m = this.app.m;
    switch (kind) {
      case Row.Heading: {
        const arrow = this.app.shut.has(ref) ? "▸ " : "▾ ";
        const n = ref === 0 ? m.ps : ref === 3 ? m.threadNumber.length : ref === 4 ? m.goroutines : m.taskId.length;
        return [arrow + kHeadings[ref], count(n), ""];
      }
      case Row.P: return [`P ${ref}`, `${Math.round((100 * m.stats.busy[ref]) / m.duration)} %`, "how much of the time it ran goroutines"];
      case Row.Stops: return ["world stopped", count(m.stops.start.length), ""];
      case Row.Tasks: return [ref ? "" : "at the same time", "", ""];
      case Row.Thread: {
        const tid = m.threadKernel[ref];
        return [m.threadNumber[ref] ? `thread ${m.threadNumber[ref]}` : "others", tid ? `tid ${tid}` : "", ""];
      }
      case Row.Group: {
        const name = m.functions.name[ref];
        return [(this.app.open.has(ref) ? "▾ " : "▸ ") + functionLabel(m, ref), count(m.functions.count[ref]), name];
      }
      default: {
        const name = m.strings[m.name[ref]];
        return [`G ${m.id[ref]}${name ? ` ${name}` : ""}`, "", m.functions.name[m.fn[ref]]];
      }
    }
  }
}
