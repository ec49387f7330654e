package config

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func patternOf(t *testing.T, text string) Pattern {
	t.Helper()
	var p Pattern
	if err := p.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMeet: a text that several patterns match shows what they have in common, and nothing that only a narrower pattern would match.
func TestMeet(t *testing.T) {
	for _, tt := range []struct {
		patterns string
		want     []string // with ? for what any character may stand for, and ?? for any segments
	}{
		{"/a", []string{"/a"}},
		{"/a*", []string{"/a?", "/a"}},
		{"/admin/**", []string{"/admin/??", "/admin"}},
		{"**/users", []string{"??/users", "users"}},
		{"/a/**/b", []string{"/a/??/b", "/a/b"}},
		{"/x**y", []string{"/x??y", "/xy"}},
		{"/**", []string{"/??", ""}},
		{"/admin/** /**/users", []string{"/admin/??/users", "/admin/users"}},
		{"/admin/* /*/users", []string{"/admin/users"}},
		{"/*/a /b/*", []string{"/b/a"}},
		{"/a* /*b", []string{"/a?b", "/ab"}},
		{"/a/** /a/*/c /**", []string{"/a/?/c", "/a//c"}},
		{"get* *order *_*", []string{"get?_?order", "get_order"}},
		{"/a /b", nil},
		{"/a/* /a/b/c", nil},
		{"/a/* /b/**", nil},
	} {
		var patterns []Pattern
		for _, text := range strings.Fields(tt.patterns) {
			patterns = append(patterns, patternOf(t, text))
		}
		got := meet(patterns, "")
		for i := range got {
			if slices.ContainsFunc(patterns, func(p Pattern) bool { return !p.re.MatchString(got[i]) }) {
				t.Errorf("%s: %q is not matched by all", tt.patterns, got[i])
			}
			got[i] = strings.NewReplacer(manySegments, "??", foreign, "?").Replace(got[i])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.patterns, got, tt.want)
		}
	}
}

// FuzzMeet: what two patterns have in common matches both, and what both match is something that they have in common.
func FuzzMeet(f *testing.F) {
	f.Add("/a/**", "**/b", "/a/b")
	f.Add("/a*/**/c", "/**b/*", "/ab/c")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		if len(a) > 30 || len(b) > 30 || strings.Contains(a+b, foreign) || !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		patterns := []Pattern{patternOf(t, a), patternOf(t, b)}
		got := meet(patterns, "")
		for _, text := range got {
			if !patterns[0].re.MatchString(text) || !patterns[1].re.MatchString(text) {
				t.Errorf("%q does not match %q and %q", text, a, b)
			}
		}
		if len(got) == 0 && patterns[0].re.MatchString(text) && patterns[1].re.MatchString(text) {
			t.Errorf("%q matches %q and %q, which seem to have nothing in common", text, a, b)
		}
	})
}
