// Mouse, touchpad, touch and keys on the timeline.
import type { App } from "./app";
import type { Timeline } from "./timeline";
import { areaOfChosen, step, stepRow, toggleRow, toWaker } from "./walk";

export function listen(app: App, tl: Timeline, stage: HTMLElement): void {
  wheel(tl, stage);
  pointer(app, tl, stage);
}

function wheel(tl: Timeline, stage: HTMLElement): void {
  stage.addEventListener("wheel", (e) => {
    e.preventDefault();
    const x = e.clientX - stage.getBoundingClientRect().left - tl.left, unit = e.deltaMode === 1 ? 16 : 1;
    if (e.ctrlKey || e.metaKey) tl.zoom(Math.exp(e.deltaY * unit * 0.004), tl.timeAt(Math.max(0, x)));
    else if (e.shiftKey) tl.pan((e.deltaY + e.deltaX) * unit);
    else {
      if (e.deltaX) tl.pan(e.deltaX * unit);
      if (e.deltaY) tl.scroll(e.deltaY * unit);
    }
  }, { passive: false });
}

function pointer(app: App, tl: Timeline, stage: HTMLElement): void {
  let drag: { x: number; y: number; moved: boolean; area: boolean; t: number } | null = null;
  const touches = new Map<number, number>();
  let pinch = 0;
  stage.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || (e.target as HTMLElement).closest("#labels, #scroll")) return;
    const r = stage.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    if (x < tl.left) return;
    stage.setPointerCapture(e.pointerId);
    if (e.pointerType === "touch") touches.set(e.pointerId, x);
    pinch = 0;
    drag = { x, y, moved: false, area: e.shiftKey || y < tl.ruler, t: tl.timeAt(x - tl.left) };
    stage.focus({ preventScroll: true });
  });
  stage.addEventListener("pointermove", (e) => {
    const r = stage.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    if (touches.size === 2 && touches.has(e.pointerId)) {
      touches.set(e.pointerId, x);
      const [a, b] = [...touches.values()], gap = Math.abs(a - b) + 1;
      if (pinch) tl.zoom(pinch / gap, tl.timeAt((a + b) / 2 - tl.left));
      pinch = gap;
      return;
    }
    if (!drag) {
      tl.hover(x, y, e.target as HTMLElement);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.moved = true;
    tl.hideTip();
    if (drag.area) {
      const t = tl.timeAt(x - tl.left), ruler = drag.y < tl.ruler;
      const top = (v: number) => Math.max(0, v - tl.ruler + app.top);
      app.area = {
        t0: Math.max(0, Math.min(drag.t, t)), t1: Math.min(app.m.duration, Math.max(drag.t, t)),
        y0: ruler ? 0 : top(Math.min(drag.y, y)), y1: ruler ? Infinity : top(Math.max(drag.y, y)),
      };
      app.redraw();
    } else {
      tl.pan(drag.x - x);
      tl.scroll(drag.y - y);
      drag.x = x;
      drag.y = y;
    }
  });
  const up = (e: PointerEvent) => {
    touches.delete(e.pointerId);
    if (!drag) return;
    const d = drag;
    drag = null;
    if (d.moved && d.area) app.chooseArea(app.area);
    else if (!d.moved && e.type === "pointerup") tl.click(d.x, d.y);
  };
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("pointerleave", () => {
    tl.hideTip();
    tl.cursor(-1);
  });
  stage.addEventListener("dblclick", (e) => {
    if (!(e.target as HTMLElement).closest("#labels")) tl.fitChosen();
  });
}

// Keys that work wherever no text is being typed. True: it was one of ours.
export function key(app: App, tl: Timeline, e: KeyboardEvent): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  const far = e.shiftKey ? 4 : 1, mid = tl.centre();
  switch (e.key) {
    case "w": case "W": case "+": case "=": tl.zoom(1 / (1 + 0.35 * far), mid); return true;
    case "s": case "S": case "-": tl.zoom(1 + 0.35 * far, mid); return true;
    case "a": case "A": tl.pan(-tl.width * 0.12 * far); return true;
    case "d": case "D": tl.pan(tl.width * 0.12 * far); return true;
    case "ArrowLeft": step(app, tl, -1); return true;
    case "ArrowRight": step(app, tl, 1); return true;
    case "ArrowUp": stepRow(app, tl, -1); return true;
    case "ArrowDown": stepRow(app, tl, 1); return true;
    case "PageUp": tl.scroll(-tl.height * 0.9); return true;
    case "PageDown": tl.scroll(tl.height * 0.9); return true;
    case "Home": case "0": tl.fitAll(); return true;
    case "f": case "F": tl.fitChosen(); return true;
    case "Enter": toggleRow(app); return true;
    case "b": case "B": toWaker(app); return true;
    case "Backspace": app.back(); return true;
    case "m": case "M": areaOfChosen(app); return true;
    case "Escape": app.chooseArea(null); app.choose(-1); return true;
    default: return false;
  }
}
