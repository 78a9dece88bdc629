#!/bin/sh
# `tutti show`: the page has every argument and result with who holds what, the operations that each dump has,
# and the memory that values need, found here by hand.  It is well formed, and asks nothing of the network.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/sum_4.mlir" <<'MLIR'
module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.tanh %0 : tensor<8x8xf32>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
MLIR
$build/tutti show "$dir/sum_4.mlir" --out "$dir/page.html"
for pass in refine simplify place fuse; do
    $build/tutti dump "$dir/sum_4.mlir" --after=$pass >"$dir/$pass.txt"
done
python3 - "$dir" <<'PY'
import re, sys
import xml.etree.ElementTree as tree
folder = sys.argv[1]
page = open(f"{folder}/page.html").read()
body = tree.fromstring(re.search("<body>.*</body>", page, re.S)[0])
arrays = body.findall("div[@class='array']")
assert [a.find("p").text for a in arrays] == ["argument 0: [8, 4], each device [4, 2]",
    "argument 1: [4, 8], each device [2, 8]", "result 0: [8, 8], each device [4, 8]"]
cells = [[t.text for t in a.iter("title")] for a in arrays]
assert cells == [["device 0: [0:4, 0:2]", "device 1: [0:4, 2:4]", "device 2: [4:8, 0:2]", "device 3: [4:8, 2:4]"],
    ["device 0 2: [0:2, 0:8]", "device 1 3: [2:4, 0:8]"], ["device 0 1: [0:4, 0:8]", "device 2 3: [4:8, 0:8]"]], cells
rows = {r[0].text: [int(c.text) for c in r[1:4]] for r in body.find("table[@id='passes']")[1:]}
for name in "refine", "simplify", "place", "fuse":
    lines = open(f"{folder}/{name}.txt").read().splitlines()
    ops = [l for l in lines if re.match(r' +(%|"|stablehlo\.(?!return))', l)]
    assert rows[name][0] == len(ops), (name, rows[name], len(ops))
    assert rows[name][1] == sum(l[:4] == "    " != l[4:5] * 4 and l[4] != " " for l in ops), (name, rows[name])
# As read: the first product, its tanh and the last product are alive together, 8 x 8 x 4 bytes each.
assert rows["as it was read"] == [3, 3, 3 * 256], rows["as it was read"]
bars = [t.text for t in body.find("svg[@id='memory']").iter("title")]
assert len(bars) == rows["join_collectives"][1]
assert max(int(re.search(r": (\d+)", b)[1]) for b in bars) == rows["join_collectives"][2]
assert re.search(r"^kernels_compiled [1-9]", body.find("pre[@id='stats']").text, re.M)
assert not re.search(r'\b(src|href)=|https?:|<script', page)
PY
