#!/usr/bin/env python3
"""The site: the documents, the examples and the reference, as pages with a search, light and dark.

    tools/make_site.py --root . --out build/site      then open build/site/html/index.html by a server:
    python3 -m http.server --directory build/site/html

MkDocs makes it (Debian: mkdocs, mkdocs-material); nothing is fetched from elsewhere, neither when it
is made nor when it is read. Files of the sources that a document links to become pages, too. At the
end every link of the finished pages is followed, to the heading.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import reference

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^( *)```(\w+) [^\n]*$", re.M)
CODE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
DOCUMENTS = ["README.md", "HACKING.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/*.md", "docs/design/*.md",
             "examples/README.md", "src/README.md", "bench/README.md"]
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".S": "gas", ".py": "python", ".sh": "sh", ".cmake": "cmake",
             ".toml": "toml", ".json": "json", ".mjs": "js"}
PICTURES = {".svg", ".png"}


class Site:
    def __init__(self, root, pages):
        self.root, self.pages = root, pages
        self.waiting, self.known = [], set()

    def add(self, path):
        if path not in self.known and (path.name == "index.md" or (self.root / path).exists()):
            self.known.add(path)
            self.waiting.append(path)

    def target_of(self, page, link):
        """What a link of that page becomes; what it leads to becomes a page of the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        name, mark, heading = link.partition("#")
        path = Path(os.path.normpath(page.parent / name))
        goal = self.root / path
        if goal.is_dir():
            path = path / "README.md" if (goal / "README.md").exists() else path / "index.md"
        elif goal.suffix in PICTURES:
            (self.pages / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(goal, self.pages / path)
            return link
        self.add(path)
        if path.suffix != ".md":
            path = path.with_name(path.name + ".md")
        return os.path.relpath(path, page.parent) + mark + heading

    def document(self, path):
        text = (self.root / path).read_text(encoding="utf-8")
        out, last = [], 0
        for code in CODE.finditer(text):
            out.append(self.linked(path, text[last:code.start()]))
            out.append(FENCE.sub(r"\1```\2", code[0]))
            last = code.end()
        return "".join(out) + self.linked(path, text[last:])

    def linked(self, path, text):
        return LINK.sub(lambda m: m[1] + self.target_of(path, m[2]) + m[3], text)

    def write(self, path):
        goal = self.root / path
        if path.name == "index.md":
            text = f"# {path.parent}\n\n" + "\n".join(
                self.linked(path, f"- [{each.name}]({each.name})") for each in sorted(goal.parent.iterdir())
                if each.suffix == ".md" or each.is_file() and path.parts[0] == "examples")
        elif path.suffix == ".md":
            text = self.document(path)
        else:
            code = goal.read_text(encoding="utf-8")
            text = f"# {path}\n\n```{LANGUAGES.get(path.suffix, 'text')}\n{code}\n```\n"
            path = path.with_name(path.name + ".md")
        (self.pages / path).parent.mkdir(parents=True, exist_ok=True)
        (self.pages / path).write_text(text + "\n", encoding="utf-8")

    def make(self):
        for pattern in DOCUMENTS:
            for path in sorted(self.root.glob(pattern)):
                self.add(path.relative_to(self.root))
        for path in sorted((self.root / "examples").glob("*.cc")):
            self.add(path.relative_to(self.root))
        while self.waiting:
            self.write(self.waiting.pop())
        reference.write(self.root, self.pages / "reference")


def configuration(root, pages):
    """mkdocs.yml, with what is found put in: the reference's pages and the decisions; without what is not."""
    out = []
    for line in (root / "tools/site/mkdocs.yml").read_text(encoding="utf-8").splitlines():
        entry = re.match(r"( +)- (Reference: )?(\S+\.md|reference|docs/design)$", line)
        if entry and not entry[3].endswith(".md"):
            indent = entry[1] + "    "
            out.append(f"{entry[1]}- {'Reference' if entry[2] else 'Decisions'}:")
            found = sorted((pages / entry[3]).glob("*.md"), key=lambda p: (p.name != "index.md", p.name))
            out += [f"{indent}- {p.relative_to(pages)}" for p in found]
        elif not entry or (pages / entry[3]).exists():
            out.append(line)
    return "\n".join(out) + "\n"


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names, self.fetched = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if a.get("id"):
            self.names.add(a["id"])
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag in ("script", "img") and a.get("src"):
            self.fetched.append(a["src"])
        if tag == "link" and a.get("rel") in ("stylesheet", "icon", "preconnect"):
            self.fetched.append(a.get("href", ""))


def broken(html):
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in sorted(html.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # its links are the server's root's
            continue
        where = path.relative_to(html)
        for each in page.fetched:
            if re.match(r"(https?:)?//", each):
                yield f"{where} fetches {each}"
        for link in page.links + page.fetched:
            if re.match(r"([a-z]+:)?//|[a-z]+:", link):
                continue
            name, _, heading = unquote(link).partition("#")
            goal = Path(os.path.normpath(path.parent / name)) if name else path
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.exists():
                yield f"{where}: {link}: no such page"
            elif heading and goal in pages and heading not in pages[goal].names:
                yield f"{where}: {link}: no such heading"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    root = args.root.resolve()
    if shutil.which("mkdocs") is None:
        print("site: there is no mkdocs here: `tools/setup.sh site`")
        sys.exit(77)

    shutil.rmtree(args.out, ignore_errors=True)
    pages = args.out / "pages"
    pages.mkdir(parents=True)
    Site(root, pages).make()
    shutil.copy(root / "tools/site/site.css", pages)
    (args.out / "mkdocs.yml").write_text(configuration(root, pages), encoding="utf-8")
    done = subprocess.run(["mkdocs", "build", "--quiet", "--strict"], cwd=args.out, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"site: mkdocs refuses\n{done.stdout}")
    problems = list(broken(args.out / "html"))
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"site: {len(problems)} links lead nowhere")
    print(f"site: {len(list((args.out / 'html').rglob('*.html')))} pages in {args.out}/html")


if __name__ == "__main__":
    main()
