// Command launchers writes the npm and PyPI packages of a release from its archives: for npm a package that starts the program and one per
// platform that carries it, of which npm installs the one that fits; for PyPI a wheel per platform with the program as its script.
//
// It hides the formats of both: package.json and the tags of platforms, wheels with their records, and how each spells a version. The one
// rule: a package has the bytes of the program in the archive, and depends on nothing but the archives, the flags and SOURCE_DATE_EPOCH, so
// that the same release gives the same packages. No package runs a script when it is installed.
package main
