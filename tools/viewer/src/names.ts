// Short names of functions, for labels: without parameters, template arguments and return types.
// Where vole calls the user's function for it, the user's is the one that says something.

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

// `made`: the function that began such goroutines, which must do where their own has no name.
export function shortFunction(name: string, made = ""): string {
  if (/^vole::detail::run_main\b/.test(name)) return "main";
  if (/^vole::[\w:]*</.test(name)) {
    const inner = callable(name);
    if (inner) return bare(inner);
    if (made) return `from ${bare(made)}`;
  }
  return bare(name);
}
