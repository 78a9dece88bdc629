#!/bin/sh
# format.sh CLANG_FORMAT [--check]: every source file of the tree by .clang-format; with --check nothing
# is written, and files that would change are named.
#
# Each version of clang-format breaks lines a little otherwise, so the tree is kept in one, which
# python/requirements.txt names.
set -eu
cd "$(dirname "$0")/.."
tool=$1 mode=${2:-}
wanted=$(sed -n 's/^clang-format==//p' python/requirements.txt)
found=$("$tool" --version) || { echo "format: $tool does not run"; exit 1; }
case "$found " in
*" version $wanted "*) ;;
*) echo "format: $tool is '$found'; the tree is kept in version $wanted (python/requirements.txt)"; exit 1 ;;
esac
if [ "$mode" != --check ]; then
    git ls-files -z '*.c' 'src/*.cpp' '*.h' | xargs -0 "$tool" -i
    exit
fi
git ls-files -z '*.c' 'src/*.cpp' '*.h' | xargs -0 "$tool" --dry-run --Werror 2>&1 |
    sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' | sort -u |
    { ! grep . ; } || { echo "format: these are not as .clang-format has them: make format"; exit 1; }
