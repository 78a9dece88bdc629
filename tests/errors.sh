#!/bin/sh
# Bad programs: each must end, within SECONDS_EACH (2), in exactly the message that its first line
# states, where NAME is the file's own name.  One process runs them all, so each also shows that
# those before it left the engine sound.
set -eu
cd "$(dirname "$0")/errors"
said=$("../../${BUILD:-build}/tutti" check --seconds "${SECONDS_EACH:-2}" ./*.mlir 2>&1) || true
bad=0 count=0
for file in *.mlir; do
    count=$((count + 1))
    expected=$(sed -n "1s|^// error: ||p" "$file" | sed "s|NAME|./$file|g")
    got=$(printf '%s\n' "$said" | sed -n "s|^FAIL $file: ||p")
    if [ -z "$expected" ] || [ "$got" != "$expected" ]; then
        printf '%s\n  expected: %s\n  got:      %s\n' "$file" "$expected" "${got:-it is accepted}"
        bad=$((bad + 1))
    fi
done
echo "$((count - bad)) passed, $bad failed"
[ "$bad" = 0 ] && [ "$count" -ge 90 ]
