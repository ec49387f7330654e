package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCheck: an error in a file of one platform is found for that platform alone.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example\n\ngo 1.26\n",
		"main.go":    "package main\n\nfunc main() { wait() }\n",
		"linux.go":   "//go:build linux\n\npackage main\n\nfunc wait() {}\n",
		"windows.go": "//go:build windows\n\npackage main\n\nfunc wait() { missing() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if faults, _, err := check("linux/arm64", "."); err != nil || len(faults) > 0 {
		t.Errorf("linux/arm64: %q, %v", faults, err)
	}
	if faults, _, err := check("windows/amd64", "."); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "undefined: missing") {
		t.Errorf("windows/amd64: %q, %v", faults, err)
	}
	if _, _, err := check("windows", "."); err == nil {
		t.Error("a platform without a processor was accepted")
	}
}
