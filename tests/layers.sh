#!/bin/sh
# The dependency law: base < ops < hlo < engine and front; files stand on ops; the two share nothing else than
# the seam, which stands on base; collectives stand on base and the program's tables alone; ops and
# hlo never see tutti.h.  No folder includes, by whatever way, one that includes it.
set -eu
cd "$(dirname "$0")/.."
bad=0
forbid() { # forbid FOLDER PATTERN
    if grep -rnE "#include \"($2)" "$1" 2>/dev/null; then
        echo "  ^ $1 may not include $2"
        bad=1
    fi
}
forbid src/base 'ops/|files/|hlo/|engine/|front/|pjrt/|tutti'
forbid src/ops 'files/|hlo/|engine/|front/|pjrt/|tutti'
forbid src/files 'hlo/|engine/|front/|pjrt/|tutti'
forbid src/hlo 'files/|engine/|front/|pjrt/|tutti'
forbid src/pjrt 'ops/|files/|hlo/|engine/|front/|tutti'
forbid src/engine 'front/|tutti'
forbid src/front 'engine/'
# The front: client < value < transform (and its rules) < lower < run < api.
forbid src/front/client 'front/(value|transform|lower|run|api)/'
forbid src/front/value 'front/(transform|lower|run|api)/'
forbid src/front/transform 'front/(lower|run|api|transform/rules)/'
forbid src/front/lower 'front/(run|api)/'
forbid src/front/run 'front/api/'
COMPILER='passes|codegen|kernels|math|link|ahead'
forbid src/engine/memory "engine/($COMPILER|analysis|eval|numerics|collectives|exec|plugin)/"
forbid src/engine/numerics "engine/($COMPILER|analysis|eval|collectives|exec|plugin)/"
forbid src/engine/collectives "engine/($COMPILER|analysis|eval|exec|plugin)/"
forbid src/engine/exec "engine/($COMPILER|analysis|plugin)/"
forbid src/engine/eval "engine/($COMPILER|analysis|numerics|memory|collectives|exec|plugin)/"
forbid src/engine/codegen 'engine/(passes|analysis|kernels|math|link|eval|collectives|exec|plugin)/'
forbid src/engine/math 'engine/(passes|analysis|kernels|link|eval|collectives|exec|plugin)/'
forbid src/engine/kernels 'engine/(passes|link|eval|collectives|exec|plugin)/'
forbid src/engine/analysis 'engine/(passes|codegen|kernels/kernels|math|link|eval|collectives|exec|plugin)'
forbid src/engine/passes 'engine/(codegen|kernels/kernels|math|link|collectives|exec|plugin)'
forbid src/engine/link 'engine/(passes|eval|collectives|exec|plugin)/'
forbid src/engine/ahead 'engine/(passes|analysis|kernels|math|link|eval|collectives|exec|plugin)/'
# What plays compiled programs has neither compiler nor reader.
forbid src/rt "engine/($COMPILER|analysis|plugin)/|engine/compile|front/|tutti\.h"
forbid src/player 'engine/(codegen|math|ahead|analysis|exec|plugin)/|front/|tutti\\.h'
forbid cli 'engine/'

# Cycles.  compile.c, the engine's contents page, and source.c beside it are above all of the engine's folders.
loops=$(grep -rE '^#include "[a-z_]+/' --include='*.[ch]' --include='*.cpp' src | grep -vE '^src/engine/(compile|source)\.c:' |
    sed -nE 's|^src/(.*)/[^/]+:#include "(.*)/[^/"]+".*|\1 \2|p' | sort -u |
    tsort 2>&1 >/dev/null) || {
    echo "folders that include one another in a circle:"
    echo "$loops"
    bad=1
}

guards=$(grep -rhE '^#ifndef [A-Z0-9_]+_H$' --include='*.h' src include cli tests bench | sort | uniq -d)
if [ -n "$guards" ]; then
    echo "headers that share a guard, so that one of them is left out:"
    echo "$guards"
    bad=1
fi

# What is asked of many operations is a column of ops.def, not a list of their names.
if grep -rnE "(case|==|!=) OP_(WHILE|CASE|RETURN|FUSION)\>" src/engine ||
    grep -rnw OP_IF src/engine | grep -v '^src/engine/passes/refine\.c'; then
    echo "  ^ the column flow of ops.def says it: node_flow, node_is_control, node_holds_code"
    bad=1
fi
# Custom calls are known by their rows in calls.def.
for name in $(sed -nE 's/^CALL\( *[A-Z_]+, *"([^"]*)".*/\1/p' src/ops/calls.def); do
    if grep -rnF "\"$name\"" src --include='*.[ch]'; then
        echo "  ^ @$name has a row in src/ops/calls.def: call_find, node_call"
        bad=1
    fi
done
exit $bad
