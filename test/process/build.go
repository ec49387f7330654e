package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BuildGateway builds the gateway's program, without cgo as it is delivered, and returns its path. It may be called from any folder of
// the module. It takes no context, because a build takes minutes on a machine that is busy: a limit for what a test does with the program
// begins when it is there. GATEWAY_PROGRAM names one that is there already: .ci/run builds it once for all tests.
func BuildGateway(t testing.TB) string {
	t.Helper()
	if program := os.Getenv("GATEWAY_PROGRAM"); program != "" {
		return program
	}
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	path := filepath.Join(t.TempDir(), "drawbridge")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/drawbridge")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Dir = strings.TrimSpace(string(root))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build the gateway: %v\n%s", err, out)
	}
	return path
}
