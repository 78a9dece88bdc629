#!/bin/sh
# The dependency law: base < ops < hlo < engine and front; the two share nothing else than
# the seam; comm stands on base and the program's tables alone; ops and hlo never see tutti.h.
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
forbid src/pjrt 'base/|ops/|hlo/|engine/|front/|tutti'
forbid src/engine 'front/|tutti'
forbid src/front 'engine/'
COMPILER='passes|codegen|kernels|math|link'
forbid src/engine/collectives "engine/($COMPILER|analysis|eval|plugin)/"
forbid src/engine/numerics "engine/($COMPILER|analysis|plugin|collectives)/|engine/exec/(executor|launch|buffer|event)"
forbid src/engine/exec "engine/($COMPILER|analysis|plugin)/"
forbid src/engine/passes 'engine/(codegen|kernels|math|link|plugin|exec|collectives)/'
forbid src/engine/analysis 'engine/(passes|link|plugin|exec|collectives)/'
forbid src/engine/codegen 'engine/(passes|link|plugin|exec|collectives)/'
forbid src/engine/kernels 'engine/(passes|link|plugin|exec|collectives)/'
forbid src/engine/math 'engine/(passes|kernels|link|plugin|exec|collectives)/'
forbid src/engine/link 'engine/(passes|plugin|exec|collectives)/'
forbid cli 'engine/'
exit $bad
