package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var usual = Breaker{Failures: 50, Calls: 20, Window: 10 * time.Second, Pause: 5 * time.Second, Probes: 3}

// TestBreaker is L6: what opens it, what does not, and how it closes again. A
// line is what happens: "w" a call that goes well, "f" one that fails, "s" one
// that says nothing, "-" a second that passes, "(" and ")" a call that begins and
// ends well later, "x" one that must be refused.
func TestBreaker(t *testing.T) {
	for _, c := range []struct {
		name, events, want string
	}{
		{"half of twenty", strings.Repeat("wf", 10) + "x", "open"},
		{"all, but too few", strings.Repeat("f", 19), "closed"},
		{"less than half", strings.Repeat("wwf", 20), "closed"},
		{"what says nothing is no call", strings.Repeat("s", 40) + strings.Repeat("f", 19), "closed"},
		{"spread over more than the window", strings.Repeat("f-", 60), "closed"},
		{"within the window", strings.Repeat("fff-", 6) + strings.Repeat("f", 2), "open"},
		{"failures leave the window", strings.Repeat("f", 10) + strings.Repeat("-", 11) + strings.Repeat("w", 10) + strings.Repeat("f", 9), "closed"},
		{"and do not count any more", strings.Repeat("f", 10) + strings.Repeat("-", 11) + strings.Repeat("w", 15) + strings.Repeat("f", 8), "closed"},
		{"they leave it part by part", strings.Repeat("f", 10) + "---w---w---w--" + strings.Repeat("w", 13) + strings.Repeat("f", 8), "closed"},
		{"and not before", strings.Repeat("f", 10) + "---w---w---" + strings.Repeat("f", 8) + "x", "open"},
		{"they leave it once", strings.Repeat("f", 10) + strings.Repeat("-", 11) + "w" + strings.Repeat("-", 11) + strings.Repeat("f", 20) + "x", "open"},
		{"the pause", strings.Repeat("f", 20) + "x----x", "open"},
		{"the pause is over", strings.Repeat("f", 20) + "-----", "half_open"},
		{"three probes", strings.Repeat("f", 20) + "-----www", "closed"},
		{"no more than three", strings.Repeat("f", 20) + "-----(((x", "half_open"},
		{"two and a failure", strings.Repeat("f", 20) + "-----wwfx", "open"},
		{"a probe whose caller went away is none", strings.Repeat("f", 20) + "-----sssswww", "closed"},
		{"probes that hang are given up", strings.Repeat("f", 20) + "-----(((x-----www", "closed"},
		{"as many take their place", strings.Repeat("f", 20) + "-----(((x-----(((x", "half_open"},
		{"a probe that fails begins a pause", strings.Repeat("f", 20) + "-----w--f----x", "open"},
		{"and say nothing any more", strings.Repeat("f", 20) + "-----(((-----w)))", "half_open"},
		{"what began before the pause says nothing after it", "(((" + strings.Repeat("f", 20) + "-----)))", "half_open"},
		{"nor among the probes", "(((" + strings.Repeat("f", 20) + "-----w)))", "half_open"},
		{"what opened it does not leave twice", strings.Repeat("f", 20) + "-----www" + strings.Repeat("-", 11) + strings.Repeat("f", 20) + "x", "open"},
		{"it begins anew", strings.Repeat("f", 20) + "-----www" + strings.Repeat("f", 19), "closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var changes []string
				b := newBreaker(usual, func(from, to State) { changes = append(changes, from.String()+"→"+to.String()) })
				var open []uint32
				for i, event := range c.events {
					if event == '-' {
						time.Sleep(time.Second)
						continue
					}
					if event == ')' {
						b.report(open[0], success)
						open = open[1:]
						continue
					}
					_, asked := b.check()
					generation, wait, ok := b.allow()
					if ok != (event != 'x') || ok != asked || ok == (wait > 0) {
						t.Fatalf("event %d, %c: allowed %t, asked %t, wait %s", i, event, ok, asked, wait)
					}
					switch event {
					case 'w':
						b.report(generation, success)
					case 'f':
						b.report(generation, failure)
					case 's':
						b.report(generation, unknown)
					case '(':
						open = append(open, generation)
					}
				}
				if got := b.currentState().String(); got != c.want {
					t.Errorf("it is %s, want %s; %v", got, c.want, changes)
				}
			})
		})
	}
}

// TestBreakerOfAllErrors: who wants so has every 5xx count.
func TestBreakerOfAllErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual
		o.AllErrors = true
		client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Breaker: o,
			Wrap: service(func(*http.Request) (*http.Response, error) { return reply(500), nil })})
		defer client.Close()
		for range 20 {
			outcome(client, get(t, parse(t, "http://orders.internal/")))
		}
		if got := client.State(); got != Open {
			t.Errorf("after 20 answers of 500 the breaker is %s", got)
		}
	})
}

// TestBreakerOfClient: which outcomes count, and what a call reads that is not sent.
func TestBreakerOfClient(t *testing.T) {
	fail := func(k Kind) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			return nil, &Error{Kind: k, API: "orders", Err: errors.New("x")}
		}
	}
	status := func(code int) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return reply(code), nil }
	}
	broken := func(*http.Request) (*http.Response, error) {
		resp := reply(200)
		resp.Body = brokenBody{}
		return resp, nil
	}
	for _, c := range []struct {
		name  string
		serve func(*http.Request) (*http.Response, error)
		opens bool
	}{
		{"200", status(200), false},
		{"404", status(404), false},
		{"429", status(429), false},
		{"500", status(500), false}, // which one caller's arguments may be the cause of
		{"501", status(501), false},
		{"502", status(502), true},
		{"504", status(504), true},
		{"520", status(520), true}, // of a proxy that found nobody
		{"503", status(503), true},
		{"timeout", fail(Timeout), true},
		{"connect", fail(Connect), true},
		{"truncated", fail(Truncated), true},
		{"truncated body", broken, true},
		{"canceled", fail(Canceled), false},
		{"tls", fail(TLS), false},
		{"refused", fail(Refused), false},
		{"protocol", fail(Protocol), false},
		{"credential", func(*http.Request) (*http.Response, error) { return nil, errors.New("no token") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hits := 0
				var changes []string
				client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Breaker: usual,
					Bulkhead:      Bulkhead{InFlight: 1}, // so that who is refused takes no place
					OnStateChange: func(host string, from, to State) { changes = append(changes, fmt.Sprint(host, ": ", from, " to ", to)) },
					Wrap: service(func(r *http.Request) (*http.Response, error) {
						hits++
						return c.serve(r)
					})})
				defer client.Close()
				for range 40 {
					outcome(client, get(t, parse(t, "http://orders.internal/")))
				}
				want, state := 40, Closed
				if c.opens {
					want, state = 20, Open
				}
				if hits != want || client.State() != state {
					t.Errorf("%d calls were sent, the breaker is %s", hits, client.State())
				}
				// Another host of the same API is not shut out.
				if outcome(client, get(t, parse(t, "http://orders-eu.internal/"))); hits != want+1 {
					t.Error("a call to another host was not sent")
				}
				if !c.opens {
					return
				}
				time.Sleep(3 * time.Second)
				message := "open\n" + `The service "orders" has failed too often just now, so the gateway gives it a pause. Nothing was sent to it. Try again in 2 seconds. If that does not help, tell the user that the service is down.` + "\n"
				if diff := cmp.Diff(message, outcome(client, get(t, parse(t, "http://orders.internal/")))); diff != "" {
					t.Error(diff)
				}
				c.serve = status(200)
				time.Sleep(2 * time.Second)
				for range 3 {
					if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); got != "200 \"ok\"\n" {
						t.Error(got)
					}
				}
				told := []string{"orders.internal: closed to open", "orders.internal: open to half_open", "orders.internal: half_open to closed"}
				if diff := cmp.Diff(told, changes); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("broken") }
func (brokenBody) Close() error             { return nil }

// TestStreamIsNoFailure: a stream of events that goes on until the call's time is
// up has not failed, and does not hold a probe.
func TestStreamIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Breaker: usual, Timeout: time.Second,
			Wrap: service(func(r *http.Request) (*http.Response, error) {
				resp := reply(200, "Content-Type", "text/event-stream; charset=utf-8")
				resp.Body, resp.ContentLength = endless{r}, -1
				return resp, nil
			})})
		defer client.Close()
		for range 40 {
			req := get(t, parse(t, "http://orders.internal/")).WithContext(t.Context())
			if got := outcome(client, req); !strings.HasPrefix(got, "timeout") {
				t.Fatal(got)
			}
		}
		if client.State() != Closed {
			t.Error("the breaker is ", client.State())
		}
	})
}

type endless struct{ r *http.Request }

func (e endless) Read([]byte) (int, error) {
	<-e.r.Context().Done()
	return 0, e.r.Context().Err()
}
func (e endless) Close() error { return nil }

// TestManyHosts: a document with thousands of servers costs no more memory than one with a few.
func TestManyHosts(t *testing.T) {
	h := newHealth(usual, "a.internal", nil)
	for n := range 10000 {
		h.forHost(fmt.Sprintf("%d.internal", n))
	}
	if len(h.others) > maxHosts+1 || h.worst() != Closed {
		t.Errorf("%d breakers, %s", len(h.others), h.worst())
	}
	if h.forHost("7.internal") == h.forHost("8.internal") || h.forHost("5000.internal") != h.forHost("6000.internal") {
		t.Error("the first hosts have one each, the rest share one")
	}
}

// TestClockIsSetBack: the window is empty then, and fills again.
func TestClockIsSetBack(t *testing.T) {
	b := newBreaker(usual, nil)
	for range 19 {
		b.report(b.generation, failure)
	}
	if b.advance(time.Now().Add(-time.Hour)); b.all != 0 || b.failed != 0 {
		t.Errorf("%d calls, %d failed", b.all, b.failed)
	}
}

// TestVerdictOfHead: what the head of an answer says of the service, and what only the end of its body does.
func TestVerdictOfHead(t *testing.T) {
	for _, c := range []struct {
		code    int
		media   string
		all     bool
		verdict healthOutcome
		certain bool
	}{
		{200, "application/json", false, unknown, false},
		{399, "", false, unknown, false},
		{400, "", false, success, true},
		{499, "", true, success, true},
		{500, "", false, success, true},
		{501, "", false, success, true},
		{500, "", true, failure, true},
		{501, "", true, failure, true},
		{502, "", false, failure, true},
		{200, "Text/Event-Stream; charset=utf-8", false, success, true},
		{200, "application/x-ndjson", true, success, true},
	} {
		verdict, certain := outcomeOfResponse(reply(c.code, "Content-Type", c.media), c.all)
		if verdict != c.verdict || certain != c.certain {
			t.Errorf("%+v: %d, %t", c, verdict, certain)
		}
	}
}

// TestProbeThatSaysNothing: a probe that ends before it could tell anything leaves its place to the next call at once.
func TestProbeThatSaysNothing(t *testing.T) {
	for name, silent := range map[string]func(*http.Request) (*http.Response, error){
		"the credential fails": func(*http.Request) (*http.Response, error) { return nil, errors.New("no token") },
		"a head of too many lines": func(*http.Request) (*http.Response, error) {
			resp := reply(200)
			resp.Header["X"] = make([]string, maxHeaderLines+1)
			return resp, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := usual
			o.Probes = 1
			serve := func(*http.Request) (*http.Response, error) { return reply(503), nil }
			client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"), Breaker: o,
				Wrap: service(func(r *http.Request) (*http.Response, error) { return serve(r) })})
			defer client.Close()
			for range 20 {
				outcome(client, get(t, parse(t, "http://orders.internal/")))
			}
			time.Sleep(o.Pause)
			serve = silent
			outcome(client, get(t, parse(t, "http://orders.internal/")))
			serve = func(*http.Request) (*http.Response, error) { return reply(200), nil }
			if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); got != "200 \"ok\"\n" || client.State() != Closed {
				t.Errorf("%s: then the next call gets %s", name, got)
			}
		})
	}
}

// TestWorstHost: where one host is left alone, the API is not well, whichever it is.
func TestWorstHost(t *testing.T) {
	if newHealth(Breaker{}, "", nil) != nil {
		t.Error("there is a breaker that nobody asked for")
	}
	h := newHealth(usual, "a.internal", nil)
	for range 20 {
		h.forHost("b.internal").report(0, failure)
	}
	if h.forHost("a.internal").currentState() != Closed || h.worst() != Open {
		t.Errorf("it is %s", h.worst())
	}
}
