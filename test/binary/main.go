// Binary prints what each module costs in the program, as a table: `make binary-size` runs it on a build that keeps its symbols.
//
// The code of a function and the variables of a package belong to their module by the names of their symbols. The table of functions
// (.gopclntab) is divided by the size of the code. Types, strings and embedded files have no symbols: they are the last row.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	least := flag.Int64("least", 200_000, "the bytes from which a module has a row of its own")
	packages := flag.String("packages", "", "list the packages of this module instead; std is the standard library")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: binary [-least BYTES] [-packages MODULE] PROGRAM")
		os.Exit(2)
	}
	p, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "binary:", err)
		os.Exit(1)
	}
	by := p.module
	if *packages != "" {
		by = func(pkg string) string {
			if p.module(pkg) != *packages {
				return ""
			}
			return pkg
		}
	}
	printTable(os.Stdout, p.costs(by), *least, p.loaded)
}
