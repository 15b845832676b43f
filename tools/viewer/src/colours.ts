// Colours of states and functions, in light and dark.
import { State } from "./world";

interface Theme { background: number; stripe: number; text: string; quiet: string; line: string; states: number[]; functions: number[]; region: number[]; stop: number; accent: string }

// By State: runnable, running, waiting, call, evicted, preempted, not known.
const light: Theme = {
  background: 0xffffff, stripe: 0xf6f7f9, text: "#1d2530", quiet: "#5d6977", line: "#e4e8ec", accent: "#1f6feb",
  states: [0xf0b23e, 0x2f9e5f, 0xdbe2ea, 0x7b8ce0, 0xd9534f, 0xb58bd6, 0xf0f0f0],
  functions: [0x4c8bd6, 0x2fa39b, 0x9476cf, 0xd6854a, 0xc0689f, 0x7a9a3a, 0x5b72d8, 0xb08a3c, 0x4aa5c8, 0xa66fb8, 0x7f8a99, 0x9c7b62],
  region: [0xbcd4f6, 0xc9e7d4, 0xf6dcbf, 0xdccff2], stop: 0xd9534f,
};
const dark: Theme = {
  background: 0x14181d, stripe: 0x191e24, text: "#e3e8ee", quiet: "#97a3b1", line: "#262d35", accent: "#6aa5ff",
  states: [0xd99a2b, 0x3cae6d, 0x333d49, 0x6778cf, 0xd9544f, 0x9a72bd, 0x22272e],
  functions: [0x4a86cc, 0x2e938c, 0x8a6ec4, 0xc27a45, 0xaf6092, 0x6e8a36, 0x5a6fd0, 0x9d7c38, 0x4497b8, 0x9866a9, 0x727d8b, 0x8d705a],
  region: [0x2b4266, 0x27493a, 0x57402a, 0x41355c], stop: 0xd9544f,
};

export let theme = light;
export function setTheme(name: string): void {
  theme = name === "dark" ? dark : light;
}
export function functionColour(fn: number): number {
  return theme.functions[fn % theme.functions.length];
}
export function stateColour(s: State): number {
  return theme.states[s] ?? theme.states[State.Unknown];
}
// A colour moved towards the background.
export function faint(rgb: number, keep = 0.25): number {
  const mix = (shift: number) => {
    const a = (rgb >> shift) & 255, b = (theme.background >> shift) & 255;
    return Math.round(a * keep + b * (1 - keep)) << shift;
  };
  return mix(16) | mix(8) | mix(0);
}
