#!/bin/sh
# The dependency law: base < ops < hlo < engine and front; the two share nothing else than
# the seam, which stands on base; comm stands on base and the program's tables alone; ops and hlo never see tutti.h.
set -eu
cd "$(dirname "$0")/.."
bad=0
forbid() { # forbid FOLDER PATTERN
    if grep -rnE "#include \"($2)" "$1" 2>/dev/null; then
        echo "  ^ $1 may not include $2"
        bad=1
    fi
}
forbid src/base 'ops/|hlo/|engine/|front/|pjrt/|tutti'
forbid src/ops 'hlo/|engine/|front/|pjrt/|tutti'
forbid src/hlo 'engine/|front/|pjrt/|tutti'
forbid src/pjrt 'ops/|hlo/|engine/|front/|tutti'
forbid src/engine 'front/|tutti'
forbid src/front 'engine/'
# The front: client < value < transform (and its rules) < lower < run < api.
forbid src/front/client 'front/(value|transform|lower|run|api)/'
forbid src/front/value 'front/(transform|lower|run|api)/'
forbid src/front/transform 'front/(lower|run|api|transform/rules)/'
forbid src/front/lower 'front/(run|api)/'
forbid src/front/run 'front/api/'
COMPILER='passes|codegen|kernels|math|link'
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
forbid cli 'engine/'
exit $bad
