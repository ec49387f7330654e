package projection

import (
	"errors"
	"strings"
	"testing"
)

// The matches of a regular expression cost as much as their number times the size of the text: the library counts the characters before
// each. An answer of 2 MiB that has a match at each character would take hours in one step, within which nothing ends it.
func TestMatchesWithoutEnd(t *testing.T) {
	c := NewCompiler()
	long := `["` + strings.Repeat("a", 1<<20) + `"]`
	for expression, answer := range map[string]string{
		`[.[] | gsub("a"; "b")]`:                           long,
		`[.[] | gsub(""; "b")]`:                            long,
		`[.[] | scan("a")]`:                                long,
		`[.[] | scan("(?:a*b)?")]`:                         long,
		`[.[] | gsub("(?<x>a)"; .x)]`:                      long,
		`map(if test("a") then gsub("a"; "b") else . end)`: "[" + strings.Repeat(`"`+strings.Repeat("a", 2000)+`",`, 400) + `""]`,
	} {
		p, err := c.Compile(expression)
		if err != nil {
			t.Fatal(expression, err)
		}
		if got, err := p.Run(t.Context(), []byte(answer)); !errors.Is(err, errTooMuch) {
			t.Errorf("%s: %.100s, %v", expression, got, err)
		}
	}
	for expression, want := range map[string]string{
		`[.[] | gsub("<[^>]*>"; "")]`:    strings.Repeat("some text ", 100),
		`[.[] | scan("<p>")] | [length]`: "",
	} {
		p, err := c.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Run(t.Context(), []byte(`["`+strings.Repeat("<p>some text ", 100)+`"]`))
		if want = `["` + want + `"]`; strings.Contains(expression, "length") {
			want = "[100]"
		}
		if string(got) != want || err != nil {
			t.Errorf("%s: %s, %v", expression, got, err)
		}
	}
}
