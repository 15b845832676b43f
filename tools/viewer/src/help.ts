// The help page.
const kKeys: [string, string][] = [
  ["W S", "zoom in and out (Shift: faster); Ctrl and wheel, or pinch"],
  ["A D", "pan left and right; or drag, or Shift and wheel, or two fingers"],
  ["← →", "previous and next slice of the row"],
  ["↑ ↓", "row above and below"],
  ["Enter", "expand or collapse a function's goroutines"],
  ["F", "zoom to the chosen slice or area"],
  ["0", "show all"],
  ["B", "to the one that woke this goroutine: press it again and again"],
  ["Backspace", "back to what was chosen before"],
  ["M", "add up all goroutines over the chosen slice's time"],
  ["/", "search; Enter or N for the next match, Shift+N for the one before; @12.5ms goes to that time"],
  ["1 2 3", "timeline, functions, latency"],
  ["O", "open a file"],
  ["Esc", "choose nothing"],
  ["?", "this page"],
];
const kStates: [number, string][] = [
  [1, "running on a P"], [0, "runnable: waits for a P"], [2, "waiting, for the reason in the slice"],
  [3, "in a call that may block the thread"], [4, "evicted: runs without a P, which was taken from it"],
];

export function helpHtml(colour: (state: number) => string): string {
  return `<form method="dialog"><button style="float:right" autofocus>Close</button></form><h2 style="margin-top:0">How to read this</h2>
  <p>Each row is a processor (P), a thread or a goroutine; time goes to the right. Goroutines are grouped by the function that they began with; a group's row shows how many of them run and, above that, how many wait for a P. Rows of Ps and threads have a colour for each function; rows of goroutines have one for each state:</p>
  <p>${kStates.map(([s, t]) => `<span style="display:block"><span class="swatch" style="background:${colour(s)}"></span>${t}</span>`).join("")}</p>
  <p>Where a pixel stands for many slices, the height says for how much of the time the row was busy. Click a slice: the panel says what it waited for, who woke it, and what that one did before, back to where the wait began; the timeline shows the same chain as bars and arrows. Click a slice that is runnable, and the panel says what the Ps did instead. Tasks, regions and their logs can be clicked too.</p>
  <p>Drag on the ruler, or anywhere with Shift, to add up an area. What you search for and see is in the address, so a view can be kept as a bookmark.</p>
  <table>${kKeys.map(([k, t]) => `<tr><td>${k.split(" ").map((x) => `<kbd>${x}</kbd>`).join(" ")}</td><td>${t}</td></tr>`).join("")}</table>`;
}
