#!/bin/sh
# The test runner itself: what fails, what takes too long by its own doing, what hangs, and what only
# waits for a machine that is busy.
RUN="${BUILD:-build}/run-tests"
result() { "$RUN" -t "$1" -j 4 "$2" 2>&1; }
says() {
    text=$(result "$1" "$2")
    case "$text" in *"$3"*) ;; *) echo "run-tests $2: no '$3' in:"; echo "$text"; exit 1 ;; esac
}
says 4 "true" "1 passed, 0 failed"
says 4 "echo words; false" "    words"
says 4 "kill -SEGV \$\$" "Segmentation fault"
says 2 "while :; do :; done" "has used too much processor time"
says 2 "sh -c 'while :; do :; done'; true" "has used too much processor time"
says 2 "sleep 60" "stands still"
# As long as the limit by the clock, with little work now and then: others had the processor.
says 4 "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 0.5; n=0; while [ \$n -lt 20000 ]; do n=\$((n + 1)); done; done" \
    "1 passed, 0 failed"
