package authe2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const inspector = "inspector"

// MCP Inspector, from the command line, with a token in a header.
func testInspector(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer, demoProgram} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, setup{server: server})
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			t.Cleanup(cancel)
			token := w.look(ctx, t, w.enter(ctx, t, goSDK)).Access
			for _, era := range []string{"legacy", "modern"} {
				t.Run(era, func(t *testing.T) {
					t.Parallel()
					s.table.note(t, "list and call with a token, "+era, server, inspector)
					var list struct{ Tools []struct{ Name string } }
					s.inspect(ctx, t, &list, w.endpoint, token, era, "--method", "tools/list")
					if len(list.Tools) != 14 {
						t.Errorf("%d tools", len(list.Tools))
					}
					var result outcome
					s.inspect(ctx, t, &result, w.endpoint, token, era, "--method", "tools/call", "--tool-name", reading.tool, "--tool-arg", "order_no=SO 1001")
					if result.IsError || !strings.Contains(result.text(), `"SO 1001"`) {
						t.Errorf("isError %t, %.300s", result.IsError, result.text())
					}
				})
			}
		})
	}
}

// inspect runs the Inspector and decodes what it prints.
func (s *suite) inspect(ctx context.Context, t *testing.T, out any, endpoint, token, era string, args ...string) {
	t.Helper()
	defer s.busy()()
	main := filepath.Join(s.folder, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	args = append([]string{main, "--cli", endpoint, "--transport", "http", "--header", "Authorization: Bearer " + token,
		"--protocol-era", era, "--stored-auth-only", "--format", "json", "--quiet"}, args...)
	c := exec.CommandContext(ctx, nodeIn(s.folder), args...)
	c.Env = append(os.Environ(), "HOME="+t.TempDir()) // where it keeps what it knows
	var stderr bytes.Buffer
	c.Stderr = &stderr
	text, err := c.Output()
	if err == nil {
		err = json.Unmarshal(text, &struct{ Result any }{out})
	}
	if err != nil {
		t.Fatalf("inspector: %v\n%s%s", err, text, stderr.String())
	}
}
