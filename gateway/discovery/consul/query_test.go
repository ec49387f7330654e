package consul

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
	"drawbridge/test/registrytest"
)

// onlyOrders has no path but those of the catalog and of the service orders.
type onlyOrders struct{ next http.Handler }

func (o onlyOrders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/catalog/services" && r.URL.Path != "/v1/health/service/orders" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	o.next.ServeHTTP(w, r)
}

// TestCases reads the answers in testdata: a case has the instances of the service orders, and what they are read as.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		d := settings(t)
		var got, want string
		for _, f := range a.Files {
			switch f.Name {
			case "tags":
				d.Tags = strings.Fields(string(f.Data))
			case "meta":
				if err := json.Unmarshal(f.Data, &d.Meta); err != nil {
					t.Fatal(err)
				}
			case "instances.json":
				answer := func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("X-Consul-Index", "7")
					_, _ = w.Write(f.Data) // a recorder
				}
				got += service(New(d, direct{http.HandlerFunc(answer)}).ask(t.Context(), &watch{name: "orders"}, 0, 0))
			case "service":
				want = string(f.Data)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// service is an answer as text.
func service(r result) string {
	var b strings.Builder
	if t := r.target; t != nil {
		fmt.Fprintf(&b, "%s/%s %s %s %q %q %q %v%s\n", t.Namespace, t.Name, t.Scheme, t.Instances, t.BasePath, t.Document, t.Tags, t.Labels, registrytest.Context(t))
	}
	for _, err := range []error{r.problem, r.err} {
		if err != nil {
			fmt.Fprintf(&b, "error: %s\n", err)
		}
	}
	return b.String()
}

// An answer that is not that of a healthy Consul is an error that says what was expected and does not have the token.
func TestAnswers(t *testing.T) {
	d := settings(t)
	d.Datacenter, d.Namespace, d.Partition = "dc1", "shop", "eu"
	var respond http.HandlerFunc
	p := New(d, direct{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-Consul-Token"); got != "s3cret" {
			t.Errorf("X-Consul-Token: %q", got)
		}
		if got := r.URL.RequestURI(); got != "/v1/catalog/services?dc=dc1&index=4&ns=shop&partition=eu&stale=&wait=300000ms" {
			t.Error(got)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Consul-Index", "7")
		respond(w, r)
	})})
	const at = "http://127.0.0.1:8500/v1/catalog/services: "
	for _, c := range []struct {
		name, want string
		respond    http.HandlerFunc
	}{
		{"no rights", at + "expected status 200, got 403; the ACL token needs service:read and node:read", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }},
		{"too many", at + "expected status 200, got 429; limits.http_max_conns_per_client of the agent counts queries that wait",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }},
		{"a redirect", at + "expected status 200, got 301", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(301) }},
		{"a page", at + `expected application/json, got "text/html"`, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }},
		{"no index", at + `expected a number as X-Consul-Index, got "-1"; is it Consul?`, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Consul-Index", "-1") }},
		{"no leader", at + "the servers have no leader, so that what they know may be old",
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Consul-KnownLeader", "false") }},
		{"a list", at + "byte 1: expected map[string][]string, got a JSON array", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") }},
		{"another type", at + "byte 13: expected string, got a JSON number", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"orders": [1]}`) }},
		{"half", at + "the answer is not JSON: unexpected end of JSON input", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"orders": [`) }},
		{"null", "the catalog is null", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "null") }},
		{"too much", at + "the answer has more than 16777216 bytes", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte(" "), maxSize+1)) // a recorder
		}},
		{"nothing", "<nil>", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }},
	} {
		respond = c.respond
		r := p.ask(t.Context(), &watch{}, 4, 5*60e9)
		if got := fmt.Sprint(r.err); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// A panic in a query is the error of that query.
func TestPanic(t *testing.T) {
	r := New(settings(t), nil).ask(t.Context(), &watch{name: "orders"}, 0, 0)
	if r.err == nil || !strings.HasPrefix(r.err.Error(), "panic: ") || r.w == nil {
		t.Error(r.err)
	}
}

// A query over a network ends with its context, and leaves no connection.
func TestNetwork(t *testing.T) {
	a := newAgent()
	a.set("orders", instance("o1", "10.0.0.1", 80))
	s := httptest.NewServer(a)
	defer s.Close()
	d := settings(t)
	var err error
	if d.Address, err = config.ParseURL(s.URL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	moved := false
	New(d, s.Client()).Run(ctx, func(targets []discovery.Target, err error) {
		switch got := report(targets, err); {
		case got == "orders[10.0.0.1:80]" && !moved:
			moved = true
			a.set("orders", instance("o1", "10.0.0.2", 80))
		case got == "orders[10.0.0.2:80]":
			cancel()
		}
	})
}

func FuzzInstances(f *testing.F) {
	f.Add([]byte(`[{"Node": {"Address": "10.0.0.1"}, "Service": {"ID": "a", "Port": 80, "Meta": {"scheme": "https"}}, "Checks": [{"Status": "passing"}]}]`))
	f.Add([]byte(`[{"Service": {"Address": "a b", "Port": -1}}, {"Service": {"Address": "::1", "Port": 70000}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var entries []entry
		if json.Unmarshal(text, &entries) != nil {
			return
		}
		target, _ := New(&config.ConsulDiscovery{}, nil).target("orders", entries)
		if target == nil {
			return
		}
		for _, at := range target.Instances {
			if _, port, err := net.SplitHostPort(at); err != nil || port == "" || len(target.Instances) > len(entries) {
				t.Errorf("instance %q: %v", at, err)
			}
		}
	})
}
