package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHash: replicas with one configuration have one number, wherever they listen and write, and any other difference shows, that of the seal keys
// included.
func TestHash(t *testing.T) {
	const base = `server:
  listen: 127.0.0.1:8080
  public_url: https://mcp.example.com
  state_dir: state
  seal_keys: [0123456789abcdef0123456789abcdef]
admin: {listen: "127.0.0.1:9090"}
auth: {issuers: [{issuer: "https://idp.example.com"}], default_scopes: [mcp:tools]}
apis: [{name: a, spec: "https://a.example.com/openapi.json", credential: {type: bearer, token: secret}}]
audit: {file: audit.jsonl}
telemetry: {log_level: info}
`
	dir := t.TempDir()
	hash := func(text string, keys ...string) uint64 {
		t.Helper()
		file := filepath.Join(dir, "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := Load(file, func(string) string { return "" })
		if c == nil {
			t.Fatalf("%s\n%v", text, problems)
		}
		var sealKeys [][]byte
		for _, key := range keys {
			sealKeys = append(sealKeys, []byte(key))
		}
		h := c.Hash(sealKeys)
		if h == 0 || h >= 1<<48 || h != c.Hash(sealKeys) {
			t.Errorf("hash %d of\n%s", h, text)
		}
		return h
	}
	want := hash(base, "k")
	for was, is := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8081", "127.0.0.1:9090": "127.0.0.1:9091", "state_dir: state": "state_dir: other", "audit.jsonl": "1.jsonl", "log_level: info": "log_level: debug",
	} {
		if got := hash(strings.Replace(base, was, is, 1), "k"); got != want {
			t.Errorf("%s instead of %s makes a difference", is, was)
		}
	}
	seen := map[uint64]string{want: base, hash(base, "other key"): "other key", hash(base, "k", "second key"): "second key"}
	others := map[string]string{
		"https://mcp.example.com": "https://other.example.com", "[mcp:tools]": "[mcp:other]", "token: secret": "token: other", "name: a,": "name: b,",
		"a.example.com": "b.example.com", "audit: {file: audit.jsonl}": "", "{file: audit.jsonl}": "{file: audit.jsonl, when_full: drop}", "telemetry:": "limits: {max_calls: 7}\ntelemetry:",
		"seal_keys:": "page_size: 10\n  seal_keys:",
	}
	for _, was := range slices.Sorted(maps.Keys(others)) {
		text := strings.Replace(base, was, others[was], 1)
		got := hash(text, "k")
		if other := seen[got]; other != "" {
			t.Errorf("%s\nis taken to be\n%s", text, other)
		}
		seen[got] = text
	}
	if len(seen) != 3+len(others) {
		t.Errorf("%d numbers of %d configurations", len(seen), 3+len(others))
	}
}
