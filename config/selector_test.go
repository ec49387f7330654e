package config

import (
	"math/rand/v2"
	"strings"
	"testing"

	"drawbridge/test/race"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern  string
		match    string // space-separated
		mismatch string
	}{
		{"get", "get", "Get gets get/ xget"},
		{"get*", "get getOrder get.order", "xget get/order"},
		{"*Order*", "Order getOrder OrderLine", "order a/Order"},
		{"**Order", "Order getOrder a/Order", "Orders"},
		{"/orders", "/orders", "/orders/ /orders/1 orders"},
		{"/orders/*", "/orders/ /orders/{id}", "/orders /orders/{id}/lines"},
		{"/orders/*/lines", "/orders/{id}/lines", "/orders/lines /orders/a/b/lines"},
		{"/admin/**", "/admin /admin/ /admin/users /admin/users/{id}", "/administrator /admins/x /v1/admin /"},
		{"/**/admin", "/admin /v1/admin /a/b/admin", "/xadmin admin /admin/x"},
		{"**/admin", "admin /admin /v1/admin x/admin", "xadmin /xadmin"},
		{"/a/**/b", "/a/b /a/x/b /a/x/y/b", "/ab /a/xb /ax/b"},
		{"/a/**/**/b", "/a/b /a/x/b /a/x/y/b", "/a/xb"},
		{"/a/**b", "/a/b /a/x/yb", "/ab"},
		{"/**", "/ /a /a/b", "a"},
		{"**", "a / /a/b", ""},
		{"*/**", "a a/b /b", ""},
		{"/a.b/{c}/[d]/(e|f)?", "/a.b/{c}/[d]/(e|f)?", "/axb/{c}/[d]/(e|f)? /a.b/{c}/d/e"},
		{`\d+`, `\d+`, "1"},
		{"ü*", "üb", "ub"},
	}
	for _, tt := range tests {
		var p Pattern
		if err := p.parse(tt.pattern); err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		for _, text := range strings.Fields(tt.match) {
			if !p.re.MatchString(text) {
				t.Errorf("%q does not match %q", tt.pattern, text)
			}
		}
		for _, text := range strings.Fields(tt.mismatch) {
			if p.re.MatchString(text) {
				t.Errorf("%q matches %q", tt.pattern, text)
			}
		}
	}
}

// TestPatternAgainstModel compares patterns with a plain backtracking matcher over short texts of few letters.
func TestPatternAgainstModel(t *testing.T) {
	text := func(letters string, n int) string {
		var b strings.Builder
		for range rand.IntN(n) {
			b.WriteByte(letters[rand.IntN(len(letters))])
		}
		return b.String()
	}
	for range race.Fewer(50_000, 5_000) {
		glob, subject := text("a/**", 8), text("aa/", 7)
		var p Pattern
		if err := p.parse(glob); err != nil {
			t.Fatalf("%q: %v", glob, err)
		}
		if got, want := p.re.MatchString(subject), model(glob, subject, true); got != want {
			t.Fatalf("%q matches %q: %t, want %t", glob, subject, got, want)
		}
	}
}

// model matches as the comment of Selector says; start: glob begins at the start of a segment.
func model(glob, text string, start bool) bool {
	switch {
	case glob == "":
		return text == ""
	case glob == "/**":
		return text == "" || text[0] == '/'
	case start && strings.HasPrefix(glob, "**/"):
		for i := range text {
			if text[i] == '/' && model(glob[3:], text[i+1:], true) {
				return true
			}
		}
		return model(glob[3:], text, true)
	case strings.HasPrefix(glob, "**"):
		for i := range len(text) + 1 {
			if model(glob[2:], text[i:], false) {
				return true
			}
		}
		return false
	case glob[0] == '*':
		for i := range len(text) + 1 {
			if i > 0 && text[i-1] == '/' {
				return false
			}
			if model(glob[1:], text[i:], false) {
				return true
			}
		}
		return false
	}
	return text != "" && text[0] == glob[0] && model(glob[1:], text[1:], glob[0] == '/')
}

func TestSelector(t *testing.T) {
	cfg := load(t, `
apis:
  - spec: a.json
    name: orders
    tools: {include: [{tag: [orders, admin], method: get}, {path: /admin/**}], exclude: {operation: "purge*"}}
  - spec: b.json
    name: billing
rules:
  - match: {api: "*"}
    set: {title: all, timeout: 1s}
  - match: [{api: orders, tag: admin, method: [POST, put], path: "/admin/**", operation: "purge*"}, {path: /never}]
    set: {title: admin, name: purge}
  - match: {tag: "**"}
    set: {description: tagged}
`)
	orders := &cfg.APIs[0]
	purge := Subject{API: "orders", Method: "PUT", Path: "/admin/orders", Operation: "purgeOrders", Tags: []string{"x", "admin"}}
	for _, tt := range []struct {
		name string
		s    Subject
		want bool
	}{
		{"tag and method", Subject{Method: "GET", Path: "/", Tags: []string{"x", "orders"}}, true},
		{"lower-case method", Subject{Method: "get", Path: "/", Tags: []string{"admin"}}, true},
		{"tag alone", Subject{Method: "POST", Path: "/", Tags: []string{"orders"}}, false},
		{"no tags", Subject{Method: "GET", Path: "/"}, false},
		{"second selector", Subject{Method: "POST", Path: "/admin/users", Operation: "addUser"}, true},
		{"no operationId", Subject{Method: "POST", Path: "/admin/users"}, true},
		{"excluded", purge, false},
	} {
		if got := orders.Exposes(tt.s); got != tt.want {
			t.Errorf("%s: exposed %t, want %t", tt.name, got, tt.want)
		}
	}
	if !cfg.APIs[1].Exposes(purge) {
		t.Error("an API without selectors does not expose everything")
	}
	if (Selector{}).Match(purge) {
		t.Error("the zero selector matches")
	}

	set := cfg.Settings(purge, Settings{})
	if set.Title != "admin" || set.Name != "purge" || set.Description != "tagged" || set.Timeout.String() != "1s" || set.Scopes != nil {
		t.Errorf("settings of all rules: %+v", set)
	}
	other := purge
	other.Method = "DELETE"
	if set := cfg.Settings(other, Settings{}); set.Title != "all" || set.Name != "" {
		t.Errorf("settings of an operation with another method: %+v", set)
	}
	other.Tags = nil
	if set := cfg.Settings(other, Settings{}); set.Description != "" {
		t.Errorf("settings of an operation without tags: %+v", set)
	}
}
