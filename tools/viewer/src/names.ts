// Short names of functions, for labels: without parameters, template arguments and return types.
// Where vole calls the user's function for it, the user's is the one that says something.
import type { Model } from "./model";
import { State } from "./world";

// The arguments of the first template in a name, cut at the commas between them.
function templateArguments(name: string): string[] {
  const list: string[] = [];
  let depth = 0, from = 0;
  for (let i = name.indexOf("<"); i >= 0 && i < name.length; i++) {
    const c = name[i];
    if (c === "<" || c === "(" || c === "[") {
      if (!depth++) from = i + 1;
    } else if (c === ">" || c === ")" || c === "]") {
      if (!--depth) return [...list, name.slice(from, i).trim()];
    } else if (c === "," && depth === 1) {
      list.push(name.slice(from, i).trim());
      from = i + 1;
    }
  }
  return list;
}

const kPlain = /^(void|bool|char|int|unsigned|long|short|float|double|std::|vole::chan|vole::context|vole::net)/;

// The user's callable inside one of vole's templates; "": the type does not tell, as with a
// pointer to a function.
function callable(name: string): string {
  const parts = templateArguments(name);
  const all = /\bbound_call</.test(name.slice(0, name.indexOf("<") + 1)) ? parts.slice(0, 1) : parts;
  for (const part of all) {
    if (kPlain.test(part) || /\(\*+\)/.test(part) || part === "") continue;
    return /^vole::.*</.test(part) ? callable(part) : part;
  }
  return "";
}

function bare(name: string): string {
  let out = "", depth = 0;
  for (const c of name.replace(/\(anonymous namespace\)::/g, "").replace(/operator\(\)/g, "operator__")) {
    if (c === "<" || c === "(") depth++;
    if (!depth) out += c;
    if (c === ">" || c === ")") depth = Math.max(0, depth - 1);
  }
  out = out.replace(/::_FUN$/, "").replace(/operator__/g, "operator()").replace(/\{lambda#(\d+)\}/g, "λ$1").replace(/\{lambda\}/g, "λ").trim();
  return out || name;
}

// `elsewhere`: what must do where the type does not tell the function, as "in serve".
export function shortFunction(name: string, elsewhere = ""): string {
  if (/^vole::detail::run_main\b/.test(name)) return "main";
  if (/^vole::[\w:]*</.test(name)) {
    const inner = callable(name);
    if (inner) return bare(inner);
    if (elsewhere) return elsewhere;
  }
  if (/^[^(]*\(\*+\)\(/.test(name)) return elsewhere || name;  // the type of a pointer
  return bare(name);
}

const isOwn = (fn: string) => fn !== "" && !/^(vole|std|__gnu_cxx)::/.test(fn);

// Functions whose type does not tell what they call are named by the function in which their
// goroutines wait most, or else by the one that made them.
export function labelFunctions(m: Model): void {
  const outermost = (place: number) => (m.placePcs[place] ?? []).flatMap((pc) => m.symbols.get(pc) ?? []).filter((f) => isOwn(f.fn)).at(-1)?.fn ?? "";
  const votes = m.functions.name.map(() => new Map<string, number>()), made = m.functions.name.map(() => ""), asked = m.functions.name.map(() => 0);
  for (let g = 0; g < m.goroutines; g++) {
    const f = m.fn[g];
    if (asked[f]++ >= 50) continue;
    made[f] ||= outermost(m.site[g]);
    for (let i = m.first[g]; i < Math.min(m.first[g + 1], m.first[g] + 200); i++) {
      const fn = (m.kind[i] & 15) === State.Waiting ? outermost(m.arg[i]) : "";
      if (fn) votes[f].set(fn, (votes[f].get(fn) ?? 0) + 1);
    }
  }
  m.functions.label = m.functions.name.map((name, f) => {
    const most = [...votes[f]].sort((a, b) => b[1] - a[1])[0]?.[0];
    return shortFunction(name, most ? `in ${bare(most)}` : made[f] ? `from ${bare(made[f])}` : "");
  });
}
