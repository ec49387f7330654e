package answer

import (
	"fmt"
	"strings"
	"testing"
)

// TestUndeclared compares statuses and media types with declarations. What is declared allocates nothing.
func TestUndeclared(t *testing.T) {
	for _, tt := range []struct {
		statuses, media string // declared
		status          int
		came, want      string
	}{
		{"200", "application/json", 200, "application/json", ""},
		{"200", "application/json", 200, "", ""},
		{"200", "application/json", 200, "application/vnd.api+json", ""},
		{"200", "application/vnd.api+json", 200, "application/json", ""},
		{"200", "application/json", 200, "text/html", "media type text/html is not declared"},
		{"200", "application/json", 200, "application/octet-stream", ""},
		{"200", "application/octet-stream", 200, "image/png", ""},
		{"200", "text/*", 200, "text/csv", ""},
		{"200", "text/*", 200, "image/png", "media type image/png is not declared"},
		{"200", "*/*", 200, "image/png", ""},
		{"200", "", 200, "text/html", ""},
		{"200", "text/csv", 200, "text/evil'$(rm)\u202e", "media type * is not declared"},
		{"200", "text/csv", 200, "text/" + strings.Repeat("x", 200), "media type * is not declared"},
		{"200", "text/csv", 404, "text/html", "status 404 is not declared"},
		{"200 404", "text/csv", 404, "text/html", ""},
		{"200 4XX", "text/csv", 404, "text/html", ""},
		{"2XX", "text/csv", 202, "text/csv", ""},
		{"201", "text/csv", 200, "text/csv", "status 200 is not declared"},
		{"200 DEFAULT", "text/csv", 418, "text/csv", ""},
		{"200", "text/csv", 302, "", "status 302 is not declared"},
		{"200", "text/csv", 503, "text/html", ""},
		{"200", "text/csv", 401, "text/html", ""},
		{"", "", 404, "text/html", ""},
	} {
		d := Declaration{Method: "GET"}
		for _, code := range strings.Fields(tt.statuses) {
			d.Statuses = append(d.Statuses, Status{Code: code, Headers: func(func(string) bool) {}})
		}
		if tt.media != "" {
			d.MediaTypes = []string{tt.media}
		}
		p := NewCompiler(false).Compile(d)
		got := ""
		if d, differs := p.Undeclared(tt.status, tt.came); differs {
			got = d.String()
		}
		if got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
		if n := testing.AllocsPerRun(10, func() { p.Undeclared(tt.status, tt.came) }); n > 0 && tt.want == "" {
			t.Errorf("%+v: %v allocations", tt, n)
		}
	}
	many := Declaration{Method: "GET"}
	for i := range maxDeclared + 1 {
		many.Statuses = append(many.Statuses, Status{Code: fmt.Sprint(200 + i), Headers: func(func(string) bool) {}})
	}
	if d, differs := NewCompiler(false).Compile(many).Undeclared(404, ""); differs {
		t.Errorf("with more statuses than are kept: %s", d)
	}
}
