package credential

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/auth/authtest"
)

const resource = "https://orders.example.com"

// endpoint is a token endpoint in the process: authtest without a network, so
// that it stands in the bubble of a test that has its own clock.
type endpoint struct {
	handler  http.Handler
	requests atomic.Int64
	latency  time.Duration
	forms    chan url.Values // nil: not recorded
}

func (e *endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	e.requests.Add(1)
	if e.latency > 0 {
		select {
		case <-time.After(e.latency):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body.Close()
	if req.Header.Get("Accept") != "application/json" { // some answer in a form to who does not ask for JSON
		return nil, errors.New("the header Accept is missing")
	}
	if e.forms != nil {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		if user, password, ok := req.BasicAuth(); ok {
			form.Set("basic", user+":"+password)
		}
		e.forms <- form
	}
	in := req.Clone(req.Context())
	in.Body, in.RequestURI = io.NopCloser(bytes.NewReader(body)), req.URL.RequestURI()
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, in)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func (e *endpoint) client() *http.Client { return &http.Client{Transport: e} }

// issuer is an authorization server at whose token endpoint "gateway" may ask for tokens.
func issuer(t testing.TB, o authtest.Options) (*authtest.Server, *endpoint) {
	t.Helper()
	o.Issuer = "http://127.0.0.1:1"
	if o.DefaultResource == "" {
		o.DefaultResource = resource
	}
	o.Clients = append(o.Clients, authtest.Client{ID: "gateway", Secret: "s3cret+ /&"})
	s, err := authtest.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, &endpoint{handler: s}
}

func tokenURL(s *authtest.Server) string { return s.Issuer() + "/token" }

// answers makes a handler of one answer.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func origin0() *url.URL { return &url.URL{Scheme: "https", Host: "orders.example.com"} }

func clientCredentials(s string, client *http.Client) Options {
	return Options{Kind: ClientCredentials, Origin: origin0(), OAuth: &OAuth{
		TokenURL: s, Client: client, ClientID: "gateway", ClientSecret: Fixed("s3cret+ /&"),
	}}
}

// service counts requests by their Authorization and answers as it is told.
type service struct {
	mu     sync.Mutex
	seen   []string
	bodies []string
	status func(authorization string) (int, string) // nil: 200
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		body = string(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	authorization := strings.Join(req.Header["Authorization"], "|")
	s.seen, s.bodies = append(s.seen, authorization), append(s.bodies, body)
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}
	if s.status != nil {
		var challenge string
		if resp.StatusCode, challenge = s.status(authorization); challenge != "" {
			resp.Header.Set("Www-Authenticate", challenge)
		}
	}
	return resp, nil
}

func mustNew(t testing.TB, o Options) func(http.RoundTripper) http.RoundTripper {
	t.Helper()
	wrap, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return wrap
}

func send(ctx context.Context, t testing.TB, rt http.RoundTripper, method, target string, body io.Reader) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// A token is fetched once for all, however many calls begin at the same time (E7).
func TestOneTokenRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{})
		e.latency = time.Second
		next := &service{}
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(next)
		if e.requests.Load() != 0 {
			t.Error("New asked for a token")
		}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if _, err := send(t.Context(), t, rt, "GET", resource+"/orders", nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := e.requests.Load(); n != 1 {
			t.Errorf("%d token requests", n)
		}
		for _, seen := range next.seen {
			if seen != next.seen[0] || !strings.HasPrefix(seen, "Bearer ey") {
				t.Fatalf("%q", seen)
			}
		}
	})
}

// The call that happens to come first may end, and those that wait get the
// token of its request; who has no time left does not wait.
func TestTokenRequestOutlivesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{})
		e.latency = 2 * time.Second
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(&service{})
		first, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		go func() { _, err := send(first, t, rt, "GET", resource, nil); ended <- err }()
		synctest.Wait()
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		go func() { _, err := send(t.Context(), t, rt, "GET", resource, nil); ended <- err }()
		go func() { _, err := send(short, t, rt, "GET", resource, nil); ended <- err }()
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the impatient: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the other: %v", err)
		}
		if n := e.requests.Load(); n != 1 {
			t.Errorf("%d token requests", n)
		}
	})
}

// A token is replaced when from four fifths to nine tenths of its life have
// passed (E7). A failure to do so harms nobody while it is good, and stands for a
// tenth of what is left.
func TestRefresh(t *testing.T) {
	for _, life := range []time.Duration{100 * time.Second, time.Hour, maxLife} {
		synctest.Test(t, func(t *testing.T) {
			s, e := issuer(t, authtest.Options{AccessLife: life})
			next := &service{}
			rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(next)
			call := func() error {
				_, err := send(t.Context(), t, rt, "GET", resource, nil)
				return err
			}
			start := time.Now()
			at := func(d time.Duration) { time.Sleep(time.Until(start.Add(d))) } // the bubble's clock
			for _, d := range []time.Duration{0, life / 2, life*4/5 - 1} {
				if at(d); call() != nil || e.requests.Load() != 1 {
					t.Fatalf("after %s: %d token requests", d, e.requests.Load())
				}
			}
			at(life * 9 / 10)
			s.Fail(authtest.TokenEndpoint, &authtest.Failure{Times: 1})
			if err := call(); err != nil || e.requests.Load() != 2 {
				t.Fatalf("%v, %d token requests", err, e.requests.Load())
			}
			for _, d := range []time.Duration{0, life/100 - 1} {
				if at(life*9/10 + d); call() != nil || e.requests.Load() != 2 {
					t.Fatalf("%s later: %d token requests", d, e.requests.Load())
				}
			}
			at(life*9/10 + life/100)
			if call() != nil || e.requests.Load() != 3 || next.seen[0] == next.seen[len(next.seen)-1] {
				t.Fatalf("%d token requests", e.requests.Load())
			}
		})
	}
}

// While a new token is fetched early, everybody else goes on with the old one.
func TestRefreshHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{AccessLife: time.Hour})
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(&service{})
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Minute)
		e.latency = time.Minute // longer than the gateway waits
		start := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
				t.Error(err)
			}
			ended <- time.Since(start)
		}()
		synctest.Wait()
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if d := <-ended; d != earlyFetchTime {
			t.Errorf("held up for %s", d)
		}
	})
}

// A silent authorization server costs 5 seconds, and what it said to one it
// said to all for a moment; Retry-After is obeyed within reason.
func TestTokenEndpointDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{})
		e.latency = time.Hour
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(&service{})
		start := time.Now()
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		if want := `credential: client_credentials: token endpoint "127.0.0.1:1" is not available: no answer in time`; fmt.Sprint(err) != want {
			t.Error(err)
		}
		if d := time.Since(start); d != fetchTime {
			t.Errorf("after %s", d)
		}
		if _, again := send(t.Context(), t, rt, "GET", resource, nil); !errors.Is(again, err) || e.requests.Load() != 1 {
			t.Errorf("%v, %d token requests", again, e.requests.Load())
		}
		time.Sleep(retryDelay)
		e.latency = 0
		s.Fail(authtest.TokenEndpoint, &authtest.Failure{Times: 1, Status: 429, Header: http.Header{"Retry-After": {"20"}}})
		_, err = send(t.Context(), t, rt, "GET", resource, nil)
		var failure *TokenError
		if !errors.As(err, &failure) || failure.Failure != Unavailable || failure.RetryAfter != 20*time.Second {
			t.Fatal(err)
		}
		if time.Sleep(19 * time.Second); e.requests.Load() != 2 {
			t.Errorf("%d token requests", e.requests.Load())
		}
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err == nil {
			t.Error("Retry-After was not obeyed")
		}
		time.Sleep(time.Second)
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Error(err)
		}
	})
}

// After a 401 a request is sent once more with another token, if its body can
// be sent again and the service's challenge is about the token.
func TestRetryAfter401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{AccessLife: 24 * time.Hour})
		var dead sync.Map // tokens that the service has forgotten
		challenge := ""
		next := &service{status: func(a string) (int, string) {
			if _, ok := dead.Load(a); ok {
				return 401, challenge
			}
			return 200, ""
		}}
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(next)
		kill := func() {
			time.Sleep(renewAfter)
			dead.Store(next.seen[len(next.seen)-1], true)
			next.seen, next.bodies = nil, nil
			e.requests.Store(0)
		}
		post := func(body io.Reader) int {
			status, err := send(t.Context(), t, rt, "POST", resource, body)
			if err != nil {
				t.Fatal(err)
			}
			return status
		}
		post(nil)
		for _, c := range []struct {
			name, challenge string
			body            io.Reader
			status, sent    int
		}{
			{"bytes", "", strings.NewReader("order"), 200, 2},
			{"nothing", `Bearer error="invalid_token"`, nil, 200, 2},
			{"unreadable challenge", `Bearer error="`, nil, 200, 2},
			{"a stream", "", io.MultiReader(strings.NewReader("order")), 401, 1},
			{"lacking scope", `Bearer error="insufficient_scope"`, nil, 401, 1},
			{"another scheme", `Negotiate`, nil, 401, 1},
		} {
			kill()
			challenge = c.challenge
			if status := post(c.body); status != c.status || len(next.seen) != c.sent || int(e.requests.Load()) != c.sent-1 {
				t.Errorf("%s: status %d, sent %d times, %d token requests", c.name, status, len(next.seen), e.requests.Load())
			}
			if c.sent == 2 && (next.bodies[0] != next.bodies[1] || next.seen[0] == next.seen[1]) {
				t.Errorf("%s: %q %q", c.name, next.bodies, next.seen)
			}
		}
	})
}

// A service that refuses every token costs a token request in ten seconds, and
// a token that was made for the call itself is not replaced.
func TestRetryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{})
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(&service{status: func(string) (int, string) { return 401, "" }})
		for range 100 {
			if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 401 || err != nil {
				t.Fatal(status, err)
			}
			time.Sleep(time.Second)
		}
		if n := e.requests.Load(); n > 10 {
			t.Errorf("%d token requests in 100 s", n)
		}
	})
}

// The first answer stays the answer if no other token is to be had.
func TestRetryWithoutToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := issuer(t, authtest.Options{})
		good := true
		rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(&service{status: func(string) (int, string) {
			if good {
				return 200, ""
			}
			return 401, ""
		}})
		send(t.Context(), t, rt, "GET", resource, nil)
		time.Sleep(renewAfter)
		good = false
		s.Fail(authtest.TokenEndpoint, &authtest.Failure{})
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 401 || err != nil {
			t.Error(status, err)
		}
		good = true // the old token is used on
		if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 200 || err != nil {
			t.Error(status, err)
		}
	})
}

// A token goes to its own origin and to no other (E4), and there nothing is asked for it.
func TestTokenOrigin(t *testing.T) {
	s, e := issuer(t, authtest.Options{})
	next := &service{}
	rt := mustNew(t, clientCredentials(tokenURL(s), e.client()))(next)
	for _, target := range []string{"https://billing.example.com/", "http://orders.example.com/", "https://orders.example.com:8443/", "https://orders.example.com.evil.example/", tokenURL(s)} {
		if _, err := send(t.Context(), t, rt, "GET", target, nil); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(next.seen, "") != "" || e.requests.Load() != 0 {
		t.Errorf("%q, %d token requests", next.seen, e.requests.Load())
	}
}
