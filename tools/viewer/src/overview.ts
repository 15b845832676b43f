// The strip at the top: how busy the Ps were over the whole trace, and which part is shown.
import type { App } from "./app";
import { css } from "./render";
import { faint, stateColour, theme } from "./colours";
import { kGroupBuckets } from "./levels";
import type { Timeline } from "./timeline";
import { State } from "./world";

export class Overview {
  private key = "";
  private kept = document.createElement("canvas");
  private busy = new Float32Array(kGroupBuckets);

  constructor(private app: App, private tl: Timeline, private canvas: HTMLCanvasElement) {
    const l = app.m.levels;
    for (let i = 0; i < l.group.length; i++) this.busy[i % kGroupBuckets] += l.group[i];
    let from = -1;
    const time = (e: PointerEvent) => {
      const r = canvas.getBoundingClientRect();
      return ((e.clientX - r.left) / r.width) * app.m.duration;
    };
    canvas.addEventListener("pointerdown", (e) => {
      from = time(e);
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (from >= 0 && Math.abs(time(e) - from) > app.m.duration / 200) tl.show(Math.min(from, time(e)), Math.max(from, time(e)));
    });
    canvas.addEventListener("pointerup", (e) => {
      const t = time(e), w = app.perPixel * tl.width;
      if (from >= 0 && Math.abs(t - from) <= app.m.duration / 200) tl.show(t - w / 2, t + w / 2);
      from = -1;
    });
  }

  // The bars change only with the size and the colours.
  private bars(w: number, h: number, dpr: number): HTMLCanvasElement {
    const key = [w, h, dpr, theme.text].join();
    if (key === this.key) return this.kept;
    this.key = key;
    this.kept.width = w * dpr;
    this.kept.height = h * dpr;
    const c = this.kept.getContext("2d")!, { app } = this;
    c.scale(dpr, dpr);
    c.fillStyle = css(theme.stripe);
    c.fillRect(0, 0, w, h);
    c.fillStyle = css(faint(stateColour(State.Running), 0.75));
    const ps = Math.max(1, app.m.ps);
    for (let x = 0; x < w; x++) {
      const b0 = Math.floor((x / w) * kGroupBuckets), b1 = Math.max(b0 + 1, Math.floor(((x + 1) / w) * kGroupBuckets));
      let sum = 0;
      for (let b = b0; b < b1; b++) sum += this.busy[b];
      const y = Math.min(1, sum / (b1 - b0) / ps) * (h - 6);
      c.fillRect(x, h - y, 1, y);
    }
    return this.kept;
  }

  draw(): void {
    const { canvas, app, tl } = this, dpr = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    if (canvas.width !== Math.round(w * dpr)) canvas.width = Math.round(w * dpr);
    if (canvas.height !== Math.round(h * dpr)) canvas.height = Math.round(h * dpr);
    const c = canvas.getContext("2d")!;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.bars(w, h, dpr), 0, 0);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    const x0 = Math.max(0, (app.t0 / app.m.duration) * w), x1 = Math.min(w, (tl.timeAt(tl.width) / app.m.duration) * w);
    c.fillStyle = theme.text === "#1d2530" ? "rgba(255,255,255,.65)" : "rgba(20,24,29,.65)";
    c.fillRect(0, 0, x0, h);
    c.fillRect(x1, 0, w - x1, h);
    c.strokeStyle = theme.accent;
    c.lineWidth = 2;
    c.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), h - 2);
  }
}
