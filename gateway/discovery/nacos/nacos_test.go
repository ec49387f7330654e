package nacos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "accept what is read as the cases' services")

// settings reads the configuration of a provider, with further keys.
func settings(t *testing.T, more string) *config.NacosDiscovery {
	t.Helper()
	return registrytest.Settings(t, "nacos: {address: 'http://127.0.0.1:8848/nacos'"+more+"}").Nacos
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	return registrytest.Report(targets, err, func(t *discovery.Target) string {
		labels, _ := json.Marshal(t.Labels) // sorted
		return fmt.Sprintf("%q in %q %s %q %q %q %s", t.Name, t.Namespace, t.Scheme, t.Instances, t.BasePath, t.Document, labels) + registrytest.Context(t)
	})
}

// TestCases reads the conversations in testdata, whose files are named after the requests; the last is what is expected.
func TestCases(t *testing.T) {
	registrytest.RunCases(t, *update, func(t *testing.T, files []txtar.File) string {
		return services(New(settings(t, ""), registrytest.Conversation(files)).next(t.Context()))
	})
}

// registry is a server of version 3 with services of one instance each.
type registry struct {
	names  []string
	token  string // that it accepts; "" if it has no authentication
	status int    // of all answers; 0 for 200
	logins int
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case r.status != 0:
		w.WriteHeader(r.status)
	case req.URL.Path == "/nacos/v3/auth/user/login":
		r.logins++
		if req.FormValue("username") != "gateway" || req.FormValue("password") != "s3cret" || req.URL.RawQuery != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"accessToken": %q, "tokenTtl": 18000, "globalAdmin": true}`, r.token)
	case r.token != "" && req.Header.Get("Authorization") != "Bearer "+r.token:
		w.WriteHeader(http.StatusForbidden)
	case req.URL.Path == "/nacos/v3/admin/ns/service/list":
		var page int
		_, _ = fmt.Sscan(req.FormValue("pageNo"), &page) // the provider's own
		from := min((page-1)*pageSize, len(r.names))
		items := []string{}
		for _, name := range r.names[from:min(from+pageSize, len(r.names))] {
			items = append(items, fmt.Sprintf(`{"serviceName": %q, "groupName": "DEFAULT_GROUP", "clusterMap": {"c": {"hosts": [{"ip": "10.0.0.1", "port": 80, "weight": 1, "healthy": true, "enabled": true}]}}}`, name))
		}
		fmt.Fprintf(w, `{"code": 0, "data": {"totalCount": %d, "pageItems": [%s]}}`, len(r.names), strings.Join(items, ","))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func names(targets []discovery.Target) string {
	all := []string{}
	for i := range targets {
		all = append(all, targets[i].Name)
	}
	return strings.Join(all, " ")
}

// The user's token is fetched once, and again when it is refused. Without a right nothing is asked again and again.
func TestAccount(t *testing.T) {
	r := &registry{names: []string{"orders"}}
	p := New(settings(t, ", username: gateway, password: '${PASSWORD}'"), registrytest.Server{Handler: r})
	for _, token := range []string{"one", "one", "two"} {
		r.token = token
		if targets, err := p.next(t.Context()); err != nil || names(targets) != "orders" {
			t.Fatal(targets, err)
		}
	}
	if r.logins != 2 {
		t.Errorf("%d logins", r.logins)
	}
	want := "the last\nerror: http://127.0.0.1:8848/nacos/v3/admin/ns/service/list: expected status 200, got 403: the account has no right to read services, or its token is not valid\n"
	if got := services(New(settings(t, ""), registrytest.Server{Handler: r}).next(t.Context())); got != want {
		t.Error(got)
	}
	r.logins, r.status = 0, http.StatusForbidden
	if got := services(p.next(t.Context())); strings.Contains(got, "s3cret") || !strings.Contains(got, "login: expected status 200, got 403") {
		t.Error(got)
	}
}

// An answer that is not that of a healthy server leaves the last services in use.
func TestFaults(t *testing.T) {
	const at = "http://127.0.0.1:8848/nacos/v3/admin/ns/service/list: "
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) } // a recorder
	}
	for _, c := range []struct {
		name, want string
		respond    http.HandlerFunc
	}{
		{"down", at + "connection refused", nil},
		{"a failure", at + "expected status 200, got 500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
		{"a redirect", at + "expected status 200, got 302", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }},
		{"another server", "http://127.0.0.1:8848/nacos/v1/ns/service/list: expected status 200, got 404; the address ends in the context path of the server, /nacos by default",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }},
		{"garbage", at + "the answer is not JSON: invalid character '\\x00' looking for beginning of value", answer("\x00\xff\x1b")},
		{"an error", at + "expected code 0, got 30000", answer(`{"code": 30000, "message": "server error", "data": null}`)},
		{"another answer", at + "the answer has no pageItems; is it Nacos?", answer(`{"data": {"totalCount": 1}}`)},
		{"too much", at + "the answer has more than 33554432 bytes", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte(" "), maxSize+1)) // a recorder
		}},
	} {
		var s registrytest.Server
		if c.respond != nil {
			s.Handler = c.respond
		}
		if got := services(New(settings(t, ""), s).next(t.Context())); got != "the last\nerror: "+c.want+"\n" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Of a hundred thousand services as many are read as a provider may have, and the rest is told.
func TestHundredThousand(t *testing.T) {
	r := &registry{}
	for i := range 100_000 {
		r.names = append(r.names, fmt.Sprint("s", i))
	}
	targets, err := New(settings(t, ""), registrytest.Server{Handler: r}).next(t.Context())
	if want := `the group "DEFAULT_GROUP" has 90000 services more than the 10000 that are read in all`; len(targets) != maxServices || fmt.Sprint(err) != want {
		t.Errorf("%d services, %v", len(targets), err)
	}
}

// A server of version 1 that lists all of them on each page is asked for the instances of as many as a provider may have.
func TestEndlessPage(t *testing.T) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprint("s", i)
	}
	page, err := json.Marshal(map[string]any{"count": len(names), "doms": names})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	targets, err := New(settings(t, ""), registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/nacos/v1/ns/service/list":
			_, _ = w.Write(page) // a recorder
		case "/nacos/v1/ns/instance/list":
			asked.Add(1)
			fmt.Fprint(w, `{"hosts": [{"ip": "10.0.0.1", "port": 80, "weight": 1, "healthy": true, "enabled": true}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})}).next(t.Context())
	if len(targets) != maxServices || asked.Load() != maxServices || err == nil {
		t.Errorf("%d services, %d requests, %v", len(targets), asked.Load(), err)
	}
}

// A server that comes back empty is given time until its services have registered again; those that are really gone go then.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{names: []string{"orders", "stock"}}
		p := New(settings(t, ""), registrytest.Server{Handler: r})
		expect := func(when, want string) {
			t.Helper()
			if targets, _ := p.next(t.Context()); names(targets) != want {
				t.Errorf("%s: %q", when, names(targets))
			}
		}
		expect("at first", "orders stock")
		r.status = http.StatusBadGateway
		expect("away", "")
		r.status, r.names = 0, []string{"stock"}
		expect("back", "stock orders")
		time.Sleep(settling / 2)
		expect("soon after", "stock orders")
		time.Sleep(settling)
		expect("later", "stock")
		r.names = nil
		expect("empty without an outage", "stock")
		time.Sleep(settling)
		expect("in the end", "")
		r.names = []string{"orders"}
		expect("again", "orders")
		r.names = []string{"stock"}
		expect("replaced", "stock")
	})
}

// Another version of the server is noticed.
func TestUpgrade(t *testing.T) {
	r := &registry{names: []string{"orders"}}
	p := New(settings(t, ""), registrytest.Server{Handler: r})
	p.api = 1
	if _, err := p.next(t.Context()); !errors.Is(err, errNotFound) {
		t.Error(err)
	}
	if targets, err := p.next(t.Context()); err != nil || names(targets) != "orders" {
		t.Error(targets, err)
	}
}

// TestEnds holds that the provider ends with its context.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(settings(t, ""), registrytest.Server{Handler: &registry{}}).Run(ctx, func([]discovery.Target, error) { reports++ })
		}()
		time.Sleep(time.Minute)
		cancel()
		<-done
		if reports < 4 {
			t.Errorf("%d reports in a minute", reports)
		}
	})
}

// A server whose list has no end is asked a bounded number of times.
func TestEndless(t *testing.T) {
	asked := 0
	s := registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, `{"code": 0, "data": {"totalCount": 9007199254740993, "pageItems": [{"serviceName": "x", "groupName": "OTHER"}]}}`)
	})}
	targets, err := New(settings(t, ""), s).next(t.Context())
	if targets != nil || err == nil || !strings.Contains(err.Error(), "has more than 1000 pages") || asked > 2000 {
		t.Errorf("%d requests, %d services, %v", asked, len(targets), err)
	}
}

// What the server may answer in one reading is used up by all of its answers, not by each.
func TestReading(t *testing.T) {
	p := New(settings(t, ""), registrytest.Server{Handler: &registry{names: []string{"a"}}})
	if _, err := p.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.budget = discovery.NewBudget(100)
	if _, _, err := p.services(t.Context(), "DEFAULT_GROUP", maxServices); err == nil || !strings.Contains(err.Error(), "more than 100 bytes together") {
		t.Error(err)
	}
}
