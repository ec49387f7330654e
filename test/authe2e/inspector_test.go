package authe2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

const inspector = "inspector"

// MCP Inspector, from the command line, with a token in a header and with a login of its own.
func testInspector(t *testing.T, s *suite) {
	for _, server := range []string{oidcProvider, ownServer, demoProgram} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, setup{server: server})
			token := w.look(t.Context(), t, w.enter(t.Context(), t, goSDK)).Access
			t.Run("login", func(t *testing.T) {
				t.Parallel()
				s.table.note(t, "login by itself, call", server, inspector)
				s.inspectAnew(t, w)
			})
			for _, era := range []string{"legacy", "modern"} {
				t.Run(era, func(t *testing.T) {
					t.Parallel()
					s.table.note(t, "list and call with a token, "+era, server, inspector)
					var list struct{ Tools []struct{ Name string } }
					s.inspect(t, &list, w.endpoint, token, era, "--method", "tools/list")
					if len(list.Tools) != 14 {
						t.Errorf("%d tools", len(list.Tools))
					}
					var result outcome
					s.inspect(t, &result, w.endpoint, token, era, "--method", "tools/call", "--tool-name", reading.tool, "--tool-arg", "order_no=SO 1001")
					if result.IsError || !strings.Contains(result.text(), `"SO 1001"`) {
						t.Errorf("isError %t, %.300s", result.IsError, result.text())
					}
				})
			}
		})
	}
}

// inspect runs the Inspector with a token and decodes what it prints.
func (s *suite) inspect(t *testing.T, out any, endpoint, token, era string, args ...string) {
	t.Helper()
	defer s.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := s.inspector(ctx, t, endpoint, append([]string{"--header", "Authorization: Bearer " + token, "--protocol-era", era,
		"--stored-auth-only", "--quiet"}, args...)...)
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

// inspector is its program.
func (s *suite) inspector(ctx context.Context, t *testing.T, endpoint string, args ...string) *exec.Cmd {
	main := filepath.Join(s.folder, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	c := exec.CommandContext(ctx, nodeIn(s.folder), append([]string{main, "--cli", endpoint, "--transport", "http", "--format", "json"}, args...)...)
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), // where it keeps what it knows
		"MCP_INSPECTOR_SECRET_STORE=memory", "MCP_AUTO_OPEN_ENABLED=true", "BROWSER=true") // the user is no terminal, and its browser is ours
	return c
}

// inspectAnew has the Inspector log in by itself: it names a page, the user goes there, and the answer comes to its door.
// It does not get further than the scope of the first challenge: when a call is refused for another, version 2.12 of its
// command line asks for the first once more.
func (s *suite) inspectAnew(t *testing.T, w *world) {
	defer s.busy()()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	user, err := newGoSession(w.endpoint, choices{})
	if err != nil {
		t.Fatal(err)
	}
	defer user.close(ctx)
	user.door = "http://" + s.address(t) + "/oauth/callback"
	c := s.inspector(ctx, t, w.endpoint, "--callback-url", user.door, "--method", "tools/call", "--tool-name", reading.tool, "--tool-arg", "order_no=SO 1001")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	c.Stdout = &stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	visits := 0
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		_, page, found := strings.Cut(lines.Text(), "Please navigate to: ")
		if !found {
			continue
		}
		visits++
		query, err := user.browse(ctx, page)
		if err == nil {
			_, _, err = w.get(ctx, user.door+"?"+query.Encode())
			w.secrets.add("a code", query.Get("code"))
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	var got struct{ Result outcome }
	if err := timebox.Result(t, c.Wait); err != nil {
		t.Fatalf("inspector: %v\n%s%s", err, stdout.String(), said.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Result.IsError || !strings.Contains(got.Result.text(), `"SO 1001"`) {
		t.Errorf("after %d visits: %v, isError %t, %.300s", visits, err, got.Result.IsError, stdout.String())
	}
	if visits != 1 {
		t.Errorf("the user was led away %d times", visits)
	}
}
