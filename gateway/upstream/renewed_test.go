package upstream

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// renewed is an answer to a request that was made again with a new token, after a 401.
func renewed(status int) *http.Response {
	resp := reply(status)
	resp.Request = &http.Request{Response: reply(http.StatusUnauthorized)}
	return resp
}

// TestRenewed: a request that the credential has made again counts as two, however it ends, and who is told of it hears
// that the service saw the first.
func TestRenewed(t *testing.T) {
	connect := func(renewed bool) *Error {
		return &Error{Kind: Connect, API: "orders", Err: io.EOF, reauthenticated: renewed}
	}
	for _, c := range []struct {
		name     string
		attempts []func(cancel func()) (*http.Response, error)
		requests int
		refused  bool // the message tells of the first
	}{
		{"once", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return reply(200), nil },
		}, 1, false},
		{"again", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return renewed(200), nil },
		}, 2, false},
		{"again, when the call has ended", []func(func()) (*http.Response, error){
			func(cancel func()) (*http.Response, error) { cancel(); return renewed(200), nil },
		}, 2, false},
		{"once, when the call has ended", []func(func()) (*http.Response, error){
			func(cancel func()) (*http.Response, error) { cancel(); return reply(200), nil },
		}, 1, false},
		{"no connection for the second", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return nil, connect(true) },
			func(func()) (*http.Response, error) { return nil, connect(true) },
		}, 2, true},
		{"nor for a retry", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return nil, connect(true) },
			func(func()) (*http.Response, error) { return nil, connect(false) },
		}, 1, true},
		{"for a retry alone", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return nil, connect(false) },
			func(func()) (*http.Response, error) { return nil, connect(true) },
		}, 1, true},
		{"no connection at all", []func(func()) (*http.Response, error){
			func(func()) (*http.Response, error) { return nil, connect(false) },
			func(func()) (*http.Response, error) { return nil, connect(false) },
		}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			hits := 0
			client := impatient(newClient(Options{Name: "orders", Retries: Retries{Max: 1, Budget: 100},
				Wrap: service(func(*http.Request) (*http.Response, error) { hits++; return c.attempts[hits-1](cancel) })}))
			defer client.Close()
			resp, requests, err := client.Send(get(t, parse(t, "http://orders.internal/")).WithContext(ctx), RetryByMethod, LimitHeader)
			if resp != nil {
				resp.Body.Close()
			}
			var e *Error
			refused := errors.As(err, &e) && strings.Contains(e.ToolMessage(), "It refused the call for its credential")
			if hits != len(c.attempts) || requests != c.requests || refused != c.refused {
				t.Errorf("%d attempts, %d requests, %t: %v", hits, requests, refused, err)
			}
		})
	}
}

// TestProbeThatEndsWithItsCall: a call that was let through to see whether a service is back, and that ends before it is known, gives
// its turn to another.
func TestProbeThatEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func() (*http.Response, error) { return reply(503), nil }
		hits := 0
		client := newClient(Options{Name: "orders", BaseURL: parse(t, "http://orders.internal"),
			Breaker: Breaker{Failures: 50, Calls: 1, Window: 10 * time.Second, Pause: 5 * time.Second, Probes: 1},
			Wrap:    service(func(*http.Request) (*http.Response, error) { hits++; return answer() })})
		defer client.Close()
		outcome(client, get(t, parse(t, "http://orders.internal/")))
		if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); !strings.HasPrefix(got, "open\n") {
			t.Fatal(got)
		}
		time.Sleep(6 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		answer = func() (*http.Response, error) { cancel(); return reply(200), nil }
		if got := outcome(client, get(t, parse(t, "http://orders.internal/")).WithContext(ctx)); !strings.HasPrefix(got, "canceled\n") {
			t.Error(got)
		}
		answer = func() (*http.Response, error) { return reply(200), nil }
		if got := outcome(client, get(t, parse(t, "http://orders.internal/"))); got != "200 \"ok\"\n" || hits != 3 {
			t.Errorf("%d requests, %s", hits, got)
		}
	})
}

// TestClosePatient: the connections of calls that are patient are closed with all others.
func TestClosePatient(t *testing.T) {
	ended := make(chan struct{}, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended <- struct{}{}
		}
	}
	s.StartTLS()
	defer s.Close()
	o := Options{Name: "orders", BaseURL: parse(t, s.URL), RootCAs: x509.NewCertPool()}
	o.RootCAs.AddCert(s.Certificate())
	client := newClient(o)
	resp, _, err := client.Send(get(t, parse(t, s.URL)), RetryByMethod, NoHeaderTimeout)
	if got := told(resp, err); got != "200 \"ok\"\n" {
		t.Error(got)
	}
	client.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the connection is still open")
	}
}
