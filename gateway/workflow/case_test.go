package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestWorkflows runs testdata/*.txtar: the workflows of w.arazzo.yaml over the operations of api.yaml. Each line of calls names a tool and its
// arguments, and service has the responses of the service in their order, as "STATUS BODY"; the last one is repeated. The transcript has the faults
// and warnings, what tools/list has of the workflows, and for each call the requests and the result.
func TestWorkflows(t *testing.T) {
	gatewaytest.Transcripts(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) string {
		s := &scripted{answers: strings.Split(strings.TrimSpace(gatewaytest.Section(archive, "service")), "\n")}
		service := httptest.NewServer(s)
		defer service.Close()
		dir := t.TempDir()
		description := filepath.Join(dir, "w.arazzo.yaml")
		if err := os.WriteFile(description, []byte(gatewaytest.Section(archive, "w.arazzo.yaml")), 0o600); err != nil {
			t.Fatal(err)
		}
		c := gatewaytest.Configure(t, dir, gatewaytest.Section(archive, "api.yaml"),
			"apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nworkflows: ["+description+"]\n"+gatewaytest.Section(archive, "config"), service.URL)
		g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
		if err != nil {
			return err.Error()
		}
		if _, err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, line := range append(g.WorkflowProblems(), g.WorkflowWarnings()...) {
			fmt.Fprintln(&b, strings.ReplaceAll(line, dir+string(filepath.Separator), ""))
		}
		listed(t, g, &b)
		for line := range strings.Lines(gatewaytest.Section(archive, "calls")) {
			name, arguments, _ := strings.Cut(strings.TrimSpace(line), " ")
			fmt.Fprintf(&b, "> %s", line)
			_, result, body := gatewaytest.Modern(t, g.Handler(), "", name, arguments, "", true)
			b.WriteString(s.take())
			if result == nil {
				fmt.Fprintln(&b, body)
				continue
			}
			for _, member := range []string{"resultType", "inputRequests", "isError", "structuredContent"} {
				if value := result[member]; value != nil {
					fmt.Fprintf(&b, "%s: %s\n", member, value)
				}
			}
			var content []struct{ Text string }
			_ = json.Unmarshal(result["content"], &content) // there is none of a question
			for _, block := range content {
				fmt.Fprintln(&b, block.Text)
			}
		}
		return b.String()
	})
}

// listed writes the definitions of the workflows.
func listed(t *testing.T, g *gateway.Gateway, b *strings.Builder) {
	t.Helper()
	var tools []struct {
		Name, Description         string
		InputSchema, OutputSchema json.RawMessage
		Annotations               json.RawMessage
	}
	if err := json.Unmarshal(g.Definitions(), &tools); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if g.Plan(tool.Name) == nil {
			fmt.Fprintf(b, "tool %s: %s\n\tinput %s\n\toutput %s\n\t%s\n", tool.Name, strings.ReplaceAll(tool.Description, "\n", "\n\t"), tool.InputSchema, tool.OutputSchema, tool.Annotations)
		}
	}
}

// scripted is a service that answers what is written for it.
type scripted struct {
	mu      sync.Mutex
	answers []string
	next    int
	taken   strings.Builder
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what came is what is compared
	s.mu.Lock()
	fmt.Fprintf(&s.taken, "%s %s %s\n", r.Method, r.URL, body)
	answer := s.answers[min(s.next, len(s.answers)-1)]
	s.next++
	s.mu.Unlock()
	status, text, _ := strings.Cut(answer, " ")
	w.Header().Set("Content-Type", "application/json")
	code := 200
	_, _ = fmt.Sscan(status, &code) // 200 without a script
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // the client may be gone
}

func (s *scripted) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.taken.String()
	s.taken.Reset()
	return text
}

// TestCanceled holds that a call that is canceled makes no further step.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent++
		cancel()
		_, _ = io.WriteString(w, `{}`)
	}))
	defer service.Close()
	dir := t.TempDir()
	description := filepath.Join(dir, "w.arazzo.yaml")
	if err := os.WriteFile(description, []byte(`arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: shop, url: api.yaml}]
workflows: [{workflowId: both, steps: [{stepId: a, operationId: list}, {stepId: b, operationId: list}]}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.Configure(t, dir, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nworkflows: ["+description+"]\n", service.URL)
	g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(ctx); err != nil {
		t.Fatal(err)
	}
	_, _, _ = g.CallWithCause(ctx, "both", nil)
	if sent != 1 {
		t.Errorf("%d requests were sent", sent)
	}
}
