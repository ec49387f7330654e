package credential

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener without sockets, so that what waits for a connection
// waits in the time of the test.
type pipes struct {
	conns   chan net.Conn
	down    atomic.Bool
	dialled atomic.Int64
	once    sync.Once
	gone    chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.gone) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if p.down.Load() {
		return nil, errors.New("connection refused")
	}
	p.dialled.Add(1)
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.gone:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// idp is a token endpoint behind a real server and a real client, that does
// what it is told for one request after another, and then gives tokens.
type idp struct {
	*pipes
	client   *http.Client
	requests atomic.Int64

	mu     sync.Mutex
	script []string
}

const idpURL = "http://127.0.0.1:1/token"

// newIDP starts it in the bubble of a test.
func newIDP(t *testing.T, script ...string) *idp {
	i := &idp{script: script}
	i.pipes, i.client = serve(t, http.HandlerFunc(i.answer))
	return i
}

// serve starts a server in the bubble of a test, and a client that reaches no other.
func serve(t *testing.T, h http.Handler) (*pipes, *http.Client) {
	p := &pipes{conns: make(chan net.Conn), gone: make(chan struct{})}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener, s.Config.ErrorLog = p, slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	s.Start()
	transport := &http.Transport{DialContext: p.dial}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	return p, &http.Client{Transport: transport}
}

func (i *idp) tell(script ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.script = script
}

func (i *idp) answer(w http.ResponseWriter, r *http.Request) {
	n := i.requests.Add(1)
	if err := r.ParseForm(); err != nil {
		panic(err)
	}
	i.mu.Lock()
	act := "ok"
	if len(i.script) > 0 {
		act, i.script = i.script[0], i.script[1:]
	}
	i.mu.Unlock()
	verb, argument, _ := strings.Cut(act, " ")
	switch verb {
	case "slow":
		d, err := time.ParseDuration(argument)
		if err != nil {
			panic(err)
		}
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return
		}
	case "hang":
		<-r.Context().Done()
		return
	case "cut":
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, `{"access_token":"half`)
		return
	case "500", "503", "429", "401":
		w.Header().Set("Retry-After", argument)
		var status int
		fmt.Sscan(verb, &status)
		answers(status, "application/json", `{"error":"invalid_client"}`)(w, r)
		return
	}
	answers(200, "application/json", fmt.Sprintf(`{"access_token":"t%d%s","token_type":"Bearer","expires_in":100,"issued_token_type":%q}`, n, r.PostFormValue("subject_token"), TypeAccessToken))(w, r)
}

// What a call sees of each fault of the token endpoint, how long that takes,
// and when the endpoint is asked again. The times are those of the test's clock.
func TestTokenEndpointFaults(t *testing.T) {
	type call struct {
		at       time.Duration
		took     time.Duration
		want     string // the token, or the end of the error
		requests int64  // that the endpoint has had then
	}
	const second = time.Second
	date := func(d time.Duration) string { // of a bubble
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(http.TimeFormat)
	}
	for name, c := range map[string]struct {
		script []string
		calls  []call
	}{
		"slow":               {[]string{"slow 4s"}, []call{{0, 4 * second, "t1", 1}, {5 * second, 0, "t1", 1}}},
		"hangs":              {[]string{"hang"}, []call{{0, fetchTime, "is not available: no answer in time", 1}, {5500 * time.Millisecond, 0, "no answer in time", 1}, {6 * second, 0, "t2", 2}}},
		"500 then ok":        {[]string{"500"}, []call{{0, 0, "is not available, status 500, error \"invalid_client\"", 1}, {second / 2, 0, "status 500, error \"invalid_client\"", 1}, {second, 0, "t2", 2}}},
		"500 twice":          {[]string{"500", "500"}, []call{{0, 0, "status 500, error \"invalid_client\"", 1}, {second, 0, "status 500, error \"invalid_client\"", 2}, {2 * second, 0, "t3", 3}}},
		"patience":           {[]string{"429 7"}, []call{{0, 0, "is not available, status 429, error \"invalid_client\"", 1}, {7*second - 1, 0, "error \"invalid_client\"", 1}, {7 * second, 0, "t2", 2}}},
		"patience to a date": {[]string{"503 " + date(9*second)}, []call{{0, 0, "status 503, error \"invalid_client\"", 1}, {9*second - 1, 0, "error \"invalid_client\"", 1}, {9 * second, 0, "t2", 2}}},
		"no patience":        {[]string{"429 86400"}, []call{{0, 0, "error \"invalid_client\"", 1}, {0, 0, "error \"invalid_client\"", 1}, {maxRetryDelay - 1, 0, "error \"invalid_client\"", 1}, {maxRetryDelay, 0, "t2", 2}}},
		"nonsense":           {[]string{"429 soon"}, []call{{0, 0, "error \"invalid_client\"", 1}, {second, 0, "t2", 2}}},
		"of the past":        {[]string{"429 " + date(-time.Hour)}, []call{{0, 0, "error \"invalid_client\"", 1}, {second, 0, "t2", 2}}},
		"negative":           {[]string{"429 -9223372036854775808"}, []call{{0, 0, "error \"invalid_client\"", 1}, {second, 0, "t2", 2}}},
		"breaks off":         {[]string{"cut"}, []call{{0, 0, "status 200: the connection broke off before the answer was complete", 1}, {second, 0, "t2", 2}}},
		"refused":            {[]string{"401"}, []call{{0, 0, "gives no token, status 401, error \"invalid_client\"", 1}, {second / 2, 0, "error \"invalid_client\"", 1}, {second, 0, "t2", 2}}},
		"early refresh":      {[]string{"ok", "hang", "500", "ok"}, []call{{0, 0, "t1", 1}, {80*second - 1, 0, "t1", 1}, {90 * second, earlyFetchTime, "t1", 2}, {92 * second, 0, "t1", 2}, {93 * second, 0, "t1", 3}, {94 * second, 0, "t4", 4}}},
		"too late":           {[]string{"ok", "500", "500"}, []call{{0, 0, "t1", 1}, {99 * second, 0, "t1", 2}, {100 * second, 0, "status 500, error \"invalid_client\"", 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newIDP(t, c.script...)
				next := &service{}
				rt := mustNew(t, clientCredentials(idpURL, i.client))
				start := time.Now()
				for _, call := range c.calls {
					time.Sleep(time.Until(start.Add(call.at)))
					before := time.Now()
					_, err := send(t.Context(), t, rt(next), "GET", resource, nil)
					got := fmt.Sprint(err)
					if err == nil {
						got = strings.TrimPrefix(next.seen[len(next.seen)-1], "Bearer ")
					}
					if took := time.Since(before); !strings.HasSuffix(got, call.want) || took != call.took || i.requests.Load() != call.requests {
						t.Errorf("at %s: %q after %s, %d token requests; want %q after %s, %d", call.at, got, took, i.requests.Load(), call.want, call.took, call.requests)
					}
				}
			})
		})
	}
}

// Nothing answers at the address: that may be told, and is over at once.
func TestTokenEndpointIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t)
		i.down.Store(true)
		next := &service{}
		rt := mustNew(t, clientCredentials(idpURL, i.client))(next)
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		if want := `credential: client_credentials: token endpoint "127.0.0.1:1" is not available: connection refused`; fmt.Sprint(err) != want {
			t.Error(err)
		}
		i.down.Store(false)
		if time.Sleep(retryDelay); len(next.seen) != 0 {
			t.Errorf("%q", next.seen)
		}
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Error(err)
		}
	})
}

// A thousand calls at once cost one token request, whatever becomes of it, for
// one token of all and for that of one caller (E7).
func TestThousandCalls(t *testing.T) {
	for name, c := range map[string]struct {
		script          []string
		before          time.Duration // how old the first token is; 0: there is none
		good            int
		requests, after int64 // token requests of the thousand, and of one more
	}{
		"first":          {[]string{"slow 1s"}, 0, 1000, 1, 1},
		"fails":          {[]string{"slow 1s", "500"}, 120 * time.Second, 0, 1, 1},
		"hangs":          {[]string{"hang"}, 0, 0, 1, 1},
		"refresh":        {[]string{"ok", "slow 1s"}, 92 * time.Second, 1000, 1, 1},
		"refresh fails":  {[]string{"ok", "500"}, 92 * time.Second, 1000, 1, 1},
		"has just ended": {[]string{"ok", "slow 1s"}, 100 * time.Second, 1000, 1, 1},
	} {
		for kind, o := range map[string]func(string, *http.Client) Options{"for all": clientCredentials, "exchange": exchangeOptions} {
			t.Run(name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					i := newIDP(t, c.script...)
					next := &service{}
					rt := mustNew(t, o(idpURL, i.client))(next)
					ctx := as(t.Context(), "a.b.c", "alice")
					if c.before > 0 {
						if _, err := send(ctx, t, rt, "GET", resource, nil); err != nil {
							t.Fatal(err)
						}
						time.Sleep(c.before)
						i.requests.Store(0)
					}
					var good atomic.Int64
					var wg sync.WaitGroup
					for range 1000 {
						wg.Go(func() {
							if _, err := send(ctx, t, rt, "GET", resource, nil); err == nil {
								good.Add(1)
							}
						})
					}
					wg.Wait()
					if good.Load() != int64(c.good) || i.requests.Load() != c.requests {
						t.Errorf("%d good, %d token requests", good.Load(), i.requests.Load())
					}
					send(ctx, t, rt, "GET", resource, nil)
					if i.requests.Load() != c.after {
						t.Errorf("one more: %d token requests", i.requests.Load())
					}
				})
			})
		}
	}
}

// Of a thousand calls that wait, those that are canceled, whichever they are,
// take nothing from the others; when all are, the request ends with the last.
func TestCanceledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t, "slow 3s", "hang")
		rt := mustNew(t, clientCredentials(idpURL, i.client))(&service{})
		for round, want := range []int64{500, 0} {
			var wg sync.WaitGroup
			var good, canceled atomic.Int64
			start := time.Now()
			for n := range 1000 {
				ctx, cancel := context.WithCancel(t.Context())
				if n%2 == 0 || round == 1 {
					time.AfterFunc(time.Duration(n+1)*time.Millisecond, cancel)
				}
				wg.Go(func() {
					defer cancel()
					switch _, err := send(ctx, t, rt, "GET", resource, nil); {
					case err == nil:
						good.Add(1)
					case errors.Is(err, context.Canceled):
						canceled.Add(1)
					default:
						t.Error(err)
					}
				})
				if n == 0 {
					synctest.Wait() // it is the one that asks
				}
			}
			wg.Wait()
			if good.Load() != want || canceled.Load() != 1000-want || i.requests.Load() != int64(round)+1 {
				t.Errorf("%d good, %d canceled, %d token requests", good.Load(), canceled.Load(), i.requests.Load())
			}
			if took := time.Since(start); round == 1 && took != time.Second {
				t.Errorf("the last has left after %s", took)
			}
			time.Sleep(100 * time.Second) // the token has ended
		}
		if _, err := send(t.Context(), t, rt, "GET", resource, nil); err != nil {
			t.Errorf("what was given up stands for an answer: %v", err)
		}
	})
}

// Calls with less time than the authorization server takes get its token in the
// end: each leaves, but as long as one is there the request goes on.
func TestShortCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newIDP(t, "slow 2900ms")
		rt := mustNew(t, clientCredentials(idpURL, i.client))(&service{})
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				time.Sleep(time.Duration(n) * time.Second / 2)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := send(ctx, t, rt, "GET", resource, nil)
				var failure *TokenError
				if late := n < 4; late != (err != nil) || late && (!errors.As(err, &failure) || !errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("%d: %v", n, err)
				}
			})
		}
		wg.Wait()
		if i.requests.Load() != 1 {
			t.Errorf("%d token requests", i.requests.Load())
		}
	})
}
