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
forbid src/engine/comm 'engine/(emit|passes|rules|plugin)/'
forbid src/engine/run 'engine/(emit|passes|plugin)/'
forbid src/engine/passes 'engine/(plugin|run|comm)/'
forbid src/engine/emit 'engine/plugin/'
forbid cli 'engine/'
exit $bad
