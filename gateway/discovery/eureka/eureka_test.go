package eureka

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

// answer is a server with one answer.
func answer(text string) registrytest.Server {
	return registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
	})}
}

// settings reads the configuration of a provider.
func settings(t *testing.T) *config.EurekaDiscovery {
	t.Helper()
	return registrytest.Settings(t, "eureka: {url: 'http://127.0.0.1:8761/eureka', username: gateway, password: '${PASSWORD}'}").Eureka
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	return registrytest.Report(targets, err, func(t *discovery.Target) string {
		return fmt.Sprintf("%q %s %q %q %q %v", t.Name, t.Scheme, t.Instances, t.BasePath, t.Document, t.Labels) + registrytest.Context(t)
	})
}

// TestCases reads the answers in testdata.
func TestCases(t *testing.T) {
	registrytest.RunCases(t, *update, func(t *testing.T, files []txtar.File) string {
		return services(New(settings(t), answer(string(files[0].Data))).next(t.Context()))
	})
}

// An answer that is not that of a healthy server leaves the last services in use. The error says what was expected, and does not
// have the password.
func TestFaults(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	text := func(text string) http.HandlerFunc { return answer(text).ServeHTTP }
	const at = "http://127.0.0.1:8761/eureka/apps: "
	for _, c := range []struct {
		name, want string
		respond    http.HandlerFunc
	}{
		{"down", at + "connection refused", nil},
		{"no rights", at + "expected status 200, got 401; username and password are those of the server", status(401)},
		{"a start", at + "expected status 200, got 403; the server has just started and waits for its peers, or the user has no right to read", status(403)},
		{"another path", at + "expected status 200, got 404; the URL ends in /eureka, unless the server has another context path", status(404)},
		{"a failure", at + "expected status 200, got 500", status(500)},
		{"a redirect", at + "expected status 200, got 302", status(302)},
		{"a page", at + `expected application/json, got "text/html"`, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }},
		{"garbage", at + "the answer is not JSON: invalid character '\\x00' looking for beginning of value", text("\x00\xff\x1b")},
		{"half", at + "the answer is not JSON: unexpected end of JSON input", text(`{"applications": {`)},
		{"a list", at + "byte 1: expected eureka.registry, got a JSON array", text(`[]`)},
		{"another answer", at + "the answer has no applications; is it Eureka?", text(`{"status": 200}`)},
		{"too much", at + "the answer has more than 33554432 bytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.Repeat([]byte(" "), maxSize+1)) // a recorder
		}},
	} {
		var s registrytest.Server
		if c.respond != nil {
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); user != "gateway" || password != "s3cret" {
					t.Errorf("%s: user %q, password %q", c.name, user, password)
				}
				c.respond(w, r)
			})
		}
		if got := services(New(settings(t), s).next(t.Context())); got != "the last\nerror: "+c.want+"\n" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// apps writes an answer with one instance for each of the names.
func apps(names ...string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":%q,"instance":[{"instanceId":"i","hostName":"10.0.0.1","status":"UP","port":{"$":80,"@enabled":"true"}}]}`, strings.ToUpper(name))
	}
	return `{"applications":{"application":[` + b.String() + `]}}`
}

// 100,000 services are handed over as they are: the limit of the provider, max_services, decides on them.
func TestMany(t *testing.T) {
	names := make([]string, race.Fewer(100_000, 1000))
	for i := range names {
		names[i] = fmt.Sprintf("s%d", i)
	}
	targets, err := New(settings(t), answer(apps(names...))).next(t.Context())
	if err != nil || len(targets) != len(names) {
		t.Error(len(targets), err)
	}
}

// A server that was restarted knows only the instances that have registered again. The services from before are kept for the
// time that a registration lasts, whether the restart was noticed or not; then those are gone that did not come back. Without
// an outage, a service that is gone is gone at once.
func TestRestart(t *testing.T) {
	for _, noticed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var now registrytest.Server
			p := New(settings(t), registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.ServeHTTP(w, r) })})
			ask := func() (names []string) {
				t.Helper()
				targets, err := p.next(t.Context())
				if err != nil {
					return []string{err.Error()}
				}
				for i := range targets {
					names = append(names, targets[i].Name)
				}
				return names
			}
			expect := func(want string) {
				t.Helper()
				if got := fmt.Sprint(ask()); got != want {
					t.Errorf("noticed %v: got %s, want %s", noticed, got, want)
				}
			}
			now = answer(apps("orders", "stock", "gone"))
			expect("[orders stock gone]")
			now = answer(apps("orders", "stock"))
			expect("[orders stock]")
			if noticed {
				now = registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })}
				expect("[http://127.0.0.1:8761/eureka/apps: expected status 200, got 503]")
			}
			now = answer(apps())
			expect("[orders stock]")
			time.Sleep(settling / 2)
			now = answer(apps("stock"))
			expect("[stock orders]")
			time.Sleep(settling/2 - time.Second)
			expect("[stock orders]")
			time.Sleep(2 * time.Second)
			expect("[stock]")
			now = answer(apps())
			expect("[stock]") // the last one may be a restart, too
			time.Sleep(settling)
			expect("[]")
		})
	}
}

// Run asks at once and then at the interval, sooner after a failure, and ends with its context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		asked := 0
		s := registrytest.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 2 {
				w.WriteHeader(500)
				return
			}
			answer(apps("orders")).ServeHTTP(w, r)
		})}
		ctx, cancel := context.WithCancel(t.Context())
		New(settings(t), s).Run(ctx, func(targets []discovery.Target, err error) {
			switch since := time.Since(start); asked {
			case 1:
				if len(targets) != 1 || err != nil || since != 0 {
					t.Error(targets, err, since)
				}
			case 2:
				if targets != nil || err == nil || since != 15*time.Second {
					t.Error(targets, err, since)
				}
			case 3:
				if len(targets) != 1 || since > 16*time.Second {
					t.Error(targets, err, since)
				}
				cancel()
			}
		})
	})
}
