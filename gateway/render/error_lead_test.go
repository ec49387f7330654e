package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/openapi/answer"
)

// TestLead checks that the text of an error is found in the common formats, on one line and short; a short body needs
// no lead.
func TestLead(t *testing.T) {
	pad := `,"trace":"` + strings.Repeat("x", readAtOnce) + `"}`
	for text, want := range map[string]string{
		`{"title":"Bad.","detail":"Too\n many"}`:                    "Bad: Too many",
		`{"message":"short"}`:                                       "",
		`{"message":"m"` + pad:                                      "m",
		`{"error":{"code":1,"message":"inner"}` + pad:               "inner",
		`{"error":"invalid_grant","error_description":"old"` + pad:  "old",
		`{"errors":[{"detail":"first"},{"detail":"second"}]` + pad:  "first",
		`{"errors":["one","two"]` + pad:                             "one",
		`{"errors":{"name":["can't be blank"]}` + pad:               "",
		`{"error":true,"message":7` + pad:                           "",
		`[{"message":"in a list"` + pad + `]`:                       "",
		`{"detail":"` + strings.Repeat(`\u00e9`, 50000) + `"` + pad: strings.Repeat("é", (maxDetail-3)/2) + "…",
		`{"detail":"` + strings.Repeat(`x`, 4799) + `\u0041"` + pad: strings.Repeat("x", maxDetail-3) + "…",
		`{"detail":"` + strings.Repeat(` `, 4798) + `\u0041"` + pad: "",
	} {
		if got := leadOf(answer.Part{Kind: answer.JSON, MediaType: "application/json", Data: []byte(text)}, func(s string, _ bool) string { return s }); got != want || !utf8.ValidString(got) {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
}
