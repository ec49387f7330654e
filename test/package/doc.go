// Command package writes the configuration with which nfpm makes one package, from the section nfpms of .goreleaser.yaml. CI thereby
// installs what a release contains, without compiling goreleaser.
//
// It hides how goreleaser and nfpm name the same things. The one rule: nothing of the package is written down here. A key of the section that
// is not known is an error.
//
// Its tests hold the files of deploy/package against the program: the configuration loads, the unit starts what the package contains, the
// formula names the archives of the checksums. test/package/run installs the package.
package main
