package servicecenter

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/test/race"
)

// A schema of many names, as who registers one may write it, takes time in proportion to its size: a parser that compares each name
// with all others would take minutes for these. One beyond the limits of documents declares no path.
func TestLargeSchemas(t *testing.T) {
	names := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	aliases := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		aliases += fmt.Sprintf("a%d: &a%[1]d [%s*a%d]\n", i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	many := race.Fewer(100_000, 10_000)
	for what, c := range map[string]struct{ text, want string }{
		"names in YAML":     {names(many, "k%d: 1\n") + "basePath: /x/\n", "/x"},
		"names in JSON":     {"{" + names(many, `"k%d":1,`) + `"basePath":"/x"}`, "/x"},
		"too many names":    {names(2_000_000, "k%d: 1\n") + "basePath: /x\n", ""},
		"aliases":           {aliases + "basePath: /x\n", ""},
		"deep":              {"x: " + strings.Repeat("[", 100_000), ""},
		"servers":           {"servers:\n" + strings.Repeat("- {url: /x}\n", 50_000), "/x"},
		"servers of itself": {"servers: &a\n- *a\n", ""},
		"another type":      {"basePath: [/x]\nservers: /y\n", ""},
	} {
		if got := basePath(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}
