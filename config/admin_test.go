package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestAdminListen: it is found in files that are wrong in all else.
func TestAdminListen(t *testing.T) {
	for text, want := range map[string]Address{
		"admin: {listen: '127.0.0.1:7'}\nserver: {listn: 5}\napis: 7\nauth: {issuers: [{issuer: x}]}\n": "127.0.0.1:7",
		"admin: {listen: '${WHERE}', token: '${MISSING}'}\n":                                            "127.0.0.1:8",
		"server: {listen: nonsense}\n":                                                                  "127.0.0.1:9090",
		"admin: {listen: nonsense}\n":                                                                   "",
		"admin: 5\n":                                                                                    "",
		"admin: {listen: '127.0.0.1:7'}\napis: [\n":                                                     "",
	} {
		path := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, ok := AdminListen(path, func(name string) string { return map[string]string{"WHERE": "127.0.0.1:8"}[name] })
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := DefaultAdminListen(); got != "127.0.0.1:9090" {
		t.Errorf("by default %q", got)
	}
	if got, ok := AdminListen(t.TempDir()+"/none", os.Getenv); ok {
		t.Errorf("of no file: %q", got)
	}
}

// TestDefaultLimits holds that servers which aren't those of an API are asked within the limits of a configuration that does not say any.
func TestDefaultLimits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	writeFile(t, file, []byte("- https://example.com/openapi.json\n"))
	c, problems := Load(file, func(string) string { return "" })
	if c == nil || !reflect.DeepEqual(c.Limits, DefaultLimits()) {
		t.Errorf("defaults are %+v; %v", DefaultLimits(), problems)
	}
	if l := DefaultLimits(); l.Timeout == 0 || l.ConnectTimeout == 0 || l.TLSTimeout == 0 || l.FirstByteTimeout == 0 || l.MaxAnswer == 0 || l.MaxRatio == 0 {
		t.Errorf("no limit in %+v", l)
	}
}
