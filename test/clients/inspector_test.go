package clients

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inspector fills in the column of MCP Inspector's command line, which makes one request in each run.
func inspector(folder, era string) func(t *testing.T, w *world, tb *table, column string) {
	return func(t *testing.T, w *world, tb *table, column string) { inspectorColumn(t, w, tb, column, folder, era) }
}

func inspectorColumn(t *testing.T, w *world, tb *table, column, folder, era string) {
	home := t.TempDir()
	run := func(want string, args ...string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		main := filepath.Join(folder, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
		c := exec.CommandContext(ctx, nodeIn(folder), append([]string{main, "--cli", w.endpoint, "--transport", "http", "--format", "json", "--quiet", "--protocol-era", era}, args...)...)
		c.Env = append(os.Environ(), "HOME="+home, "MCP_INSPECTOR_SECRET_STORE=memory")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("%w: %s%s", err, out, stderr.String())
		}
		if !strings.Contains(string(out), want) {
			return fmt.Errorf("%s is not in %s", want, out)
		}
		return nil
	}
	const once = "Inspector's command line ends with the answer to one request"
	type cell struct {
		feature string
		err     error
	}
	for _, c := range []cell{
		{"list", run(`"getThing"`, "--method", "tools/list")},
		{"call", run(`T-2`, "--method", "tools/call", "--tool-name", "getThing", "--tool-arg", "id=T-1")},
		{"job", run(`pages`, "--method", "tools/call", "--tool-name", "makeReport")},
		{"argument in a header", run(`stock of Übersee`, "--method", "tools/call", "--tool-name", "getStock", "--tool-arg", "region=Übersee")},
		{"list resources", run(`"board://notice"`, "--method", "resources/list")},
		{"list templates", run(`"thing://{id}"`, "--method", "resources/templates/list")},
		{"read", run(`T-2`, "--method", "resources/read", "--uri", "thing://T-1")},
		{"prompts", run(`Describe T-1, polite.`, "--method", "prompts/get", "--prompt-name", "describe", "--prompt-args", "thing=T-1", "tone=polite")},
		{"progress", missing{"the command line shows the result alone"}},
		{"question", missing{"the command line has nobody to ask"}},
		{"subscribe", missing{once}},
		{"completion", missing{"there is no such method on the command line"}},
		{"cancel", missing{once}},
		{"list changed", missing{once}}, {"agent loop", missing{once}},
	} {
		tb.try(t, column, c.feature, func() error { return c.err })
	}
}
