// Rectangles on the screen: by WebGL2, or on a plain canvas where there is none. Both draw the
// same list, which is made anew for every frame from what is visible.
import type { Rects } from "./draw";

export class RectList implements Rects {
  floats = new Float32Array(5 * 4096);
  colours = new Uint32Array(this.floats.buffer);
  spans = new Int32Array(4096);
  n = 0;

  clear(): void {
    this.n = 0;
  }

  // colour: 0xrrggbb
  add(x0: number, x1: number, y0: number, y1: number, colour: number, span: number): void {
    const i = this.n++, at = i * 5;
    if (i === this.spans.length) this.grow();
    this.floats[at] = x0;
    this.floats[at + 1] = y0;
    this.floats[at + 2] = x1;
    this.floats[at + 3] = y1;
    this.colours[at + 4] = 0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | (colour >>> 16);
    this.spans[i] = span;
  }

  private grow(): void {
    const floats = new Float32Array(this.floats.length * 2), spans = new Int32Array(this.spans.length * 2);
    new Uint32Array(floats.buffer).set(this.colours);
    spans.set(this.spans);
    this.floats = floats;
    this.colours = new Uint32Array(floats.buffer);
    this.spans = spans;
  }
}

export interface Renderer {
  readonly name: string;
  // Draws the list on a canvas of this size, in CSS pixels.
  draw(list: RectList, width: number, height: number, dpr: number, background: number): void;
}

export function makeRenderer(canvas: HTMLCanvasElement, plain: boolean): Renderer {
  if (!plain) {
    try {
      const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, depth: false });
      if (gl) return new GlRenderer(canvas, gl);
    } catch { /* the plain one, then */ }
  }
  return new CanvasRenderer(canvas);
}

function resize(canvas: HTMLCanvasElement, width: number, height: number, dpr: number): void {
  const w = Math.max(1, Math.round(width * dpr)), h = Math.max(1, Math.round(height * dpr));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
}

const kVertex = `#version 300 es
layout(location=0) in vec4 box;
layout(location=1) in vec4 colour;
uniform vec2 size;
out vec4 shade;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = mix(box.xy, vec2(max(box.z, box.x + 0.75), box.w), corner) / size;
  gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
  shade = colour;
}`;
const kFragment = `#version 300 es
precision mediump float;
in vec4 shade;
out vec4 pixel;
void main() { pixel = shade; }`;

class GlRenderer implements Renderer {
  readonly name = "webgl2";
  private size!: WebGLUniformLocation | null;
  private lost = false;

  constructor(private canvas: HTMLCanvasElement, private gl: WebGL2RenderingContext) {
    this.prepare();
    canvas.addEventListener("webglcontextlost", (e) => { e.preventDefault(); this.lost = true; });
    canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.prepare(); });
  }

  private prepare(): void {
    const gl = this.gl, program = gl.createProgram()!;
    for (const [type, text] of [[gl.VERTEX_SHADER, kVertex], [gl.FRAGMENT_SHADER, kFragment]] as const) {
      const s = gl.createShader(type)!;
      gl.shaderSource(s, text);
      gl.compileShader(s);
      gl.attachShader(program, s);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("no shader");
    gl.useProgram(program);
    this.size = gl.getUniformLocation(program, "size");
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 20, 0);
    gl.vertexAttribDivisor(0, 1);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 20, 16);
    gl.vertexAttribDivisor(1, 1);
  }

  draw(list: RectList, width: number, height: number, dpr: number, background: number): void {
    if (this.lost) return;
    const gl = this.gl;
    resize(this.canvas, width, height, dpr);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor((background >> 16) / 255, ((background >> 8) & 255) / 255, (background & 255) / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.size, width, height);
    gl.bufferData(gl.ARRAY_BUFFER, list.floats.subarray(0, list.n * 5), gl.STREAM_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, list.n);
  }
}

class CanvasRenderer implements Renderer {
  readonly name = "canvas";
  private c: CanvasRenderingContext2D;

  constructor(private canvas: HTMLCanvasElement) {
    this.c = canvas.getContext("2d", { alpha: false })!;
  }

  draw(list: RectList, width: number, height: number, dpr: number, background: number): void {
    resize(this.canvas, width, height, dpr);
    const c = this.c, f = list.floats;
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.fillStyle = css(background);
    c.fillRect(0, 0, width, height);
    let colour = -1;
    for (let i = 0; i < list.n; i++) {
      const at = i * 5, k = list.colours[at + 4];
      if (k !== colour) {
        colour = k;
        c.fillStyle = css(((k & 0xff) << 16) | (k & 0xff00) | ((k >>> 16) & 0xff));
      }
      c.fillRect(f[at], f[at + 1], Math.max(0.75, f[at + 2] - f[at]), f[at + 3] - f[at + 1]);
    }
  }
}

const cssCache = new Map<number, string>();
export function css(rgb: number): string {
  let s = cssCache.get(rgb);
  if (!s) cssCache.set(rgb, (s = "#" + rgb.toString(16).padStart(6, "0")));
  return s;
}
