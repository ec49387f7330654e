package credential

import (
	"context"
	"encoding/json"
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
)

// loginService is a service with a login of its own. It answers 401 to all but the tokens that it gave last.
type loginService struct {
	login  http.HandlerFunc // nil: JSON with a token
	header string           // that has the token; Authorization if empty
	format string           // of its value; "Bearer %s" if empty

	mu     sync.Mutex
	valid  string
	logins atomic.Int64
	calls  atomic.Int64
	bodies []string
}

func (s *loginService) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if req.URL.Path == "/login" {
		n := s.logins.Add(1)
		body, _ := io.ReadAll(req.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(body))
		s.valid = fmt.Sprint("token-", n)
		if req.Context().Value(callerContext{}) != nil {
			return nil, errors.New("the login has the values of the call")
		}
		if s.login != nil {
			s.login(w, req)
		} else {
			_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"token": s.valid, "seconds": 100}})
		}
		return w.Result(), nil
	}
	s.calls.Add(1)
	name, format := "Authorization", "Bearer %s"
	if s.header != "" {
		name, format = s.header, s.format
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Header.Get(name) != fmt.Sprintf(format, s.valid) {
		w.WriteHeader(http.StatusUnauthorized)
	}
	return w.Result(), nil
}

func loginOptions() Options {
	at := *origin0()
	at.Path = "/login"
	return Options{Kind: LoginRequest, Origin: origin0(), Username: Fixed("gateway"), Password: Fixed("pass\"word"), Login: &Login{
		URL: &at, Method: http.MethodPost, ContentType: "application/json", Scheme: "Bearer", TokenPointer: "/data/token", LifetimePointer: "/data/seconds",
		Body: func(username, password string) []byte {
			text, err := json.Marshal(map[string]string{"u": username, "p": password})
			if err != nil {
				panic(err)
			}
			return text
		},
	}}
}

// TestLoginTokenIsRecorded: all of a token is to be redacted in responses, also if it holds a space, as one in the query may; the scheme of a
// header is no secret.
func TestLoginTokenIsRecorded(t *testing.T) {
	t.Parallel()
	for _, at := range []field{{Query, "key"}, {Header, "Authorization"}} {
		text := "first second"
		if at.location == Header {
			text = "first"
		}
		s := &loginService{login: func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"token": text, "seconds": 100}})
		}, header: "X-None"}
		o := loginOptions()
		o.In, o.Name = at.location, at.name
		if at.location == Query {
			o.Login.Scheme = ""
		}
		transport, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		sent := &Sent{}
		req := httptest.NewRequestWithContext(sent.Context(t.Context()), http.MethodGet, origin0().String(), nil)
		resp, err := transport(s).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := sent.Reveal(); len(got) != 1 || got[0] != text {
			t.Errorf("%v: %q is recorded, want %q", at, got, text)
		}
	}
}

// One login serves all calls that begin at the same time, is repeated before the token ends, and once after a 401: the service may have
// forgotten its sessions.
func TestLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &loginService{}
		rt := mustNew(t, loginOptions())(s)
		ctx := as(t.Context(), "token", "alice")
		call := func() {
			t.Helper()
			if status, err := send(ctx, t, rt, "POST", resource, strings.NewReader("body")); err != nil || status != 200 {
				t.Error(status, err)
			}
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(call)
		}
		wg.Wait()
		if n := s.logins.Load(); n != 1 || s.bodies[0] != `{"p":"pass\"word","u":"gateway"}` {
			t.Errorf("%d logins: %q", n, s.bodies)
		}
		time.Sleep(95 * time.Second)
		call()
		if n := s.logins.Load(); n != 2 {
			t.Errorf("%d logins after most of the lifetime", n)
		}
		time.Sleep(15 * time.Second)
		s.mu.Lock()
		s.valid = "" // as after a restart
		s.mu.Unlock()
		before := s.calls.Load()
		for range 50 {
			wg.Go(call)
		}
		wg.Wait()
		if n := s.logins.Load(); n != 3 || s.calls.Load() > before+100 {
			t.Errorf("%d logins after the service has forgotten them, %d calls", n, s.calls.Load()-before)
		}
	})
}

// A service that accepts no token gets one login in ten seconds and each call twice at most; a login that is refused is not repeated for
// half a minute, because services lock accounts.
func TestLoginInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &loginService{login: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":{"token":"never","seconds":100}}`)
		}}
		rt := mustNew(t, loginOptions())(s)
		for range 5 {
			if status, err := send(t.Context(), t, rt, "GET", resource, nil); status != 401 || err != nil {
				t.Error(status, err)
			}
		}
		if s.logins.Load() != 1 || s.calls.Load() != 5 {
			t.Errorf("%d logins, %d calls", s.logins.Load(), s.calls.Load())
		}
		s = &loginService{login: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }}
		rt = mustNew(t, loginOptions())(s)
		for range 29 {
			_, err := send(t.Context(), t, rt, "GET", resource, nil)
			var failure *TokenError
			if !errors.As(err, &failure) || failure.Failure != Refused || err.Error() != `credential: login: the login at "orders.example.com" is refused, status 403` {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		if s.logins.Load() != 1 || s.calls.Load() != 0 {
			t.Errorf("%d logins, %d calls", s.logins.Load(), s.calls.Load())
		}
	})
}

// The places of a token in the response and in requests.
func TestLoginPlaces(t *testing.T) {
	json := func(text string) http.HandlerFunc { return answers(200, "text/html", text) }
	cookie := func(status int, cookies ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Set-Cookie"] = cookies
			w.Header().Set("Location", "/home")
			w.WriteHeader(status)
		}
	}
	for name, c := range map[string]struct {
		set    func(*Options)
		login  http.HandlerFunc
		header string
		want   string // the header of the call
		err    string
	}{
		"pointer":     {func(*Options) {}, json(`{"data":{"token":"t","seconds":"60"}}`), "Authorization", "Bearer t", ""},
		"no token":    {func(*Options) {}, json(`{"data":{"token":null,"seconds":1}}`), "", "", `the answer has no text at "/data/token"`},
		"no lifetime": {func(*Options) {}, json(`{"data":{"token":"t","seconds":"soon"}}`), "", "", `the answer has no number of seconds at "/data/seconds"`},
		"no JSON":     {func(*Options) {}, json(`<html>`), "", "", "the answer is not JSON"},
		"ended":       {func(*Options) {}, json(`{"data":{"token":"t","seconds":0}}`), "", "", "the token has ended already"},
		"bad token":   {func(*Options) {}, json(`{"data":{"token":"t\r\nX: y","seconds":60}}`), "", "", "the token holds a character that can't be sent"},
		"long":        {func(*Options) {}, json(`{"data":{"token":"t","seconds":60}}` + strings.Repeat(" ", 64<<10)), "", "", "the answer is longer than 64 KiB"},
		"redirect":    {func(*Options) {}, cookie(302), "", "", "it redirects, and that is not followed"},
		"down":        {func(*Options) {}, json(""), "", "", "the answer is not JSON"},
		"header": {func(o *Options) {
			o.Login.TokenPointer, o.Login.LifetimePointer, o.Login.TokenHeader = "", "", "X-Auth"
		}, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Auth", "h") }, "Authorization", "Bearer h", ""},
		"missing header": {func(o *Options) {
			o.Login.TokenPointer, o.Login.LifetimePointer, o.Login.TokenHeader = "", "", "X-Auth"
		}, json(""), "", "", `the answer has no header "X-Auth"`},
		"own header":       {func(o *Options) { o.Name, o.Login.Scheme = "x-auth-token", "" }, json(`{"data":{"token":"t","seconds":60}}`), "X-Auth-Token", "t", ""},
		"token as cookie":  {func(o *Options) { o.In, o.Name, o.Login.Scheme = Cookie, "sid", "" }, json(`{"data":{"token":"t","seconds":60}}`), "Cookie", "sid=t", ""},
		"bad cookie value": {func(o *Options) { o.In, o.Name, o.Login.Scheme = Cookie, "sid", "" }, json(`{"data":{"token":"t;u","seconds":60}}`), "", "", "the token holds a character that can't be sent"},
		"cookie":           {asCookie, cookie(200, "other=x", "sid=c; Max-Age=60; HttpOnly"), "Cookie", "sid=c", ""},
		"cookie redirect":  {asCookie, cookie(302, "sid=old; Path=/", "sid=new; Path=/"), "Cookie", "sid=new", ""},
		"deleted cookie":   {asCookie, cookie(200, "sid=x; Max-Age=0"), "", "", `the answer sets no cookie "sid"`},
		"no cookie":        {asCookie, cookie(200, "other=x"), "", "", `the answer sets no cookie "sid"`},
		"ended cookie":     {asCookie, cookie(200, "sid=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"), "", "", "the token has ended already"},
	} {
		o := loginOptions()
		c.set(&o)
		next := &loginService{login: c.login}
		var got http.Header
		rt := mustNew(t, o)(through(func(req *http.Request) (*http.Response, error) {
			if req.URL.Path != "/login" {
				got = req.Header
				return httptest.NewRecorder().Result(), nil
			}
			return next.RoundTrip(req)
		}))
		_, err := send(t.Context(), t, rt, "GET", resource, nil)
		if c.err != "" {
			var failure *TokenError
			if !errors.As(err, &failure) || failure.Failure != Unusable || !strings.HasSuffix(err.Error(), ": "+c.err) || got != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || got.Get(c.header) != c.want {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func asCookie(o *Options) {
	o.In, o.Name, o.Login.Scheme, o.Login.TokenPointer, o.Login.LifetimePointer, o.Login.TokenCookie = Cookie, "sid", "", "", "", "sid"
}

// The password goes to the service, or to a server that has a client of its own and https.
func TestLoginErrors(t *testing.T) {
	client := (&endpoint{}).client()
	for _, c := range []struct {
		to     string
		client *http.Client
		want   string
	}{
		{"https://sso.example.com/login", client, ""},
		{"http://127.0.0.1:1/login", client, ""},
		{"http://sso.example.com/login", client, "credential: the URL of a login must be https: a password is sent to it"},
		{"https://sso.example.com/login", nil, "credential: the client for a login at another origin is missing"},
		{"https://u:p@sso.example.com/login", client, "credential: the URL of a login must be an absolute https URL without user"},
		{"/login", client, "credential: the URL of a login must be an absolute https URL without user"},
	} {
		o := loginOptions()
		var err error
		if o.Login.URL, err = url.Parse(c.to); err != nil {
			t.Fatal(err)
		}
		o.Login.Client = c.client
		if _, err = New(o); fmt.Sprint(err) != c.want && (c.want != "" || err != nil) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	o := Options{Kind: LoginRequest, Origin: origin0(), Username: Fixed(""), Password: Fixed("a\nb"), In: Query, Login: &Login{URL: origin0(), Lifetime: 48 * time.Hour}}
	want := `credential: the API key needs a name
credential: username is empty
credential: password holds a control character
credential: a login needs one place of the token in the response
credential: a token of a login can't live for 48h0m0s: at most 24h0m0s`
	if _, err := New(o); fmt.Sprint(err) != want {
		t.Error(err)
	}
	if _, err := New(Options{Kind: LoginRequest, Origin: origin0()}); err == nil {
		t.Error("no request: no error")
	}
}

// A login that hangs ends after five seconds, or with the call, and the call says so.
func TestLoginHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := mustNew(t, loginOptions())(through(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}))
		for limit, spent := range map[time.Duration]time.Duration{time.Minute: fetchTime, 2 * time.Second: 2 * time.Second} {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := send(ctx, t, rt, "GET", resource, nil)
			cancel()
			if want := `credential: login: the login at "orders.example.com" is not available: no answer in time`; fmt.Sprint(err) != want || time.Since(begin) != spent {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
			time.Sleep(2 * time.Second)
		}
	})
}
