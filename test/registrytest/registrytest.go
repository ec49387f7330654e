// Package registrytest stands for registries in tests of the providers of services.
package registrytest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
)

// Server is a [discovery.Client] whose requests a handler answers in the process. Without one it refuses connections.
type Server struct{ http.Handler }

// Do implements [discovery.Client].
func (s Server) Do(req *http.Request) (*http.Response, error) {
	if s.Handler == nil {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result(), nil
}

// Conversation answers each request with the file that is named after its path and query, and others with 404.
func Conversation(files []txtar.File) Server {
	return Server{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, f := range files {
			if f.Name == r.URL.RequestURI() {
				_, _ = w.Write(f.Data) // a recorder
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	})}
}

// Secret is the value of each variable that a configuration refers to.
const Secret = "s3cret"

// Settings reads the configuration of a provider, in YAML.
func Settings(t *testing.T, provider string) *config.Discovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("discovery: [{name: p, "+provider+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return Secret })
	if c == nil {
		t.Fatal(problems)
	}
	return &c.Discovery[0]
}

// Report writes what a provider reported: a line for each service, and the error.
func Report(targets []discovery.Target, err error, line func(t *discovery.Target) string) string {
	var b strings.Builder
	if targets == nil {
		b.WriteString("the last\n")
	}
	for i := range targets {
		b.WriteString(line(&targets[i]) + "\n")
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %s\n", err)
	}
	return b.String()
}

// RunCases runs the cases in testdata. report returns what is reported for all files of a case but the last, which has what is
// expected; update accepts what is reported.
func RunCases(t *testing.T, update bool, report func(t *testing.T, files []txtar.File) string) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		last := &a.Files[len(a.Files)-1]
		got := report(t, a.Files[:len(a.Files)-1])
		if update {
			last.Data = []byte(got)
			cases.Write(t, file, a)
		}
		if diff := cmp.Diff(string(last.Data), got); diff != "" {
			t.Error(diff)
		}
	})
}

// Context returns the context path that a registration shows, as it stands at the end of a line of a case; "" if there is none.
func Context(t *discovery.Target) string {
	if t.ContextPath == "" {
		return ""
	}
	return fmt.Sprintf(" context %q", t.ContextPath)
}
