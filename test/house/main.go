// House prints what a reader of each package meets: how many files and lines it has, how many exported names, the largest
// set of its files that need each other, the types with more methods than fit in a head, and how often its comments use a turn of
// phrase for which technical English has a plain one. `make house` runs it.
//
// A file needs another file of its package when it names something that is declared there: a type, a function, a method, a
// field, a variable or a constant. A set of files that all need each other, directly or through others of the set, can only
// be understood as a whole. Test files don't count.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	set := flag.String("set", "", "print the files of a package's largest set instead, such as those of gateway/mcp")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := measure(patterns)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	if *set != "" {
		if err := printSet(os.Stdout, packages, *set); err != nil {
			fmt.Fprintln(os.Stderr, "house:", err)
			os.Exit(1)
		}
		return
	}
	printText(os.Stdout, packages)
	var exceeded []string
	for _, p := range packages {
		exceeded = append(exceeded, p.exceeded()...)
	}
	if len(exceeded) > 0 {
		fmt.Fprintf(os.Stderr, "house: limits are exceeded:\n  %s\n", strings.Join(exceeded, "\n  "))
		os.Exit(1)
	}
}
