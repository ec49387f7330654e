package httpsd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/targetgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load makes the configuration of a provider.
func load(t *testing.T, url string) *config.HTTPDiscovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	text := fmt.Sprintf("discovery: [{name: p, http: {url: %q, token: '${TOKEN}'}}]\n", url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "s3cret" })
	if c == nil {
		t.Fatal(problems)
	}
	return c.Discovery[0].HTTP
}

// Each answer is services, the last ones, or an error that says what was expected and does not have the token.
func TestAnswers(t *testing.T) {
	const list = `[{"targets": ["10.0.0.1:80"], "labels": {"job": "a"}}]`
	var respond http.HandlerFunc
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("Authorization: %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		respond(w, r)
	}))
	defer s.Close()
	p := New(load(t, s.URL), s.Client())
	for _, c := range []struct {
		name    string
		respond http.HandlerFunc
		want    string
	}{
		{"a list", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"1"`); fmt.Fprint(w, list) }, "a <nil>"},
		{"not modified", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
			}
		}, "a <nil>"},
		{"a failure", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, " " + s.URL + ": expected status 200, got 503"},
		{"another type", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }, ` ` + s.URL + `: expected application/json, got "text/html"`},
		{"too much", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte(" "), targetgroup.MaxSize+1))
		}, " " + s.URL + ": the list has more than 16777216 bytes"},
		{"partly wrong", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"targets": []},`+list[1:]) },
			"a " + s.URL + ": group 1 has neither the label service nor the label job; one must name the service"},
	} {
		respond = c.respond
		targets, err := p.ask(t.Context())
		var names []string
		for i := range targets {
			names = append(names, targets[i].Name)
		}
		if got := strings.Join(names, ",") + fmt.Sprintf(" %v", err); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Run asks at once, and ends with its context.
func TestRun(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "[]")
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	New(load(t, s.URL), s.Client()).Run(ctx, func(targets []discovery.Target, err error) {
		if targets == nil || err != nil {
			t.Error(targets, err)
		}
		cancel()
	})
}
