package main

import (
	"os"
	"path/filepath"
	"testing"

	"drawbridge/config"
)

// TestDemoConfiguration reads what the demo writes. An IPv6 address in brackets is a list to YAML if nobody quotes it.
func TestDemoConfiguration(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost:8080"} {
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(configuration(listen, "http://127.0.0.1:9", t.TempDir())), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(file, func(string) string { return "value-of-the-variable" })
		if c == nil || c.Server.Listen.String() != listen || c.Resource() != "http://"+listen+"/mcp" {
			t.Errorf("%s: %v", listen, problems)
		}
	}
}
