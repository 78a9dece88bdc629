#!/bin/sh
# Another machine's LLVM, zlib and zstd, from Debian's packages, into a folder:  sysroot.sh arm64 FOLDER
# They are unpacked, not installed: llvm-19-dev of two machines cannot be installed side by side.  Root, since a
# machine must be known to dpkg for its packages to be found; it is forgotten again.
set -eu
machine=$1 folder=$2
known=$(dpkg --print-foreign-architectures)
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
dpkg --add-architecture "$machine"
apt-get update -qq
(cd "$at" && apt-get download -qq llvm-19-dev:"$machine" libzstd-dev:"$machine" zlib1g-dev:"$machine") 2> /dev/null
case " $known " in *" $machine "*) ;; *) dpkg --remove-architecture "$machine" ;; esac
mkdir -p "$folder"
for package in "$at"/*.deb; do dpkg-deb -x "$package" "$folder"; done
