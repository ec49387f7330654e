package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/openapi/origin"
)

// FuzzServers checks that no server of a document leads calls to another origin than those of the configuration, in any
// notation, nor to a URL that can't be a base.
func FuzzServers(f *testing.F) {
	for _, seed := range [][3]string{
		{"https://api.example/v1", "https://api.example/upload", "v1"}, {"https://api.example", "//evil.example", ""}, {"/v1", "", "x"},
		{"https://{v}.example/v1", "https://{v}.example/up", "api"}, {"{v}/v1", "{v}/upload", "https://evil.example"}, {"https://api.example", `https://api.example\@evil.example`, ""},
		{"https://api.example", "https://api.example@evil.example/", ""}, {"https://api.example", "https://internal.example:443@evil.example", ""},
		{"https://api.example", "https:internal.example", ""}, {"https://api.example", "https://api.example/%2e%2e/../..//evil.example/", ""},
		{"//evil.example", "/", ""}, {"${v}/v1", "${v}/upload", ""}, {"https://[::1%25a]/", "https://[::1%25A]:443/b", ""}, {"https://api.example/{v}", "https://api.example/{v}", "../../x"},
	} {
		f.Add(seed[0], seed[1], seed[2], true)
		f.Add(seed[0], seed[1], seed[2], false)
	}
	base := &url.URL{Scheme: "https", Host: "internal.example", Path: "/internal/v1"}
	const allowed = "https://allowed.example"
	f.Fuzz(func(t *testing.T, root, own, value string, file bool) {
		server := func(text string) map[string]any {
			return map[string]any{"url": text, "variables": map[string]any{"v": map[string]any{"default": value}}}
		}
		text, err := json.Marshal(map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "S", "version": "1"}, "servers": []any{server(root)},
			"paths": map[string]any{"/a": map[string]any{"get": map[string]any{"servers": []any{server(own)}, "responses": map[string]any{}}}}})
		if err != nil {
			t.Skip()
		}
		location := filepath.Join(t.TempDir(), "spec.json")
		if err := os.WriteFile(location, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o := LoadOptions{}
		if !file {
			location, o.Client = "https://docs.example/specs/openapi.json", &http.Client{Transport: served(text)}
		}
		doc, err := Load(t.Context(), location, o)
		if err != nil {
			t.Skip()
		}
		api, err := doc.Compile(t.Context(), CompileOptions{BaseURL: base, AllowServers: []string{allowed}})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			if op.Base == nil {
				if op.BaseProblem == "" {
					t.Errorf("no base, and no reason")
				}
				continue
			}
			if at, ok := origin.Of(op.Base); !ok || !origin.Same(op.Base, base) && at.String() != allowed {
				t.Errorf("%q leads to %s", own, op.Base)
			}
			if err := checkBase(op.Base); err != nil {
				t.Errorf("%q leads to %s, which %v", own, op.Base, err)
			}
			if strings.Contains(op.Base.Path+"/", "/../") || strings.Contains(op.Base.Path+"/", "/./") {
				t.Errorf("%q leads to %s", own, op.Base)
			}
		}
	})
}
