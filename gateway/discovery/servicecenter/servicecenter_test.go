package servicecenter

import (
	"bytes"
	"context"
	"encoding/json"
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
func settings(t *testing.T, more string) *config.ServiceCenterDiscovery {
	t.Helper()
	return registrytest.Settings(t, "service_center: {address: 'http://127.0.0.1:30100'"+more+"}").ServiceCenter
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	return registrytest.Report(targets, err, func(t *discovery.Target) string {
		labels, _ := json.Marshal(t.Labels) // sorted
		return fmt.Sprintf("%q in %q %s %q %q, %d bytes, %s %q", t.Name, t.Namespace, t.Scheme, t.Instances, t.BasePath, len(t.Text), labels, t.Problem) + registrytest.Context(t)
	})
}

// TestCases reads the conversations in testdata.
func TestCases(t *testing.T) {
	registrytest.RunCases(t, *update, func(t *testing.T, files []txtar.File) string {
		return services(New(settings(t, ", application: shop"), registrytest.Conversation(files)).next(t.Context()))
	})
}

// registry is a service-center with one microservice, whose schema changes.
type registry struct {
	texts    map[string]string
	modified int
	token    string // that it accepts; "" if it has no access control
	status   int    // of all answers; 0 for 200
	forgets  bool   // the schemas and properties, as service-center 1.4 does
	removed  bool   // the microservice, after it was listed
	asked    map[string]int
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.asked == nil {
		r.asked = map[string]int{}
	}
	r.asked[req.Method+" "+req.URL.RequestURI()]++
	if r.status != 0 {
		w.WriteHeader(r.status)
		return
	}
	if req.URL.Path == "/v4/token" {
		var account struct{ Name, Password string }
		if err := json.NewDecoder(req.Body).Decode(&account); err != nil || account.Name != "gateway" || account.Password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"token": %q}`, r.token)
		return
	}
	if r.token != "" && req.Header.Get("Authorization") != "Bearer "+r.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case strings.HasSuffix(req.URL.Path, "/registry/microservices"):
		fmt.Fprintf(w, `{"services": [{"serviceId": "1", "appId": "shop", "serviceName": "orders", "modTimestamp": "%d"`, r.modified)
		if !r.forgets {
			fmt.Fprint(w, `, "schemas": ["order"], "properties": {"team": "checkout"}`)
		}
		fmt.Fprint(w, `}]}`)
	case strings.HasSuffix(req.URL.Path, "/instances"):
		if r.removed {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"instances": [{"endpoints": ["rest://10.0.0.1:8080"], "status": "UP"}]}`)
	case r.forgets:
		fmt.Fprint(w, `{}`)
	case strings.HasSuffix(req.URL.Path, "/schemas"):
		var all []string
		for id, text := range r.texts {
			shown := ""
			if req.URL.Query().Get("withSchema") == "1" {
				shown = text
			}
			all = append(all, fmt.Sprintf(`{"schemaId": %q, "summary": "%d", "schema": %q}`, id, len(text), shown))
		}
		fmt.Fprintf(w, `{"schemas": [%s]}`, strings.Join(all, ", "))
	}
}

// A schema that changes is read again: at once if the registry says that the microservice changed, else within a minute.
func TestSchemaChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}}
		p := New(settings(t, ""), registrytest.Server{Handler: r})
		text := func() string {
			t.Helper()
			targets, err := p.next(t.Context())
			if err != nil || len(targets) != 1 {
				t.Fatal(targets, err)
			}
			return string(targets[0].Text)
		}
		if got := text(); got != "swagger: '2.0'" {
			t.Errorf("at first: %s", got)
		}
		r.texts["order"], r.modified = "swagger: '2.0' # b", 1
		if got := text(); got != "swagger: '2.0' # b" {
			t.Errorf("modified: %s", got)
		}
		r.texts["order"] = "swagger: '2.0' # of the same microservice"
		if got := text(); got != "swagger: '2.0' # b" {
			t.Errorf("the summary was read too soon: %s", got)
		}
		time.Sleep(recheck)
		if got := text(); got != "swagger: '2.0' # of the same microservice" {
			t.Errorf("after %s: %s", recheck, got)
		}
		before := r.asked["GET /v4/default/registry/microservices/1/schemas?withSchema=1"]
		time.Sleep(recheck)
		_ = text()
		if after := r.asked["GET /v4/default/registry/microservices/1/schemas?withSchema=1"]; after != before {
			t.Error("schemas that have not changed were read")
		}
	})
}

// The account's token is fetched once, and again when it is refused.
func TestAccount(t *testing.T) {
	r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}, token: "one"}
	p := New(settings(t, ", username: gateway, password: '${PASSWORD}'"), registrytest.Server{Handler: r})
	for _, token := range []string{"one", "one", "two"} {
		r.token = token
		if targets, err := p.next(t.Context()); err != nil || len(targets) != 1 {
			t.Fatal(targets, err)
		}
	}
	if n := r.asked["POST /v4/token"]; n != 2 {
		t.Errorf("%d logins", n)
	}
	none := New(settings(t, ""), registrytest.Server{Handler: r})
	if got := services(none.next(t.Context())); !strings.Contains(got, "expected status 200, got 401; username and password") || strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

// An answer that is not that of a healthy registry leaves the last services in use.
func TestFaults(t *testing.T) {
	const at = "http://127.0.0.1:30100/v4/default/registry/microservices: "
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
		{"garbage", at + "the answer is not JSON: invalid character '\\x00' looking for beginning of value", answer("\x00\xff\x1b")},
		{"another answer", at + "the answer has no services; is it service-center?", answer(`{"status": 200}`)},
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

// TestSchemasAway: schemas that can't be read are reported with their microservice, and those that are known stay.
func TestSchemasAway(t *testing.T) {
	r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}}
	away := false
	p := New(settings(t, ""), registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if away && strings.HasSuffix(req.URL.Path, "/schemas") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		r.ServeHTTP(w, req)
	})})
	if _, err := p.next(t.Context()); err != nil {
		t.Fatal(err)
	}
	away, r.modified = true, 1
	targets, err := p.next(t.Context())
	if err == nil || len(targets) != 1 || len(targets[0].Text) == 0 || !strings.Contains(err.Error(), `the schemas of "orders"`) {
		t.Error(targets, err)
	}
}

// TestForgets: what the registry forgets of a microservice that was not modified is known further.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}}
		p := New(settings(t, ""), registrytest.Server{Handler: r})
		want := services(p.next(t.Context()))
		r.forgets = true
		if got := services(p.next(t.Context())); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
		time.Sleep(recheck)
		if got := services(p.next(t.Context())); got != want+"error: the schemas of \"orders\": expected 1, got none\n" {
			t.Errorf("after %s: %s", recheck, got)
		}
		r.forgets = false
		if got := services(p.next(t.Context())); got != want {
			t.Errorf("again: %s", got)
		}
	})
}

// TestRemoved: a microservice that is removed while the registry is read has no instances.
func TestRemoved(t *testing.T) {
	r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}, removed: true}
	if got := services(New(settings(t, ""), registrytest.Server{Handler: r}).next(t.Context())); !strings.Contains(got, "no instance that is UP") {
		t.Error(got)
	}
}

// TestInstancesAway: if the instances of a microservice can't be read, the last services stay.
func TestInstancesAway(t *testing.T) {
	r := &registry{texts: map[string]string{"order": "swagger: '2.0'"}}
	p := New(settings(t, ""), registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/instances") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		r.ServeHTTP(w, req)
	})})
	if got := services(p.next(t.Context())); !strings.HasPrefix(got, "the last\nerror: ") {
		t.Error(got)
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

// TestHostile: of more microservices than a provider may have, as many are read, ids that would be another path are not sent, and
// names stay as they are, which the manager refuses.
func TestHostile(t *testing.T) {
	var list strings.Builder
	list.WriteString(`{"services": [{"serviceId": "..", "serviceName": "climber"}, {"serviceId": "", "serviceName": "none"}, {"serviceId": "0", "serviceName": "a\u001b[2J"}`)
	for i := range 100_000 {
		fmt.Fprintf(&list, `, {"serviceId": "s%06d", "serviceName": "s%d"}`, i, i)
	}
	list.WriteString("]}")
	var asked atomic.Int64
	targets, err := New(settings(t, ""), registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/registry/microservices") {
			_, _ = w.Write([]byte(list.String())) // a recorder
			return
		}
		asked.Add(1)
		_, _ = w.Write([]byte(`{"schemas": []}`)) // a recorder
	})}).next(t.Context())
	if len(targets) != maxServices || asked.Load() != 2*maxServices || targets[0].Name != "a\x1b[2J" {
		t.Errorf("%d services, %d requests, %q", len(targets), asked.Load(), targets[0].Name)
	}
	if want := "the registry has 90001 microservices more than 10000; they are left out"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"1.10.0", "1.9.9", 1}, {"1.0", "1.0.0", -1}, {"2.0.0", "2.0.0", 0}, {"0.0.1", "1", -1}, {"v", "1", -1}} {
		if got := compareVersions(c.a, c.b); got < 0 != (c.want < 0) || got > 0 != (c.want > 0) {
			t.Errorf("%s, %s: %d", c.a, c.b, got)
		}
	}
}
