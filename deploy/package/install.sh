#!/bin/sh
# Installs drawbridge: downloads the archive of this platform, compares it with the checksums of the release, and puts the program into
# PREFIX/bin. Nothing is changed before the archive has been verified. deploy/package/installer fills in the values of a release.
set -eu

release_version='@VERSION@'
release_url='@URL@' # {version} stands for the version
# The public key (PEM) that checksums.txt is signed with; empty if the release is not signed.
release_key='@KEY@'

usage() {
	cat <<TEXT
Installs drawbridge: downloads the archive of this platform, verifies it, and puts the program into PREFIX/bin.

usage: sh install.sh [--version VERSION] [--prefix PREFIX] [--url URL]

  --version VERSION   the version to install (default $release_version)
  --prefix PREFIX     the folder whose bin gets the program (default /usr/local if it can be written to, else ~/.local)
  --url URL           where the archives and checksums.txt are, for a mirror; {version} in it stands for the version
                      (default $release_url)
TEXT
}

fail() {
	echo "install.sh: $1" >&2
	exit "${2:-1}"
}

# platform prints OS_ARCH as the archives name it.
platform() {
	os=$(uname -s) arch=$(uname -m)
	case $os in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $os that this script can install. Windows: download drawbridge_VERSION_windows_ARCH.zip" ;;
	esac
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for the processor $arch, only for x86_64 (amd64) and aarch64 (arm64)" ;;
	esac
	# A shell that Rosetta translates sees another processor.
	if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then arch=arm64; fi
	echo "${os}_$arch"
}

# download URL FILE follows no redirect from HTTPS to HTTP.
download() {
	if command -v curl >/dev/null; then
		curl -fsSL --proto '=http,https' --proto-redir '=https' --retry 3 -o "$2" "$1" || fail "$1 could not be downloaded"
	elif command -v wget >/dev/null; then
		wget -q -O "$2" "$1" || fail "$1 could not be downloaded"
	else
		fail "it needs curl or wget"
	fi
}

# sha256 FILE prints the checksum of a file.
sha256() {
	if command -v sha256sum >/dev/null; then
		sha256sum <"$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null; then
		shasum -a 256 <"$1" | cut -d ' ' -f 1
	else
		fail "it needs sha256sum or shasum to verify the archive"
	fi
}

main() {
	version=$release_version prefix='' url=$release_url
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --prefix | --url)
			[ -n "${2:-}" ] || fail "$1 needs a value; see --help" 2
			case $1 in --version) version=${2#v} ;; --prefix) prefix=$2 ;; --url) url=$2 ;; esac
			shift 2
			;;
		-h | --help) usage && exit ;;
		*) fail "unexpected argument \"$1\"; see --help" 2 ;;
		esac
	done
	case $version in *[!0-9A-Za-z.+-]*) fail "--version \"$version\": expected a version such as 1.2.3" 2 ;; esac
	case $url in
	https://* | http://127.0.0.1:* | http://localhost:*) ;;
	*) fail "--url \"$url\": expected https://…, or http:// on this machine" 2 ;;
	esac
	case $url in *'{version}'*) url=${url%%'{version}'*}$version${url#*'{version}'} ;; esac
	url=${url%/}
	if [ -z "$prefix" ]; then
		prefix=$HOME/.local
		if [ -w /usr/local/bin ]; then prefix=/usr/local; fi
	fi

	platform=$(platform)
	archive=drawbridge_${version}_$platform.tar.gz
	work=$(mktemp -d)
	new=
	trap 'rm -rf "$work"; [ -z "$new" ] || rm -f "$new"' EXIT
	trap 'exit 1' HUP INT TERM
	download "$url/checksums.txt" "$work/checksums.txt"
	if [ -n "$release_key" ]; then
		command -v openssl >/dev/null || fail "it needs openssl to verify the signature of the release"
		download "$url/checksums.txt.sig" "$work/checksums.txt.sig"
		printf '%s\n' "$release_key" >"$work/key.pem"
		openssl dgst -sha256 -verify "$work/key.pem" -signature "$work/checksums.txt.sig" "$work/checksums.txt" >/dev/null 2>&1 ||
			fail "the signature of $url/checksums.txt is not that of the release's key. Nothing was installed"
	fi
	expected=$(awk -v name="$archive" '$2 == name {print $1}' "$work/checksums.txt")
	[ -n "$expected" ] || fail "$url/checksums.txt has no $archive. Nothing was installed"
	download "$url/$archive" "$work/$archive"
	actual=$(sha256 "$work/$archive")
	[ "$actual" = "$expected" ] || fail "$url/$archive has the SHA-256 $actual, and checksums.txt says $expected. Nothing was installed"
	tar -xzf "$work/$archive" -C "$work" drawbridge

	mkdir -p "$prefix/bin" || fail "$prefix/bin can't be made; --prefix names another folder"
	# The new program is tried before it takes the place of an older one, in one step.
	new=$prefix/bin/.drawbridge.$$
	cp "$work/drawbridge" "$new" || fail "$prefix/bin can't be written to; --prefix names another folder"
	chmod 755 "$new"
	"$new" version >"$work/version" || fail "the program does not run on this machine. Nothing was installed"
	mv -f "$new" "$prefix/bin/drawbridge"
	echo "installed $prefix/bin/drawbridge: $(head -n 1 "$work/version")"
	case :$PATH: in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not in PATH" ;; esac
}

# The last line: a part of the script does nothing.
main "$@"
