#!/bin/sh
# The page of a recording opens in a browser without network, and every control of it works.  Where there
# is no Chromium this is said, and only the data in the page is read.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
TUTTI_WORKERS=2 $build/tutti run tests/profile/slow_device_4.mlir --out "$dir" --trace "$dir/page.html" >/dev/null
python3 - "$dir/page.html" <<'PY'
import json, re, sys
page = open(sys.argv[1]).read()
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1))
assert [t["name"] for t in data["tracks"][:4]] == [f"device {d}" for d in range(4)]
assert len(data["arrows"]) == 6, data["arrows"]
for track in data["tracks"]:
    s = track["slices"]
    assert len(s) % 5 == 0 and all(s[i] <= s[i + 5] for i in range(0, len(s) - 5, 5)), track["name"]
    assert all(n < len(data["names"]) for n in s[2::5]) and all(k < len(data["kinds"]) for k in s[3::5])
PY
for browser in chromium chromium-browser google-chrome; do
    command -v $browser >/dev/null || continue
    python3 tests/profile/page.py $browser "$dir/page.html" "$dir"
    exit
done
echo "there is no Chromium here: the page was not opened"
