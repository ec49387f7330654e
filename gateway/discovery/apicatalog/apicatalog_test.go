package apicatalog

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
	"drawbridge/test/race"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "accept what is read as the cases' services")

// server answers requests in the process.
type server struct{ http.Handler }

// Do implements [discovery.Client].
func (s server) Do(req *http.Request) (*http.Response, error) {
	if s.Handler == nil {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result(), nil
}

// answer responds with a link set.
func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`)
		fmt.Fprint(w, text)
	}
}

// settings reads the configuration of a provider.
func settings(t *testing.T, url string) *config.APICatalogDiscovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, "discovery: [{name: p, api_catalog: {url: %q}}]\n", url), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c.Discovery[0].APICatalog
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	var b strings.Builder
	if targets == nil {
		b.WriteString("the last\n")
	}
	for i := range targets {
		t := &targets[i]
		fmt.Fprintf(&b, "%q of %q: %s %q %q %q\n", t.Name, t.Namespace, t.Scheme, t.Instances, t.BasePath, t.Document)
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %s\n", err)
	}
	return b.String()
}

// TestCases reads the catalogs in testdata.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		got := services(New(settings(t, "https://catalog.example.com"), server{answer(string(a.Files[0].Data))}).ask(t.Context()))
		if *update {
			a.Files[1].Data = []byte(got)
			cases.Write(t, file, a)
		}
		if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
			t.Error(diff)
		}
	})
}

// An answer that is no catalog leaves the last services in use, with an error that says what was expected.
func TestFaults(t *testing.T) {
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	const at = "https://catalog.example.com/.well-known/api-catalog: "
	for _, c := range []struct {
		name, want string
		respond    http.Handler
	}{
		{"down", at + "connection refused", nil},
		{"a failure", at + "expected status 200, got 500", status(500)},
		{"a redirect", at + "expected status 200, got 301", status(301)},
		{"not modified", at + "expected status 200, got 304", status(304)},
		{"a page", at + `expected application/linkset+json, got "text/html"`, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") })},
		{"garbage", at + "the answer is not JSON: invalid character '\\x00' looking for beginning of value", answer("\x00\xff")},
		{"another answer", at + "the answer has no linkset; is it an API catalog (RFC 9727)?", answer(`{"apis": []}`)},
		{"another type", at + "byte 13: expected []discovery.LinkContext, got a JSON string", answer(`{"linkset":""}`)},
		{"too much", at + "the answer has more than 16777216 bytes", answer(string(bytes.Repeat([]byte(" "), maxSize+1)))},
	} {
		if got := services(New(settings(t, "https://catalog.example.com/"), server{c.respond}).ask(t.Context())); got != "the last\nerror: "+c.want+"\n" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// 100,000 APIs are handed over as they are: the limit of the provider, max_services, decides on them.
func TestMany(t *testing.T) {
	all := race.Fewer(100_000, 1000)
	var b strings.Builder
	b.WriteString(`{"linkset":[`)
	for i := range all {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"anchor":"https://a.example.com/%d","service-desc":[{"href":"/%[1]d.json"}]}`, i)
	}
	b.WriteString("]}")
	if targets, err := New(settings(t, "https://catalog.example.com"), server{answer(b.String())}).ask(t.Context()); err != nil || len(targets) != all {
		t.Error(len(targets), err)
	}
}

// Run asks for the URL of the configuration, with the entity tag of the last answer, and ends with its context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := server{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.URL.String() != "https://catalog.example.com/apis.json" || !strings.HasPrefix(r.Header.Get("Accept"), "application/linkset+json") {
				t.Error(r.URL, r.Header)
			}
			if asked == 2 && r.Header.Get("If-None-Match") == `"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("ETag", `"1"`)
			answer(`{"linkset": [{"anchor": "https://a.example.com/", "service-desc": [{"href": "/a.json"}]}, {"anchor": "ftp://b", "service-desc": [{"href": "/"}]}]}`)(w, r)
		})}
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		New(settings(t, "https://catalog.example.com/apis.json"), s).Run(ctx, func(targets []discovery.Target, err error) {
			if len(targets) != 1 || err == nil {
				t.Error(targets, err)
			}
			if asked == 2 {
				if time.Since(start) != time.Minute {
					t.Error(time.Since(start))
				}
				cancel()
			}
		})
	})
}
