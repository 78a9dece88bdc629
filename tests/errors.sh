#!/bin/sh
# Bad programs: each must end in exactly the message that its first line states, where NAME is
# the file's own name.
set -eu
cd "$(dirname "$0")/errors"
tutti=$(cd ../.. && pwd)/${BUILD:-build}/tutti
bad=0
for file in *.mlir; do
    expected=$(sed -n "1s|^// error: ||p" "$file" | sed "s|NAME|$file|g")
    got=$($tutti check "$file" 2>&1 | sed -n "s|^FAIL $file: ||p") || true
    if [ "$got" != "$expected" ]; then
        printf '%s\n  expected: %s\n  got:      %s\n' "$file" "$expected" "$got"
        bad=1
    fi
done
exit $bad
