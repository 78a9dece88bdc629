#!/bin/sh
# The lessons as one page: every link leads to a place in it, every picture of the lessons is inside, nothing is
# asked of the network, and a browser shows it.  A picture made now shows what the one in docs shows.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 tools/book.py "$dir/book.html"
python3 - "$dir/book.html" <<'PY'
import glob, re, sys
book = open(sys.argv[1]).read()
places = re.findall(r'\bid="([^"]+)"', book)
assert len(places) == len(set(places)), [p for p in places if places.count(p) > 1]
links = re.findall(r'\bhref="([^"]+)"', book)
assert len(links) > 50 and all(at[0] == "#" and at[1:] in places for at in links), links
assert not re.search(r'\b(src|srcset|data|action)="|url\(|@import|<script|<link|<iframe', book)
lessons = glob.glob("docs/lessons/[0-9]*.md")
assert len(re.findall('<section id="docs-lessons-[0-9]', book)) == len(lessons) >= 10
for path in glob.glob("docs/lessons/pictures/*.svg"):
    assert open(path).read() in book, f"{path} is in no page"
rest = re.sub(r"<pre>.*?</pre>|<svg.*?</svg>|<code>.*?</code>", "", book, flags=re.S)
for wrong in (r"\]\(", r"^#+ ", "```", r"\*\*"):
    assert not re.search(wrong, rest, re.M), re.search(".*" + wrong + ".*", rest, re.M)[0]
PY
python3 tools/pictures/pictures.py --into "$dir/pictures" 01_devices 04_train 07_mesh
python3 - "$dir/pictures" <<'PY'
import re, sys
def slices(path):
    return re.findall(r"<title>([^:<]*): [\d.]+ us</title>", open(path).read())
for name, meets in ("01_devices", 0), ("04_train", 4), ("07_mesh", 4):
    new, old = (f"{folder}/{name}" for folder in (sys.argv[1], "docs/lessons/pictures"))
    assert open(f"{new}_holds.svg").read() == open(f"{old}_holds.svg").read(), name
    kernels = [sorted(s for s in slices(f"{at}_step.svg") if s not in ("wait", "ready")) for at in (new, old)]
    assert kernels[0] == kernels[1] and kernels[0].count("all_reduce") == meets, (name, kernels)
    text = open(f"{new}_step.svg").read()
    assert [f">device {d}<" in text for d in range(5)] == [True] * 4 + [False]
PY
for browser in chromium chromium-browser google-chrome; do
    command -v $browser >/dev/null || continue
    timeout 60 $browser --headless --no-sandbox --disable-gpu --host-resolver-rules="MAP * ~NOTFOUND" \
        --dump-dom "file://$dir/book.html" >"$dir/shown" 2>/dev/null
    [ "$(grep -c '<section id=' "$dir/shown")" -ge 20 ] || { echo "the browser shows no book"; exit 1; }
    exit 0
done
echo "there is no Chromium here: the book was not opened"
