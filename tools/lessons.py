#!/usr/bin/env python3
"""Puts the lessons' code and output into docs/lessons, and README's example into README.md.

    tools/lessons.py            writes them
    tools/lessons.py --check    says what is not as it should be, and exits with 1

In NAME.md the first ```c block is examples/NAME.c and the block after "TUTTI_DEVICES=4" is what
tests/lessons/NAME.txt expects of four devices.  In README.md the first ```c block is
examples/02_pmap.c without its opening comment.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def expected(name):
    text = (ROOT / "tests/lessons" / (name + ".txt")).read_text()
    return re.search(r"^## TUTTI_DEVICES=4\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)


def with_block(text, before, content):
    """The text with the first block after `before` holding that content."""
    pattern = re.compile("(" + before + r"\n)(.*?)(^```$)", re.M | re.S)
    if not pattern.search(text):
        sys.exit(f"no block after {before!r}")
    return pattern.sub(lambda m: m.group(1) + content + m.group(3), text, count=1)


def pages():
    """Every page with blocks, and what it should say."""
    for source in sorted((ROOT / "examples").glob("[0-9]*.c")):
        page = ROOT / "docs/lessons" / (source.stem + ".md")
        text = with_block(page.read_text(), "```c", source.read_text())
        command = rf"\$ TUTTI_DEVICES=4 build/examples/{source.stem}"
        yield page, with_block(text, "```text\n" + command, expected(source.stem))
    readme = ROOT / "README.md"
    code = (ROOT / "examples/02_pmap.c").read_text()
    yield readme, with_block(readme.read_text(), "```c", code[code.index("*/\n") + 3:])


def main():
    wrong = False
    for page, text in pages():
        if page.read_text() == text:
            continue
        wrong = True
        if "--check" in sys.argv:
            print(f"{page.relative_to(ROOT)}: its code or output is another than the example's: "
                  "run tools/lessons.py")
        else:
            page.write_text(text)
    sys.exit(wrong and "--check" in sys.argv)


main()
