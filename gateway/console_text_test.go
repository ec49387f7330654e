package gateway

import (
	"strings"
	"testing"
)

// TestAround holds that a long line shows its position, and no part of a secret at the ends of what is shown.
func TestAround(t *testing.T) {
	const secret = "s3cret-s3cret"
	redacted := func(text string) string { return strings.ReplaceAll(text, secret, "…") }
	long := strings.Repeat("ä", 5000) + "HERE" + strings.Repeat("ö", 5000)
	for name, tt := range map[string]struct {
		line   string
		column int
		want   func(string) bool
	}{
		"short": {"openapi: 3.1.0", 4, func(s string) bool { return s == "openapi: 3.1.0" }},
		"empty": {"", 1, func(s string) bool { return s == "" }},
		"middle": {long, 5001, func(s string) bool {
			return strings.Contains(s, "HERE") && strings.HasPrefix(s, "…ä") && strings.HasSuffix(s, "ö…")
		}},
		"beginning":  {long, 1, func(s string) bool { return strings.HasPrefix(s, "ä") && strings.HasSuffix(s, "…") }},
		"no column":  {long, 0, func(s string) bool { return strings.HasPrefix(s, "ä") }},
		"negative":   {long, -7, func(s string) bool { return strings.HasPrefix(s, "ä") }},
		"the end":    {long, 10004, func(s string) bool { return strings.HasPrefix(s, "…") && strings.HasSuffix(s, "ö") }},
		"beyond":     {long, 1 << 40, func(s string) bool { return strings.HasSuffix(s, "ö") }},
		"redactions": {strings.Repeat(secret, 900) + long, 900*len(secret) + 5001, func(s string) bool { return strings.Contains(s, "HERE") }},
	} {
		if got := around(tt.line, tt.column, redacted); !tt.want(got) || len([]rune(got)) > 2*columnsAround+2 {
			t.Errorf("%s: %q", name, got)
		}
	}
	line := strings.Repeat("a", 1000) + secret + strings.Repeat("b", 1000)
	for column := range len(line) + 2 {
		if got := around(line, column, redacted); strings.Contains(got, "s3c") || strings.Contains(got, "ret") {
			t.Fatalf("column %d: %q", column, got)
		}
	}
}
