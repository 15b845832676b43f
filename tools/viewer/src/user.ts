// What the program itself says: regions, tasks and logs; and the times when the world was stopped.
// Each is kept open until its end comes, or the trace's.
import { Intervals, World } from "./world";

interface Open { start: number; name: number; depth: number }

export class User {
  private regions = new Map<number, Open[]>();
  private tasks = new Map<number, { start: number; name: number; parent: number; g: number }>();
  private stops = new Map<number, Open>();

  constructor(private world: World) {}

  private add(list: Intervals, start: number, end: number, who: number, name: number, depth: number): void {
    list.start.push(start);
    list.end.push(end);
    list.who.push(who);
    list.name.push(name);
    list.depth.push(depth);
  }

  stopBegin(thread: number, name: number, now: number): void {
    this.stops.set(thread, { start: now, name, depth: 0 });
  }

  stopEnd(thread: number, now: number): void {
    const o = this.stops.get(thread);
    this.add(this.world.stops, o?.start ?? 0, now, thread, o?.name ?? 0, 0);
    this.stops.delete(thread);
  }

  regionBegin(g: number, name: number, now: number): void {
    if (g < 0) return;
    const list = this.regions.get(g) ?? [];
    list.push({ start: now, name, depth: list.length });
    this.regions.set(g, list);
  }

  // The innermost open region of that name ends, and those inside it with it. If there is none,
  // it began before the trace.
  regionEnd(g: number, name: number, now: number): void {
    if (g < 0) return;
    const list = this.regions.get(g) ?? [];
    let i = list.length - 1;
    while (i >= 0 && list[i].name !== name) i--;
    if (i < 0) this.add(this.world.regions, 0, now, g, name, 0);
    for (let k = list.length - 1; i >= 0 && k >= i; k--) {
      this.add(this.world.regions, list[k].start, now, g, list[k].name, list[k].depth);
      list.pop();
    }
  }

  taskBegin(g: number, id: number, parent: number, name: number, now: number): void {
    this.tasks.set(id, { start: now, name, parent, g });
  }

  taskEnd(id: number, now: number): void {
    this.addTask(id, now);
    this.tasks.delete(id);
  }

  private addTask(id: number, end: number): void {
    const w = this.world, o = this.tasks.get(id);
    this.add(w.tasks, o?.start ?? 0, end, w.taskId.length, o?.name ?? 0, 0);
    w.taskId.push(id);
    w.taskParent.push(o?.parent ?? 0);
    w.taskG.push(o?.g ?? -1);
  }

  log(g: number, task: number, name: number, text: string, now: number): void {
    const l = this.world.logs;
    l.time.push(now);
    l.g.push(g < 0 ? 0 : g + 1);
    l.task.push(task);
    l.name.push(name);
    l.text.push(this.world.strings.add(text));
  }

  // A region or task that is still open lasts to the end of the part that was read.
  finish(end: number): void {
    for (const [g, list] of this.regions) {
      for (const o of list) this.add(this.world.regions, o.start, end, g, o.name, o.depth);
    }
    for (const id of this.tasks.keys()) this.addTask(id, end);
    for (const [t, o] of this.stops) this.add(this.world.stops, o.start, end, t, o.name, 0);
  }
}
