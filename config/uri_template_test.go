package config

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestURITemplateMatch(t *testing.T) {
	for _, tt := range []struct {
		template, uri string
		want          string // the variables; "-" is no match
	}{
		{"a:b", "a:b", ""},
		{"a:b", "a:B", "-"},
		{"a:b", "a:b?c=1", "-"},
		{"shop://orders/{id}", "shop://orders/7", "id=7"},
		{"shop://orders/{id}", "shop://orders/a%2Fb%20c", "id=a/b c"},
		{"shop://orders/{id}", "shop://orders/a/b", "-"},
		{"shop://orders/{id}", "shop://orders/", "-"},
		{"shop://orders/{id}", "shop://orders/7?x=1", "-"},
		{"shop://orders/{id}", "shop://orders/7#x", "-"},
		{"shop://orders/{id}", "shop://orders/%zz", "-"},
		{"shop://orders/{id}", "shop://orders/%FF", "-"},
		{"shop://orders/{id}/lines/{line}", "shop://orders/7/lines/1", "id=7 line=1"},
		{"shop://{a}-{b}", "shop://1-2-3", "a=1-2 b=3"},
		{"shop://x?kind={kind}", "shop://x?kind=a", "kind=a"},
		{"shop://x?kind={kind}", "shop://x?kind=a&b=1", "-"},
		{"shop://x{?a,b}", "shop://x", ""},
		{"shop://x{?a,b}", "shop://x?", ""},
		{"shop://x{?a,b}", "shop://x?b=2&a=1%261", "a=1&1 b=2"},
		{"shop://x{?a,b}", "shop://x?a", "a="},
		{"shop://x{?a,b}", "shop://x?a=1&a=2", "-"},
		{"shop://x{?a,b}", "shop://x?c=1", "-"},
		{"shop://x.y{?a}", "shop://xzy", "-"},
	} {
		template, err := ParseURITemplate(tt.template)
		if err != nil {
			t.Errorf("%s: %v", tt.template, err)
			continue
		}
		values, ok := template.Match(tt.uri)
		got := "-"
		if ok {
			got = ""
			always, query := template.Variables()
			for _, name := range append(always, query...) {
				if value, given := values[name]; given {
					got += " " + name + "=" + value
				}
			}
			got = strings.TrimPrefix(got, " ")
		}
		if got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.template, tt.uri, got, tt.want)
		}
	}
}

func TestURITemplateShape(t *testing.T) {
	shape := func(text string) string {
		template, err := ParseURITemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		return template.Shape()
	}
	if a, b := shape("a:b/{c}{?d,e}"), shape("a:b/{x}{?e,d}"); a != b {
		t.Errorf("%q differs from %q", a, b)
	}
	if a, b := shape("a:b/{c}{?d,e}"), shape("a:b/{x}{?e,f}"); a == b {
		t.Errorf("%q for two of other queries", a)
	}
}

// TestResourceSwitch holds that false takes a resource back.
func TestResourceSwitch(t *testing.T) {
	set := Settings{}
	for _, on := range []bool{true, false, true} {
		r := &Resource{off: !on}
		if set.Apply(Settings{Resource: r}); set.Resource.On() != on {
			t.Errorf("on: %t, want %t", set.Resource.On(), on)
		}
	}
	if (*Resource)(nil).On() {
		t.Error("there is a resource without one")
	}
}

// FuzzURITemplate holds that what a template makes of values it also takes apart into these, and that nothing in a value
// gets out of its place.
func FuzzURITemplate(f *testing.F) {
	f.Add("shop://orders/{id}{?lang}", "7", "de")
	f.Add("a:b-{c}.{d}", "-.%2F", "?#")
	f.Add("a:{b}", "/../", "\x00")
	f.Fuzz(func(t *testing.T, text, first, others string) {
		template, err := ParseURITemplate(text)
		if err != nil {
			return
		}
		if template.String() != text {
			t.Fatalf("%q became %q", text, template)
		}
		_, _ = template.Match(first)
		always, query := template.Variables()
		if len(always) > 1 || !utf8.ValidString(first) || !utf8.ValidString(others) || len(first)+len(others) > 500 {
			return // which of two takes a literal between them depends on their values
		}
		values := map[string]string{}
		for _, name := range always {
			values[name] = first
		}
		for _, name := range query {
			values[name] = others
		}
		uri, ok := template.Expand(func(name string) (string, bool) { return values[name], true })
		if !ok {
			if first != "" {
				t.Fatalf("%q: no URI for %q", text, values)
			}
			return
		}
		if len(uri) > maxURI {
			return
		}
		if got, ok := template.Match(uri); !ok || !maps.Equal(got, values) {
			t.Fatalf("%q: %q is taken apart into %q, want %q", text, uri, got, values)
		}
	})
}
