package interop

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

	"github.com/google/go-cmp/cmp"
)

// The folder into which make interop has installed the clients; see the script run beside this file.
const clientsVariable = "INTEROP_CLIENTS"

type toolResult struct {
	Content           []struct{ Type, Text, MimeType string }
	StructuredContent json.RawMessage
	IsError           bool
	Thrown            string // what the client threw instead
	Code              any
}

func (r toolResult) first() string {
	if r.Thrown != "" {
		return "thrown " + r.Thrown
	}
	if len(r.Content) == 0 {
		return "nothing"
	}
	if c := r.Content; len(c) > 1 && c[1].Type != "text" && c[0].Text != "" { // its caption stands before it
		return c[1].Type + " " + c[1].MimeType
	}
	return r.Content[0].Type + " " + r.Content[0].Text + r.Content[0].MimeType
}

func TestTypeScriptClients(t *testing.T) {
	folder := os.Getenv(clientsVariable)
	if folder == "" {
		t.Skipf("%s is not set; make interop installs the clients and sets it", clientsVariable)
	}
	w := newWorld(t)
	for _, test := range []struct{ client, path, revision string }{
		{"v1", "/mcp", "2025-11-25"},
		{"v1-sse", "/sse", "2025-11-25"}, // the transport of 2024-11-05
		{"v2-legacy", "/mcp", "2025-11-25"},
		{"v2-auto", "/mcp", "2026-07-28"},
		{"v2-pinned", "/mcp", "2026-07-28"},
	} {
		t.Run(test.client, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "node", filepath.Join(folder, "clients.mjs"), w.at(test.path), w.token, test.client)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("client: %v\n%s", err, stderr.String())
			}
			var got struct {
				Revision                                           string
				Tools                                              []string
				Order, Found, Label, Receipt, Stock, Lost, Unknown toolResult
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("decode the client's report: %v\n%s", err, out)
			}
			if got.Revision != test.revision {
				t.Errorf("agreed on revision %q, want %q", got.Revision, test.revision)
			}
			if diff := cmp.Diff(tools, got.Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			for _, c := range []struct {
				name    string
				got     toolResult
				isError bool
				first   string
			}{
				{"order", got.Order, false, `text {"id":9007199254741003,`},
				{"found", got.Found, false, `text ["SO 1002#b"]`},
				{"label", got.Label, false, "image image/png"},
				{"receipt", got.Receipt, false, "text HARBOUR CHANDLERS"},
				{"stock", got.Stock, false, `text [{"sku":"ANCHOR-1"`},
				{"lost", got.Lost, true, "text "},
				{"unknown", got.Unknown, false, "thrown "},
			} {
				if first := c.got.first(); c.got.IsError != c.isError || !strings.HasPrefix(first, c.first) {
					t.Errorf("%s: isError %t, %.300s; want isError %t, %s", c.name, c.got.IsError, first, c.isError, c.first)
				}
			}
			if !strings.Contains(got.Lost.first(), "there is no order") {
				t.Errorf("lost: %s; want the words of the service", got.Lost.first())
			}
			if !strings.Contains(got.Unknown.first(), `"nothing"`) {
				t.Errorf("unknown: %s; want an error that names the tool", got.Unknown.first())
			}
			w.checkNoTokenWentUpstream(t, w.requests())
		})
	}
}

// TestTypeScriptPage runs the program of docs/start/typescript.md.
func TestTypeScriptPage(t *testing.T) {
	folder := os.Getenv(clientsVariable)
	if folder == "" {
		t.Skipf("%s is not set; make interop installs the clients and sets it", clientsVariable)
	}
	page, err := os.ReadFile("../../docs/start/typescript.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(page), "```js\n")
	program, _, closed := strings.Cut(program, "```")
	if !found || !closed {
		t.Fatal("the page shows no program")
	}
	file := filepath.Join(folder, "page.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "node", file)
	c.Env = append(os.Environ(), "MCP_URL="+w.at("/mcp"), "MCP_TOKEN="+w.token)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\ngetOrder\n") || !strings.Contains(string(out), "order_no: 'SO 1001'") {
		t.Errorf("%v\n%s", err, out)
	}
}
