#!/bin/sh
# The code and output in docs/lessons and README.md are those of the examples and their tests.
cd "$(dirname "$0")/.." && exec python3 tools/lessons.py --check
