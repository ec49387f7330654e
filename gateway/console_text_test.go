package gateway_test

import (
	"runtime"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/openapi/fetch"
	"drawbridge/test/gatewaytest"
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
		if got := gateway.Around(tt.line, tt.column, redacted); !tt.want(got) || len([]rune(got)) > 2*gateway.ColumnsAround+2 {
			t.Errorf("%s: %q", name, got)
		}
	}
	line := strings.Repeat("a", 1000) + secret + strings.Repeat("b", 1000)
	for column := range len(line) + 2 {
		if got := gateway.Around(line, column, redacted); strings.Contains(got, "s3c") || strings.Contains(got, "ret") {
			t.Fatalf("column %d: %q", column, got)
		}
	}
}

// TestDocumentText holds that the text around a position is that of the version in use, from its origin or from the copy in
// state_dir, and that another version is never shown in its place.
func TestDocumentText(t *testing.T) {
	for _, state := range []string{"", "server: {state_dir: state}\n"} {
		origin := gatewaytest.NewChanging(t, gatewaytest.Document("Remote", "one"))
		r := gatewaytest.Run(t, map[string]string{
			"drawbridge.yaml": state + "apis:\n- {spec: '" + origin.URL + "/remote.yaml?key=hidden', name: remote, refresh: 0s}\n- {spec: local.yaml, name: local}\n",
			"local.yaml":      gatewaytest.Document("Local", "two"),
		})
		r.Served()
		r.Eventually("both are served", func() bool { return len(r.Tools()) == 2 })
		text := func(api string) string {
			file := fetch.Redacted(r.Current().Files[api].Stamp.Files[0])
			e, err := r.DocumentText(t.Context(), api, file, 2, 1)
			if err != nil {
				return err.Error()
			}
			return strings.Join(e.Lines, "\n")
		}
		for api, want := range map[string]string{"remote": "title: Remote", "local": "title: Local"} {
			if got := text(api); !strings.Contains(got, want) {
				t.Errorf("%q: %s: %s", state, api, got)
			}
		}
		if state != "" { // documents are stored shortly after they were loaded
			r.Eventually("a copy is stored", func() bool {
				doc, release := r.Store().Load(t.Context(), r.Current().Files["remote"].ID, "remote")
				if release != nil {
					release()
				}
				return doc != nil
			})
		}
		for name, now := range map[string]string{"another version": gatewaytest.Document("Newer", "one"), "nothing": ""} {
			origin.Set(now)
			runtime.GC() // what was shown before is forgotten
			got, want := text("remote"), "title: Remote"
			switch {
			case state != "":
			case now == "":
				want = "it can't be read again: "
			default:
				want = "the document has changed at its origin"
			}
			if !strings.Contains(got, want) || strings.Contains(got, "Newer") || strings.Contains(got, "hidden") {
				t.Errorf("%q, %s: %s", state, name, got)
			}
		}
	}
}
