package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples: the help of each command has an example, which is a command that exists, with flags that it has.
func TestExamples(t *testing.T) {
	p := newProgram(func(string) string { return "" }, io.Discard, io.Discard, nil)
	root := newRoot(p)
	flags := regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if c == root || c.Name() == "help" || c.Parent() != root {
			return
		}
		if !strings.Contains(c.Example, "drawbridge "+c.Name()) {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			_, args, found := strings.Cut(line, "drawbridge "+c.Name())
			if !found {
				continue
			}
			args, _, _ = strings.Cut(args, " && ")
			for _, m := range flags.FindAllStringSubmatch(args, -1) {
				if c.Flags().Lookup(m[1]) == nil {
					t.Errorf("%s: the example has --%s, which is no flag of it", c.CommandPath(), m[1])
				}
			}
		}
	}
	walk(root)
}
