"""How long the programs of examples/twelve are in C and in Python: characters, without spaces and comments.

    python tests/twelve/characters.py [MOST]       fails if the geometric mean of C / Python is above MOST
"""
import glob
import io
import math
import os
import re
import sys
import tokenize

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "twelve")


def of_python(text):
    body = text.split('"""', 2)[2]
    tokens = tokenize.generate_tokens(io.StringIO(body).readline)
    return sum(len("".join(t.string.split())) for t in tokens if t.type != tokenize.COMMENT)


def of_c(text):
    return len("".join(re.sub(r"/\*.*?\*/", "", text, flags=re.S).split()))


logs = []
for path in sorted(glob.glob(os.path.join(PROGRAMS, "*.c"))):
    c, python = of_c(open(path).read()), of_python(open(path[:-1] + "py").read())
    print(f"{os.path.basename(path)[:-2]:12} {c:5} {python:5} {c / python:.2f}")
    logs.append(math.log(c / python))
mean = math.exp(sum(logs) / len(logs))
print(f"geometric mean {mean:.3f}")
if len(sys.argv) > 1 and mean > float(sys.argv[1]):
    sys.exit(f"the programs are longer in C than {sys.argv[1]} times Python's")
