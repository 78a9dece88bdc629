#!/usr/bin/env python3
"""Writes the list of files in ARCHITECTURE.md anew: every source file in the order in which
data flows, with the first sentence of its opening comment.  tests/architecture.sh compares."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = [
    ("src/base", "What both sides stand on; knows nothing of arrays."),
    ("src/ops", "What the operations are; shared, no behaviour."),
    ("src/files", "The files that arrays and programs come in."),
    ("src/hlo", "A program as data; shared by both sides, linked into each."),
    ("src/hlo/define", "Operations that stand for others, written out."),
    ("src/hlo/read", "From bytes to a module: text, and MLIR bytecode."),
    ("include", "The interface."),
    ("src/front/api", "The front: what tutti.h names, in its groups."),
    ("src/front/value", "What a tt names: scopes, arrays and how they lie on devices, traces; failures."),
    ("src/front/transform", "Functions, and graphs into graphs: derivatives, batches, maps, loops."),
    ("src/front/transform/rules",
     "How operations are differentiated, run backwards, given another axis."),
    ("src/front/lower", "From a graph with named axes to StableHLO text."),
    ("src/front/run", "A call: signature, program, execution; call.c is the contents page."),
    ("src/front/client", "The process's one client: what the front asks of devices."),
    ("src/pjrt", "The seam: the ABI, the caller's side of it, protocol buffers."),
    ("src/engine/plugin", "PJRT from the engine's side: one file per object."),
    ("src/engine", "StableHLO in, results out: the contents page, and the contracts."),
    ("src/engine/passes", "From a module to the program of one device, in kernels and segments."),
    ("src/engine/passes/simplify", "The same program with less in it."),
    ("src/engine/passes/place", "From a program for many partitions to that of one device."),
    ("src/engine/analysis", "What is asked of a program without changing it."),
    ("src/engine/codegen", "LLVM for an index, an element, a loop."),
    ("src/engine/kernels", "One file for each root that a kernel may have."),
    ("src/engine/math", "Functions of numbers as vector code."),
    ("src/engine/link", "From kernels to objects to a Program."),
    ("src/engine/ahead", "A Program as the data of an object file."),
    ("src/engine/eval", "The reference evaluator, independent of all code generation."),
    ("src/engine/numerics", "What compiled code calls ready-made; knows nothing of runs."),
    ("src/engine/numerics/linalg", "Our own factorizations of matrices."),
    ("src/engine/ffi", "Foreign functions as XLA calls them."),
    ("src/engine/memory", "The memory of devices and threads, handles, events."),
    ("src/engine/profile", "Who did what, when: the recorder, and the ways to look."),
    ("src/engine/exec", "Devices as tasks: executor, launches, buffers."),
    ("src/engine/collectives", "What happens when a group of devices has met."),
    ("src/rt", "libtutti_rt: what plays programs that were compiled ahead."),
    ("src/player", "The engine without its compiler."),
    ("src/engine/hosts", "Devices in several processes: who they are, and messages between them."),
    ("cli", "The command line."),
]
MARK = "<!-- files: made by tools/files.py -->\n"


def first_sentence(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read(20000)
    found = re.match(r"/\*\s*(.*?)\*/", text, re.S)
    comment = found.group(1) if found else ""
    comment = re.sub(r"\n\s*\*\s?", "\n", comment).split("\n\n")[0].replace("\n", " ")
    comment = re.sub(r"^\S+\.(c|cpp|h|def) - ", "", comment)
    sentence = re.split(r"(?<=\.)\s", comment.strip())[0].rstrip(".:")
    return re.sub(r"\s+", " ", sentence)


def main():
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "src", "cli", "include"],
                             capture_output=True, text=True, check=True).stdout.split()
    sources = [f for f in tracked if re.search(r"\.(c|cpp|h|def|map)$", f)]
    lines = []
    for folder, what in FOLDERS:
        here = sorted(f for f in sources if os.path.dirname(f) == folder)
        here = [f for f in here if not (f.endswith(".h") and {f[:-2] + ".c", f[:-2] + ".cpp"} & set(sources))]
        if here:
            lines += [f"\n### {folder}\n", f"{what}\n"]
        lines += [f"- `{f}`: {first_sentence(f)}" for f in here]
    path = os.path.join(ROOT, "ARCHITECTURE.md")
    with open(path, encoding="utf-8") as file:
        head = file.read().split(MARK)[0]
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + MARK + "\n".join(lines) + "\n")


main()
