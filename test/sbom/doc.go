// Command sbom writes what a binary is made of (CycloneDX 1.6) and how it was made (an in-toto statement with SLSA
// provenance 1), from what the Go linker has put into the binary and from the licence files of the modules.
//
// It hides the two formats and the recognition of licences. The one rule: the files say nothing that does not follow from the
// binary, the module cache and the flags, so that two runs write the same bytes.
package main
