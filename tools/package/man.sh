#!/bin/sh
# The manual page, made of what --help says:  tools/package/man.sh TUTTI > tutti.1
set -eu
tutti=$1
version=$("$tutti" --version)
roff() { sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'\'']\)/\\\&\1/'; }
as_printed() { # lines set as they are
    echo .nf
    roff
    echo .fi
}
commands=$("$tutti" --help | sed -n 's/^  tutti \([a-z]*\)\( .*\)\{0,1\}$/\1/p')
part() { "$tutti" --help | sed -n "/^$1:/,/^\$/p" | sed '1d; /^$/d; s/^  //'; } # PART of the help

echo ".TH TUTTI 1 \"$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%F)\" \"$version\" \"User Commands\""
echo .SH NAME
echo 'tutti \- play StableHLO programs on the devices of this machine, or compile them ahead'
echo .SH SYNOPSIS
between=
for command in $commands; do
    printf '%s' "$between"
    "$tutti" "$command" --help | sed -n '1s/^usage: //p' | roff
    between='.br
'
done
echo .SH DESCRIPTION
echo "Tutti plays a program on many devices at once, each on its own slice of the data; devices are tasks on"
echo "the cores of this machine."
echo .SH COMMANDS
for command in $commands; do
    printf '.SS %s\n' "$("$tutti" "$command" --help | sed -n '1s/^usage: //p' | roff)"
    "$tutti" "$command" --help | sed '1,2d' | as_printed
done
echo .SH ENVIRONMENT
part environment | as_printed
echo .SH "EXIT STATUS"
"$tutti" --help | sed -n 's/^exit code: //p' | roff
