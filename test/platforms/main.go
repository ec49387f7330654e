// Platforms checks that the program has no error of types on other platforms, such as darwin/arm64: `make platforms` runs it. It reads all
// packages, those of modules and of the standard library too, and generates no code, which takes a tenth of the time of a build.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, platform := range os.Args[1:] {
		faults, n, err := check(platform, "./cmd/drawbridge")
		if err != nil {
			faults = []string{err.Error()}
		}
		if len(faults) > 0 {
			failed = true
			fmt.Fprintf(os.Stderr, "%s:\n  %s\n", platform, strings.Join(faults, "\n  "))
			continue
		}
		fmt.Printf("%s: ok, %d packages\n", platform, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors of a package and of all that it needs on a platform, and how many packages these are.
func check(platform, pattern string) (faults []string, n int, err error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, 0, fmt.Errorf("expected a platform such as linux/arm64, got %q", platform)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Env:  append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, pattern)
	if err != nil {
		return nil, 0, err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		n++
		for _, e := range p.Errors {
			faults = append(faults, e.Error())
		}
	})
	return faults, n, nil
}
