package source

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/filewatch"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/test/timebox"
)

// dir is a directory with a configuration and documents.
type dir struct {
	t    *testing.T
	path string
}

func (d dir) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.path, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// set makes the sources of a configuration.
func (d dir) set(deps *Deps, text string, old *Set) (*Set, error) {
	d.t.Helper()
	d.write("drawbridge.yaml", text)
	c, problems := config.Load(filepath.Join(d.path, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		d.t.Fatal(problems)
	}
	return NewSet(deps, c, old, nil)
}

func newDeps(t *testing.T, updates chan Update) *Deps {
	return &Deps{
		Version: "1.0.0", Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Metrics: telemetry.NewMetrics(prometheus.NewRegistry(), "1.0.0"),
		Panicked:  func(what string, v any) { t.Errorf("%s: panic: %v", what, v) },
		Keep:      func(_ context.Context, _ string, f func()) { f() },
		Pace:      openapi.NewPace(func() bool { return false }, func() bool { return false }),
		Documents: admission.NewDocumentBudget(0, 0, 0), Updates: updates, Files: new(filewatch.Notifier),
	}
}

// document returns a document with these operations, each given as method and path, with its operationId.
func document(title string, operations ...string) string {
	text := "openapi: 3.1.0\ninfo: {title: " + title + ", version: '1'}\npaths:\n"
	for _, op := range operations {
		method, path, _ := strings.Cut(op, " ")
		text += "  " + path + ": {" + strings.ToLower(method) + ": {responses: {}}}\n"
	}
	return text
}

// TestSourceInUse follows a source from its first document through a quarantine to its acceptance.
func TestSourceInUse(t *testing.T) {
	d := dir{t, t.TempDir()}
	d.write("a.yaml", document("Orders", "GET /a", "GET /b", "GET /c", "GET /d", "GET /e"))
	updates := make(chan Update)
	deps := newDeps(t, updates)
	set, err := d.set(deps, "apis: [{spec: a.yaml, base_url: 'http://127.0.0.1:1'}]\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	set.Start(ctx, group)
	defer func() {
		cancel()
		ended := make(chan error, 1)
		go func() { ended <- group.Wait() }()
		if err := timebox.Receive(t, ended); err != nil {
			t.Error(err)
		}
	}()
	s := set.Sources[0]
	if state := s.Status().State; state != admin.Loading {
		t.Errorf("state %s before the first attempt", state)
	}
	u := timebox.Receive(t, updates)
	s.Attempted(u)
	if u.Err != nil || s.Hold(u, nil) != nil {
		t.Fatalf("first document: %v", u.Err)
	}
	s.Use(u)
	set.NameSources()
	if s.Name != "orders" || s.Status().State != admin.Ready {
		t.Errorf("name %s, state %s", s.Name, s.Status().State)
	}

	d.write("a.yaml", document("Orders", "GET /a"))
	set.Replace(set, 1)
	for u = timebox.Receive(t, updates); u.Document == nil || len(u.Document.API.Operations) != 1; u = timebox.Receive(t, updates) {
		s.Attempted(u)
	}
	s.Attempted(u)
	q := s.Hold(u, nil)
	if q == nil || len(q.Lost) != 4 || q.Of != 5 || s.Status().State != admin.Held || len(s.Documents()) != 2 {
		t.Fatalf("quarantine %+v, status %+v", q, s.Status())
	}
	if !set.Settled(1) || set.Settled(2) {
		t.Error("the attempt answers another reload")
	}
	s.Use(*q.Update)
	if s.Quarantine != nil || len(s.Document.API.Operations) != 1 || s.Status().State != admin.Ready {
		t.Errorf("accepted: status %+v", s.Status())
	}
}

// TestSetOfNextConfiguration checks that a source is kept if its configuration is the same, that another takes over the
// document if it compiles to the same result, and that parts of documents are not APIs.
func TestSetOfNextConfiguration(t *testing.T) {
	d := dir{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(d.path, "specs"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write("specs/a.yaml", document("A", "GET /a"))
	d.write("specs/part.yaml", "Order: {type: object}\n")
	deps := newDeps(t, nil)
	const text = "apis: [{spec: specs, base_url: 'http://127.0.0.1:1'}]\n"
	first, err := d.set(deps, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Sources) != 1 || len(first.Fragments) != 1 || filepath.Base(first.Fragments[0]) != "part.yaml" {
		t.Fatalf("%d sources, fragments %q", len(first.Sources), first.Fragments)
	}
	document, err := first.Sources[0].Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.Sources[0].Document = document
	same, err := d.set(deps, text, first)
	if err != nil || !slices.Equal(same.Sources, first.Sources) {
		t.Errorf("the source was replaced: %v", err)
	}
	changed, err := d.set(deps, strings.Replace(text, "base_url", "timeout: 3s, base_url", 1), first)
	if err != nil {
		t.Fatal(err)
	}
	if s := changed.Sources[0]; first.Has(s) || s.Document == nil || s.Document.API != document.API || s.Document.Client == document.Client {
		t.Errorf("source %+v", s)
	}
	changed.Stop(first)
	first.Stop(&Set{})
}
