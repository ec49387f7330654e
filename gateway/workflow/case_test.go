package workflow_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestWorkflows runs testdata/*.txtar: the workflows of w.arazzo.yaml over the operations of api.yaml. Each line of calls names a tool and its
// arguments; "yes" and "no" answer what the last call has asked, "again" sends the last answer once more, and "replace" goes on with a gateway
// for which the files NAME.new replace NAME. service has the responses of the service in their order, as "STATUS BODY", "reset" or "hang"; the last one is repeated.
// The transcript has the faults and warnings, what tools/list has of the workflows, for each call the requests and the result, and the audit
// records with the arguments at the JSON Pointers of audit, if there are any.
func TestWorkflows(t *testing.T) {
	gatewaytest.Transcripts(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) string {
		p := &play{t: t, archive: archive, dir: t.TempDir(), service: &scripted{answers: strings.Split(strings.TrimSpace(gatewaytest.Section(archive, "service")), "\n")}}
		server := httptest.NewServer(p.service)
		defer server.Close()
		p.base = server.URL
		records := p.records()
		p.start("")
		for _, line := range append(p.g.WorkflowProblems(), p.g.WorkflowWarnings()...) {
			fmt.Fprintln(&p.out, strings.ReplaceAll(line, p.dir+string(filepath.Separator), ""))
		}
		listed(t, p.g, &p.out)
		for line := range strings.Lines(gatewaytest.Section(archive, "calls")) {
			fmt.Fprintf(&p.out, "> %s", line)
			p.line(strings.TrimSpace(line))
		}
		p.out.WriteString(records())
		return p.out.String()
	})
}

// play is a case that is run.
type play struct {
	t         *testing.T
	archive   *txtar.Archive
	dir, base string
	service   *scripted
	audit     *audit.Log
	g         *gateway.Gateway
	out       strings.Builder

	tool, arguments string // last called
	question        map[string]json.RawMessage
	answer          string // last sent
}

// records begins the audit log, if the case is about it, and returns what ends it and returns its records.
func (p *play) records() func() string {
	fields := strings.Fields(gatewaytest.Section(p.archive, "audit"))
	if len(fields) == 0 {
		return func() string { return "" }
	}
	var written bytes.Buffer
	log, err := audit.New(audit.Options{Output: &written, Fields: fields})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	p.audit = log
	return func() string {
		cancel()
		timebox.Wait(p.t, ended)
		var b strings.Builder
		for line := range strings.Lines(written.String()) {
			var r struct {
				Tool, Outcome string
				Fields        json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				p.t.Fatal(err)
			}
			fmt.Fprintf(&b, "record: %s %s %s\n", r.Tool, r.Outcome, r.Fields)
		}
		return b.String()
	}
}

// start starts a gateway with the files of the case.
func (p *play) start(suffix string) {
	p.t.Helper()
	section := func(name string) string {
		return cmp.Or(gatewaytest.Section(p.archive, name+suffix), gatewaytest.Section(p.archive, name))
	}
	description := filepath.Join(p.dir, "w.arazzo.yaml")
	if err := os.WriteFile(description, []byte(section("w.arazzo.yaml")), 0o600); err != nil {
		p.t.Fatal(err)
	}
	c := gatewaytest.Configure(p.t, p.dir, section("api.yaml"),
		"server: {seal_keys: [the-key-of-all-gateways-0123456789]}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nworkflows: ["+description+"]\n"+section("config"), p.base)
	g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0", Audit: p.audit})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := g.Load(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.g = g
}

func (p *play) line(line string) {
	switch word, arguments, _ := strings.Cut(line, " "); word {
	case "replace":
		p.start(".new")
		return
	case "again":
	case "yes", "no":
		answers := map[string]json.RawMessage{}
		var asked map[string]json.RawMessage
		if err := json.Unmarshal(p.question["inputRequests"], &asked); err != nil {
			p.t.Fatal(err)
		}
		for key := range asked {
			answers[key] = json.RawMessage(map[string]string{"yes": `{"action":"accept","content":{"go_ahead":true}}`, "no": `{"action":"decline"}`}[word])
		}
		text, err := json.Marshal(answers)
		if err != nil {
			p.t.Fatal(err)
		}
		p.answer = fmt.Sprintf(`"requestState":%s,"inputResponses":%s,`, p.question["requestState"], text)
	default:
		p.tool, p.arguments, p.answer = word, arguments, ""
	}
	_, result, body := gatewaytest.Modern(p.t, p.g.Handler(), "", p.tool, p.arguments, p.answer, true)
	p.out.WriteString(p.service.take())
	if result == nil {
		fmt.Fprintln(&p.out, body)
		return
	}
	if result["inputRequests"] != nil {
		p.question = result
	}
	for _, member := range []string{"resultType", "inputRequests", "isError", "structuredContent"} {
		if value := result[member]; value != nil {
			fmt.Fprintf(&p.out, "%s: %s\n", member, value)
		}
	}
	var content []struct{ Text string }
	_ = json.Unmarshal(result["content"], &content) // there is none of a question
	for _, block := range content {
		fmt.Fprintln(&p.out, block.Text)
	}
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
	switch status {
	case "reset":
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.(*net.TCPConn).SetLinger(0) // the connection is reset
			_ = c.Close()                     // as above
		}
		return
	case "hang":
		<-r.Context().Done()
		return
	}
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

// TestInterrupted holds that a call that is canceled in a step makes no further one, and that a gateway that drains lets a running workflow end.
func TestInterrupted(t *testing.T) {
	for name, tt := range map[string]struct {
		interrupt func(g *gateway.Gateway, cancel func())
		sent      int
	}{
		"canceled": {func(_ *gateway.Gateway, cancel func()) { cancel() }, 1},
		"drained":  {func(g *gateway.Gateway, _ func()) { g.Drain() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var g *gateway.Gateway
			sent := 0
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent++
				tt.interrupt(g, cancel)
				_, _ = io.WriteString(w, `{}`) // the client may be gone
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
			var err error
			if g, err = gateway.New(gateway.Options{Config: c, Version: "1.0.0"}); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Load(ctx); err != nil {
				t.Fatal(err)
			}
			_, _, _ = g.CallWithCause(ctx, "both", nil)
			if service.Close(); sent != tt.sent {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}
