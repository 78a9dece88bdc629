#!/bin/bash
# Debian's package of all that `make install` puts down, stripped:  deb.sh BUILD OUT VERSION
# It depends on the C library alone, in the version whose symbols its programs and libraries ask for; LLVM is
# inside.  One package, since the library, the engine and the headers are of one version or of no use.
set -euo pipefail
build=$1 out=$2 version=$3
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
chmod 755 "$root"
make -s install BUILD="$build" PREFIX=/usr DESTDIR="$root" > "$root.log" 2>&1 || { cat "$root.log"; rm "$root.log"; exit 1; }
rm "$root.log"
files=$(find "$root/usr/bin" "$root/usr/lib" -type f \( -name '*.so*' -o -path '*/bin/*' \))
strip --strip-unneeded $files
strip --strip-debug "$root"/usr/lib/*.a
chmod 644 $(printf '%s\n' $files | grep '\.so')
gzip -9n "$root/usr/share/man/man1/tutti.1"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root"/usr/share/zsh/site-functions/_tutti "$root/usr/share/zsh/vendor-completions"
rmdir "$root/usr/share/zsh/site-functions"

doc=$root/usr/share/doc/tutti
mkdir -p "$doc" "$root/DEBIAN"
cat > "$doc/copyright" <<'TEXT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tutti

Files: *
Copyright: 2026 The authors of Tutti
License: Apache-2.0
 On Debian systems, the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
Comment: The engine holds parts of LLVM (Apache-2.0 with the LLVM exception), zlib (Zlib), zstd (BSD-3-clause)
 and the GNU C++ library (GPL-3 with the runtime library exception).
TEXT
cat > "$root/changes" <<TEXT
tutti ($version) unstable; urgency=low

  * Version $version.

 -- The authors of Tutti <tutti@localhost>  $(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
TEXT
gzip -9nc "$root/changes" > "$doc/changelog.gz"
rm "$root/changes"

glibc=$(grep -aohE 'GLIBC_2\.[0-9]+' $files | sort -V | tail -1)
cat > "$root/DEBIAN/control" <<TEXT
Package: tutti
Version: $version
Architecture: $arch
Maintainer: The authors of Tutti <tutti@localhost>
Section: libdevel
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= ${glibc#GLIBC_})
Suggests: libopenblas0 | liblapack3, mpich | openmpi-bin
Description: SPMD array computing in C
 One program, every device plays it at once, each on its own slice of the
 data, and the devices talk only through collectives.
 .
 The library libtutti traces, transforms and compiles C functions; the
 engine is a PJRT plugin that plays StableHLO programs on the cores of the
 machine; libtutti_rt plays programs that the command tutti has compiled
 ahead.
TEXT
echo activate-noawait ldconfig > "$root/DEBIAN/triggers"
for library in libtutti libtutti_rt; do echo "$library 0 tutti (>= $version)"; done > "$root/DEBIAN/shlibs"
mkdir -p "$root/usr/share/lintian/overrides"
cat > "$root/usr/share/lintian/overrides/tutti" <<'TEXT'
# Made on the machine of whoever wants it: there is no address.
tutti: bogus-mail-host *
tutti: bogus-mail-host-in-debian-changelog *
tutti: initial-upload-closes-no-bugs *
# The engine holds LLVM and what it needs, so that it depends on the C library alone.
tutti: embedded-library *
# Plugins, which are loaded by their path.
tutti: sharedobject-in-library-directory-missing-soname *
# One package: see tools/package/deb.sh.
tutti: link-to-shared-library-in-wrong-package *
tutti: package-name-doesnt-match-sonames *
tutti: pkg-config-unavailable-for-cross-compilation *
TEXT
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
mkdir -p "$out"
dpkg-deb ${DEB_OPTIONS:-} --root-owner-group --build "$root" "$out/tutti_${version}_$arch.deb"
