package credential

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

// Login describes the request of LoginRequest, and the place of the token in its response. Exactly
// one of TokenPointer, TokenHeader and TokenCookie is set.
type Login struct {
	// URL receives the user name and the password: https, or http on loopback or on the origin of the
	// service.
	URL *url.URL
	// Client sends the request. If nil, the transport of the service sends it, and URL must have the
	// origin of the service. Redirects are never followed. A response may have 64 KiB and take 5
	// seconds.
	Client *http.Client
	// Method is the method of the request.
	Method string
	// ContentType is that of the body.
	ContentType string
	// Body returns the body. It is nil for a request without one.
	Body func(username, password string) []byte
	// TokenPointer is the JSON Pointer to the token in the response, a string.
	TokenPointer string
	// TokenHeader is the header of the response that has the token.
	TokenHeader string
	// TokenCookie is the cookie of the response that is the token. Its Max-Age or Expires is the
	// lifetime.
	TokenCookie string
	// Scheme precedes the token in a header, separated by a space; empty for none.
	Scheme string
	// LifetimePointer is the JSON Pointer to the lifetime of the token in the response, in seconds.
	LifetimePointer string
	// Lifetime is the lifetime of a token whose response does not tell it. By default it is used for a
	// day, or until the service answers 401.
	Lifetime time.Duration
}

// login obtains tokens by a request to the service itself. All callers share one token.
type login struct {
	Login
	account  account
	endpoint string // host and port, for errors
	at       field
	now      func() time.Time
	shared   tokenSource
}

// newLogin returns a login, or all problems with its options.
func newLogin(o Options) (*login, error) {
	if o.Login == nil {
		return nil, errors.New("credential: the request of the login is missing")
	}
	l := &login{Login: *o.Login, account: account{o.Username, o.Password}, at: field{cmp.Or(o.In, Header), o.Name}, now: clock(o.Now)}
	if l.at.location == Header {
		l.at.name = http.CanonicalHeaderKey(cmp.Or(l.at.name, "Authorization"))
	}
	_, _, err := l.account.read()
	problems := []error{l.connect(o.Origin), checkName(l.at.location, l.at.name), err}
	places := 0
	for _, place := range []string{l.TokenPointer, l.TokenHeader, l.TokenCookie} {
		if place != "" {
			places++
		}
	}
	if places != 1 {
		problems = append(problems, errors.New("credential: a login needs one place of the token in the response"))
	}
	if l.Lifetime < 0 || l.Lifetime > maxLife {
		problems = append(problems, fmt.Errorf("credential: a token of a login can't live for %s: at most %s", l.Lifetime, maxLife))
	}
	return l, errors.Join(problems...)
}

// account is a user name with its password. It keeps neither of them.
type account struct{ username, password Secret }

// read returns the current user name and password.
func (a account) read() (username, password string, err error) {
	parts := []struct {
		name string
		from Secret
		to   *string
	}{{"username", a.username, &username}, {"password", a.password, &password}}
	var problems []error
	for _, p := range parts {
		if p.from == nil {
			problems = append(problems, fmt.Errorf("credential: %s is missing", p.name))
			continue
		}
		v, err := p.from()
		*p.to = strings.TrimRight(v, "\r\n")
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("credential: read %s: %w", p.name, err))
		case *p.to == "" && p.to == &username:
			problems = append(problems, errors.New("credential: username is empty"))
		case hasControl(*p.to):
			problems = append(problems, fmt.Errorf("credential: %s holds a control character", p.name))
		}
	}
	return username, password, errors.Join(problems...)
}

// connect checks that the password goes to the service alone, or to a server that is named with a
// client of its own.
func (l *login) connect(service *url.URL) error {
	to, ok := origin.Of(l.URL)
	if !ok || l.URL.User != nil || l.URL.Scheme != "https" && l.URL.Scheme != "http" {
		return errors.New("credential: the URL of a login must be an absolute https URL without user") // it may have a key
	}
	l.endpoint = l.URL.Host
	home, _ := origin.Of(service) // New reports a bad one
	switch {
	case to == home:
	case l.Client == nil || l.Client.Transport == nil:
		return errors.New("credential: the client for a login at another origin is missing")
	case l.URL.Scheme == "http" && !origin.Loopback(l.URL.Hostname()):
		return errors.New("credential: the URL of a login must be https: a password is sent to it")
	}
	return nil
}

// loginFetcher logs in over a transport.
type loginFetcher struct {
	*login
	next http.RoundTripper
}

func (l *login) source(context.Context) (*tokenSource, string, error) { return &l.shared, "", nil }

func (l *login) fetcher(next http.RoundTripper) fetcher {
	if l.Client != nil {
		next = l.Client.Transport
	}
	return loginFetcher{l, next}
}

func (l *login) field() field { return l.at }

// isRejected reports true: a service with a login of its own answers 401 to a token that has ended.
func (*login) isRejected(http.Header) bool { return true }

func (l *login) clock() func() time.Time { return l.now }

func (l *login) timeoutError(err error) error { return timeoutError(err, LoginRequest, l.endpoint) }

// detached is a context without values. What observes or steers the call that waits for a login does
// not concern the login, whose request has the password.
type detached struct{ context.Context } //nolint:containedctx // it is one

// Value returns nil.
func (detached) Value(any) any { return nil }

// fetch logs in.
func (l loginFetcher) fetch(ctx context.Context, _ string, limit time.Duration) (*token, error) {
	ctx, cancel := context.WithTimeout(detached{ctx}, limit)
	defer cancel()
	req, err := l.request(ctx)
	if err != nil {
		return nil, err
	}
	start := l.now()
	trip := &tokenTransport{next: l.next, now: l.now}
	resp, err := trip.RoundTrip(req)
	e := &TokenError{Failure: Unavailable, Kind: LoginRequest, Endpoint: l.endpoint, Status: trip.status, RetryAfter: trip.retryAfter}
	if err != nil {
		trip.interrupted(ctx, e)
		return nil, e
	}
	defer discard(resp)
	body, _ := io.ReadAll(resp.Body) // trip knows why it is incomplete
	if trip.interrupted(ctx, e) {
		return nil, e
	}
	fail := func(f Failure, detail string) (*token, error) {
		e.Failure, e.detail = f, detail
		return nil, e
	}
	switch status := resp.StatusCode; {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fail(Unavailable, "")
	case status >= 400:
		return fail(Refused, "")
	case status >= 300 && l.TokenCookie == "": // a form is often answered with a redirect, beside the cookie
		return fail(Unusable, "it redirects, and that is not followed")
	}
	text, life, reason := l.read(resp, body, start)
	switch {
	case reason != "":
		return fail(Unusable, reason)
	case len(text) > maxToken:
		return fail(Unusable, fmt.Sprintf("the token has more than %d bytes", maxToken))
	case l.at.location != Query && checkToken("", text) != nil, l.at.location == Cookie && strings.ContainsAny(text, `",;\`):
		return fail(Unusable, "the token holds a character that can't be sent")
	}
	if l.Scheme != "" {
		text = l.Scheme + " " + text
	}
	refresh := life*4/5 + time.Duration(rand.Int64N(int64(life/10)+1))
	return &token{header: seal([]string{text}), requestedAt: start, refreshAt: start.Add(refresh), expiry: start.Add(life)}, nil
}

// request returns the request with the current secrets.
func (l *login) request(ctx context.Context) (*http.Request, error) {
	username, password, err := l.account.read()
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if l.Body != nil {
		body = bytes.NewReader(l.Body(username, password))
	}
	req, err := http.NewRequestWithContext(ctx, l.Method, l.URL.String(), body)
	if err != nil {
		return nil, errors.New("credential: the login has no valid request") // the error has the URL
	}
	if l.Body != nil {
		req.Header.Set("Content-Type", l.ContentType)
	}
	return req, nil
}

// read returns the token of a response and its lifetime, or the reason that it has none.
func (l *login) read(resp *http.Response, body []byte, now time.Time) (text string, life time.Duration, reason string) {
	life = cmp.Or(l.Lifetime, maxLife)
	body = bytes.TrimSpace(body)
	if (l.TokenPointer != "" || l.LifetimePointer != "") && !json.Valid(body) {
		return "", 0, "the answer is not JSON"
	}
	switch {
	case l.TokenPointer != "":
		if text = jsonscan.StringAt(body, l.TokenPointer); text == "" {
			return "", 0, fmt.Sprintf("the answer has no text at %q", l.TokenPointer)
		}
	case l.TokenHeader != "":
		if text = resp.Header.Get(l.TokenHeader); text == "" {
			return "", 0, fmt.Sprintf("the answer has no header %q", l.TokenHeader)
		}
	default:
		cookie := cookieOf(resp, l.TokenCookie)
		if cookie == nil {
			return "", 0, fmt.Sprintf("the answer sets no cookie %q", l.TokenCookie)
		}
		text = cookie.Value
		switch {
		case cookie.MaxAge > 0:
			life = time.Duration(min(cookie.MaxAge, int(maxLife/time.Second))) * time.Second
		case cookie.MaxAge == 0 && !cookie.Expires.IsZero():
			life = cookie.Expires.Sub(now)
		}
	}
	if l.LifetimePointer != "" {
		seconds, ok := parseSeconds(jsonscan.At(body, l.LifetimePointer))
		if !ok {
			return "", 0, fmt.Sprintf("the answer has no number of seconds at %q", l.LifetimePointer)
		}
		life = time.Duration(seconds) * time.Second
	}
	if life <= 0 {
		return "", 0, "the token has ended already"
	}
	return text, min(life, maxLife), ""
}

// cookieOf returns the last cookie of that name that a response sets and does not delete; nil if
// there is none.
func cookieOf(resp *http.Response, name string) (last *http.Cookie) {
	for _, c := range resp.Cookies() {
		if c.Name == name && c.Value != "" && c.MaxAge >= 0 {
			last = c
		}
	}
	return last
}
