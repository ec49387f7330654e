package wire

import (
	"slices"
	"strings"
	"testing"
)

// TestMatch checks which paths match a template, and with which values.
func TestMatch(t *testing.T) {
	for _, c := range []struct{ template, path, values string }{
		{"/people/{id}", "/people/1", "1"},
		{"/people/{id}", "/People/1/", "1"},
		{"/people/{id}", "//people//1", "1"},
		{"/people/{id}", "/p%65ople/a%2Fb%20c", "a/b c"},
		{"/people/{id}", "/people/1/x", "none"},
		{"/people/{id}", "/people/", "none"},
		{"/people/{id}/", "/people/1", "1"},
		{"/people", "/people", ""},
		{"/a{x}", "/a/b", "none"},
		{"/people?x=1", "/people", ""},
		{"/a/{x}.{y}", "/a/b.c.d", "b.c|d"},
		{"/a/{x}/{y}", "/a/b/c", "b|c"},
		{"/a/{+x}/end", "/a/b/c/end", "b/c"},
		{"/caf\u00e9/{x}", "/caf%C3%A9/1", "1"},
		{"/a/{b}{c}{d}{e}{f}{g}{h}x", "/a/" + strings.Repeat("y", 100), "too many"},
	} {
		template, err := ParseTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		values, ok := template.Match(c.path)
		got := strings.Join(values, "|")
		switch {
		case !ok:
			got = "none"
		case values == nil:
			got = "too many"
		}
		if got != c.values {
			t.Errorf("%s: %s: %q, want %q", c.template, c.path, got, c.values)
		}
	}
}

// TestClaimed checks which paths of a template belong to a more specific one (pains row 175).
func TestClaimed(t *testing.T) {
	for _, c := range []struct {
		template, path, other string
		claimed               bool
	}{
		{"/files/{+path}", "/files/a/secrets", "/files/{id}/secrets", true},
		{"/files/{+path}", "/files/a/SECRETS/", "/files/{id}/secrets", true},
		{"/files/{+path}", "/files/a/s%65crets", "/files/{id}/secrets", true},
		{"/files/{+path}", "/files/a%2Fsecrets", "/files/{id}/secrets", false},
		{"/files/{+path}", "/files/a/b/secrets", "/files/{id}/secrets", false},
		{"/files/{+path}", "/files/a/b/secrets", "/files/{+path}/secrets", true},
		{"/files/{+path}/secrets", "/files/a/b/secrets", "/files/{+path}", false},
		{"/files/{+path}", "/files/a/b", "/files/{id}/{part}", true},
		{"/files/{+path}", "/files/a/b", "/{+any}", false},
		{"/files/{+path}", "/files/a/b", "/files/{+other}", false},
		{"/files/{+path}", "/files/admin/all", "/files/admin/all", true},
		{"/{+any}", "/files/a", "/files/{id}", true},
		{"/{a}/{+b}", "/admin/x/y", "/admin/{+c}", true},
		{"/a/{+x}", "/a/" + strings.Repeat("y/", 100), "/a/{+b}{+c}{+d}{+e}{+f}{+g}{+h}x", true}, // too many ways to match it
	} {
		var both [2]*Template
		for i, text := range []string{c.template, c.other} {
			var err error
			if both[i], err = ParseTemplate(text); err != nil {
				t.Fatal(err)
			}
		}
		if got := both[0].Claimed(c.path, slices.Values(both[1:])); got != c.claimed {
			t.Errorf("%s: %s is claimed by %s: %t", c.template, c.path, c.other, got)
		}
	}
}

// FuzzMatch checks that each variable has its value, and that no path takes long.
func FuzzMatch(f *testing.F) {
	f.Add("/people/{id}", "/people/1")
	f.Add("/a/{x}.{y}", "/a/%2f.%")
	f.Add("/{a}{b}{c}{d}x", "/yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")
	f.Fuzz(func(t *testing.T, template, path string) {
		parsed, err := ParseTemplate(template)
		if err != nil || len(template) > 1000 || len(path) > 2048 {
			return
		}
		if values, ok := parsed.Match(path); values != nil && (!ok || len(values) != len(parsed.Names())) {
			t.Errorf("%q: %q: %q", template, path, values)
		}
	})
}
