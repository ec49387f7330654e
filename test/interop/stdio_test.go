package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// calls at once, as a host with many agents makes them.
const callsAtOnce = 1000

const thingsDocument = `openapi: 3.1.0
info: {title: Things, version: '1'}
paths:
  /things/{id}:
    get:
      operationId: getThing
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /slow: {get: {operationId: slow, responses: {'200': {description: never}}}}
`

// host is what a desktop application has: a program to start and its configuration; and a service behind.
type host struct {
	program, config, document string

	slow chan struct{} // a call of the slow operation has arrived
	gone chan struct{} // it was given up
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{program: process.BuildGateway(t), slow: make(chan struct{}, 1), gone: make(chan struct{}, 1)}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			h.slow <- struct{}{}
			<-r.Context().Done()
			h.gone <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":`+strings.TrimPrefix(r.URL.Path, "/things/")+`}`)
	}))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	h.config, h.document = filepath.Join(dir, "gateway.yaml"), filepath.Join(dir, "things.yaml")
	config := fmt.Sprintf("limits: {first_byte_timeout: 1m, timeout: 1m, max_queued: 100000, queue_timeout: 1m}\napis: [{spec: things.yaml, base_url: %q}]\n", service.URL)
	for file, text := range map[string]string{h.config: config, h.document: thingsDocument} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// givenUp demands that the call of the slow operation has arrived and was given up.
func (h *host) givenUp(t *testing.T) {
	t.Helper()
	select {
	case <-h.gone:
	case <-time.After(20 * time.Second):
		t.Error("the call was cancelled, and the service still works on it")
	}
}

func TestGoSDKStdio(t *testing.T) {
	h := newHost(t)
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			changed := make(chan struct{}, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			program := exec.Command(h.program, "stdio", "--config", h.config)
			var log bytes.Buffer
			program.Stderr = &log
			session, err := client.Connect(ctx, &mcp.CommandTransport{Command: program}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatalf("connect: %v\n%s", err, log.String())
			}
			defer func() {
				if err := session.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				if t.Failed() {
					t.Logf("log:\n%s", log.String())
				}
			}()
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("agreed on revision %q, want %q", got, revision)
			}
			list, err := session.ListTools(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff([]string{"getThing", "slow"}, names); diff != "" {
				t.Errorf("tools (-want +got)\n%s", diff)
			}

			var calls sync.WaitGroup
			for id := range callsAtOnce {
				calls.Go(func() {
					result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "getThing", Arguments: map[string]any{"id": id}})
					if err != nil {
						t.Errorf("call %d: %v", id, err)
					} else if got := describe(result); got != fmt.Sprintf(`text {"id":%d}`, id) {
						t.Errorf("call %d: %s", id, got)
					}
				})
			}
			timebox.Done(t, calls.Wait)

			one, giveUp := context.WithCancel(ctx)
			calls.Go(func() {
				if _, err := session.CallTool(one, &mcp.CallToolParams{Name: "slow"}); err == nil {
					t.Error("the slow call has an answer")
				}
			})
			timebox.Wait(t, h.slow)
			giveUp()
			h.givenUp(t)
			timebox.Done(t, calls.Wait)
			if revision >= "2026" { // changes are told to who listens, which this client does not
				return
			}
			for len(changed) > 0 {
				timebox.Wait(t, changed)
			}
			h.write(t, strings.ReplaceAll(thingsDocument, "getThing", "readThing"))
			defer h.write(t, thingsDocument)
			select {
			case <-changed:
			case <-ctx.Done():
				t.Error("nobody has told of the change of tools")
			}
			list, err = session.ListTools(ctx, nil)
			if err != nil || !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "readThing" }) {
				t.Errorf("after the change: %+v, %v", list, err)
			}
		})
	}
}

// write replaces the document.
func (h *host) write(t *testing.T, text string) {
	if err := os.WriteFile(h.document+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.document+".new", h.document); err != nil {
		t.Fatal(err)
	}
}

func TestTypeScriptStdio(t *testing.T) {
	folder := os.Getenv(clientsVariable)
	if folder == "" {
		t.Skipf("%s is not set; make interop installs the clients and sets it", clientsVariable)
	}
	h := newHost(t)
	for _, test := range []struct{ client, revision string }{
		{"v1", "2025-11-25"}, {"v2-legacy", "2025-11-25"}, {"v2-auto", "2026-07-28"}, {"v2-pinned", "2026-07-28"},
	} {
		t.Run(test.client, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "node", filepath.Join(folder, "stdio.mjs"), h.program, h.config, test.client, fmt.Sprint(callsAtOnce))
			var stderr bytes.Buffer
			c.Stderr = &stderr
			type report struct {
				Revision         string
				Tools            []string
				Right            int
				Unknown, Aborted bool
			}
			giveUp, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() { // the slow call that the client gives up
				defer close(done)
				select {
				case <-h.slow:
					_, _ = io.WriteString(giveUp, "\n")
				case <-ctx.Done():
				}
			}()
			out, err := c.Output()
			if err != nil {
				t.Fatalf("client: %v\n%s", err, stderr.String())
			}
			timebox.Wait(t, done)
			h.givenUp(t)
			var got report
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := report{test.revision, []string{"getThing", "slow"}, callsAtOnce, true, true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got)\n%s\n%s", diff, stderr.String())
			}
		})
	}
}
