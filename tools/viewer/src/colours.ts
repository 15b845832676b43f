// Colours of states and functions, in light and dark.
import { State } from "./world";

interface Theme { background: number; stripe: number; text: string; quiet: string; line: string; states: number[]; functions: number[]; region: number[]; stop: number; accent: string }

// By State: runnable, running, waiting, call, evicted, preempted, not known.
const light: Theme = {
  background: 0xffffff, stripe: 0xf6f7f9, text: "#1d2530", quiet: "#5d6977", line: "#e4e8ec", accent: "#1f6feb",
  states: [0xf0b23e, 0x2f9e5f, 0xdbe2ea, 0x7b8ce0, 0xd9534f, 0xb58bd6, 0xf0f0f0],
  functions: [0x4f8fd6, 0x4fae82, 0xd98a4a, 0x9a7bd1, 0xcf6679, 0x3fa7b5, 0xa9a03c, 0x8b93a1, 0x6c7fe0, 0xc277b8, 0x77a84a, 0xc79a3a],
  region: [0xbcd4f6, 0xc9e7d4, 0xf6dcbf, 0xdccff2], stop: 0xd9534f,
};
const dark: Theme = {
  background: 0x14181d, stripe: 0x191e24, text: "#e3e8ee", quiet: "#97a3b1", line: "#262d35", accent: "#6aa5ff",
  states: [0xd99a2b, 0x3cae6d, 0x333d49, 0x6778cf, 0xd9544f, 0x9a72bd, 0x22272e],
  functions: [0x4b86c9, 0x479a74, 0xc07a43, 0x8a6fbd, 0xb95a6c, 0x3a94a1, 0x938b38, 0x75808f, 0x6272c8, 0xaa6aa2, 0x699443, 0xae8835],
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
