package apicatalog

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/race"
	"drawbridge/test/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "accept what is read as the cases' services")

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
	return registrytest.Settings(t, fmt.Sprintf("api_catalog: {url: %q}", url)).APICatalog
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	return registrytest.Report(targets, err, func(t *discovery.Target) string {
		return fmt.Sprintf("%q of %q: %s %q %q %q", t.Name, t.Namespace, t.Scheme, t.Instances, t.BasePath, t.Document)
	})
}

// TestCases reads the catalogs in testdata.
func TestCases(t *testing.T) {
	registrytest.RunCases(t, *update, func(t *testing.T, files []txtar.File) string {
		return services(New(settings(t, "https://catalog.example.com"), registrytest.Server{Handler: answer(string(files[0].Data))}).ask(t.Context()))
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
		if got := services(New(settings(t, "https://catalog.example.com/"), registrytest.Server{Handler: c.respond}).ask(t.Context())); got != "the last\nerror: "+c.want+"\n" {
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
	if targets, err := New(settings(t, "https://catalog.example.com"), registrytest.Server{Handler: answer(b.String())}).ask(t.Context()); err != nil || len(targets) != all {
		t.Error(len(targets), err)
	}
}

// Run asks for the URL of the configuration, with the entity tag of the last answer, and ends with its context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
