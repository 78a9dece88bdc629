#!/usr/bin/env python3
"""The lessons, and what they refer to, as one page of HTML that needs no network: `make book`.

    tools/book.py OUT.html

Chapters are docs/lessons and docs/howto.  A link to a chapter stays in the book; C files that chapters
link to are appendices; a link to anything else becomes its words and its path.  Pictures are inside.
"""
import html
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 52em; margin: 2em auto; padding: 0 1em; color: #222; }
pre { background: #f6f6f4; padding: .8em; overflow-x: auto; font-size: 13px; line-height: 1.35; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: .88em; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2em .6em; text-align: left; }
svg { max-width: 100%; height: auto; } figure { margin: 1em 0; } figcaption { font-style: italic; }
section { border-top: 2px solid #ddd; margin-top: 3em; } nav a { display: block; }
"""


class Book:
    def __init__(self):
        lessons = ROOT / "docs/lessons"
        self.chapters = [lessons / "README.md", *sorted(lessons.glob("[0-9]*.md")),
                         *sorted((ROOT / "docs/howto").glob("*.md"))]
        self.appendices = []  # files that are linked to, in the order of their links

    def anchor(self, path):
        return re.sub(r"\W+", "-", str(path.relative_to(ROOT)))

    def link(self, page, words, target):
        """HTML of a link; what is not in the book is said in words."""
        place, _, part = target.partition("#")
        if re.match(r"\w+:", target):
            return f"{words} ({html.escape(target)})"
        path = pathlib.Path(os.path.normpath(page.parent / place)) if place else page
        if path in self.chapters:
            at = self.anchor(path) + (f"-{part}" if part else "")
            return f'<a href="#{at}">{words}</a>'
        if path.suffix in (".c", ".h", ".cpp", ".py", ".mlir") and path.is_file():
            if path not in self.appendices:
                self.appendices.append(path)
            return f'<a href="#{self.anchor(path)}">{words}</a>'
        return f"{words} (<code>{html.escape(str(path.relative_to(ROOT)))}</code>)"

    def inline(self, page, text):
        codes = []

        def keep(found):
            codes.append(f"<code>{html.escape(found[2].strip())}</code>")
            return f"\0{len(codes) - 1}\0"

        text = re.sub(r"(`+)(.+?)\1", keep, text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", lambda m: self.picture(page, m[1], m[2]), text)
        text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", lambda m: self.link(page, m[1], m[2]), text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
        text = re.sub(r"(?<!\w)\*(\S(?:.*?\S)?)\*(?!\w)", r"<i>\1</i>", text)
        text = re.sub(r"\\([_*\\`])", r"\1", text)
        return re.sub(r"\0(\d+)\0", lambda m: codes[int(m[1])], text)

    def picture(self, page, words, target):
        svg = (page.parent / target).read_text()
        caption = f"<figcaption>{words}</figcaption>" if words else ""
        return f"<figure>{svg}{caption}</figure>"

    def page(self, path):
        lines = path.read_text().splitlines()
        out, i = [f'<section id="{self.anchor(path)}">'], 0
        while i < len(lines):
            i = self.block(path, lines, i, out)
        return "\n".join([*out, "</section>"])

    def block(self, page, lines, i, out):
        """Writes the block that begins at line i; gives the line behind it."""
        line = lines[i]
        if not line.strip():
            return i + 1
        if line.startswith("```"):
            end = next(k for k in range(i + 1, len(lines)) if lines[k].startswith("```"))
            out.append(f"<pre><code>{html.escape(chr(10).join(lines[i + 1:end]))}</code></pre>")
            return end + 1
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            level, words = len(heading[1]), heading[2]
            name = re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-")
            out.append(f'<h{level} id="{self.anchor(page)}-{name}">{self.inline(page, words)}</h{level}>')
            return i + 1
        for starts, write in ((r"    ", self.code), (r"\|", self.table), (r"\s*([-*]|\d+\.) ", self.list)):
            if re.match(starts, line):
                return write(page, lines, i, out)
        return self.paragraph(page, lines, i, out)

    def code(self, page, lines, i, out):
        end = i
        while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
            end += 1
        text = "\n".join(line[4:] for line in lines[i:end]).rstrip()
        out.append(f"<pre><code>{html.escape(text)}</code></pre>")
        return end

    def table(self, page, lines, i, out):
        out.append("<table>")
        kind = "th"
        while i < len(lines) and lines[i].startswith("|"):
            cells = re.split(r"(?<!\\)\|", lines[i].strip().strip("|"))
            if not re.fullmatch(r"[\s|:-]+", lines[i]):
                out.append("<tr>" + "".join(f"<{kind}>{self.inline(page, c.strip())}</{kind}>" for c in cells) + "</tr>")
                kind = "td"
            i += 1
        out.append("</table>")
        return i

    def list(self, page, lines, i, out):
        tag = "ol" if re.match(r"\s*\d", lines[i]) else "ul"
        items = []
        while i < len(lines) and lines[i].strip() and not lines[i].startswith("```"):
            found = re.match(r"\s*(?:[-*]|\d+\.) (.*)", lines[i])
            if found:
                items.append(found[1])
            else:
                items[-1] += " " + lines[i].strip()
            i += 1
        out.append(f"<{tag}>" + "".join(f"<li>{self.inline(page, item)}</li>" for item in items) + f"</{tag}>")
        return i

    def paragraph(self, page, lines, i, out):
        text = []
        while i < len(lines) and lines[i].strip() and not re.match(r"```|#+ |\|", lines[i]):
            text.append(lines[i].strip())
            i += 1
        out.append(f"<p>{self.inline(page, ' '.join(text))}</p>")
        return i

    def whole(self):
        bodies = [self.page(path) for path in self.chapters]
        for path in self.appendices:
            bodies.append(f'<section id="{self.anchor(path)}"><h1><code>{path.relative_to(ROOT)}</code></h1>'
                          f"<pre><code>{html.escape(path.read_text())}</code></pre></section>")
        titles = [(self.anchor(p), re.match(r"# (.*)", p.read_text())[1]) for p in self.chapters]
        titles += [(self.anchor(p), str(p.relative_to(ROOT))) for p in self.appendices]
        contents = "".join(f'<a href="#{at}">{html.escape(words)}</a>' for at, words in titles)
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Tutti</title>'
                f"<style>{STYLE}</style></head><body><h1>Tutti</h1><nav>{contents}</nav>\n"
                + "\n".join(bodies) + "\n</body></html>\n")


def main():
    pathlib.Path(sys.argv[1]).write_text(Book().whole())


main()
