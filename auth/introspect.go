package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Limits on introspection (T15, T16).
const (
	askBytes     = 64 << 10
	activeTime   = 60 * time.Second // an answer "active" counts so long, or until "exp"
	inactiveTime = 10 * time.Second
	askRetry     = 5 * time.Second // what a 503 tells the caller
	defaultRate  = 100
	maxRate      = 10_000
)

// Introspection is how the issuer of opaque tokens is asked about one (RFC 7662).
type Introspection struct {
	// Endpoint is the URL to ask: https, or http on a loopback host. Empty: what
	// the issuer's metadata says.
	Endpoint string
	// ClientID is the gateway's own name at the issuer. Empty: the endpoint wants
	// no authentication, because it is not reachable by others.
	ClientID string
	// ClientSecret returns the present secret of that client. It is called for
	// each question.
	ClientSecret func() (string, error)
	// Method is how client and secret are sent.
	Method ClientAuth
	// Rate is how many questions a second may be asked, and five times as many at
	// once; beyond it tokens that are not known get 503. Of bad tokens, a twentieth
	// of it is left to each client address. Default 100, at most 10,000.
	Rate int
	// TokenInfo asks in the way of Google's tokeninfo endpoint, which is older
	// than RFC 7662: the token is the form parameter access_token, nobody
	// authenticates, status 400 says that the token is no good, and an answer
	// that names audience and expiry says that it is.
	TokenInfo bool
}

// ClientAuth is how a client authenticates (RFC 6749 section 2.3.1).
type ClientAuth uint8

// The ways of client authentication.
const (
	// ClientSecretBasic sends id and secret in the Authorization header.
	ClientSecretBasic ClientAuth = iota
	// ClientSecretPost sends them as parameters of the form.
	ClientSecretPost
)

// introspector asks an issuer about its tokens and remembers the answers.
type introspector struct {
	config   Introspection
	fixed    bool // the endpoint is that of the configuration
	endpoint atomic.Pointer[endpoint]
	client   *http.Client
	now      func() time.Time
	rate     rate
	known    verdicts

	mu      sync.Mutex
	flights map[[32]byte]*question
	bucket  bucket

	addresses addressBuckets
}

// endpoint is where to ask. The prefix begins what the key of an answer is made
// of: issuer, endpoint and client, so that no answer counts for another
// question than the one it was given to (T16).
type endpoint struct {
	url    string
	prefix [sha256.Size]byte
}

// question is one that all who have it wait for.
type question struct {
	*fetch
	done chan struct{}
	verdict
	err error
}

func newIntrospector(c Issuer, client *http.Client, now func() time.Time) (*introspector, error) {
	if c.Tokens != Opaque {
		if c.Introspection != nil {
			return nil, errors.New("introspection is for opaque tokens")
		}
		return nil, nil
	}
	if c.Introspection == nil {
		return nil, errors.New("opaque tokens need introspection")
	}
	a := &introspector{config: *c.Introspection, now: now, flights: make(map[[32]byte]*question)}
	var problems []error
	if a.config.Rate == 0 {
		a.config.Rate = defaultRate
	}
	if a.config.Rate < 1 || a.config.Rate > maxRate {
		problems = append(problems, fmt.Errorf("introspection rate %d is not between 1 and %d", a.config.Rate, maxRate))
		a.config.Rate = defaultRate
	}
	a.rate = rate{size: 5 * a.config.Rate, refill: time.Second / time.Duration(a.config.Rate)}
	each := max(1, a.config.Rate/20)
	a.addresses.rate = rate{size: 5 * each, refill: time.Second / time.Duration(each)}
	if (a.config.ClientID == "") != (a.config.ClientSecret == nil) {
		problems = append(problems, errors.New("introspection needs both client id and secret, or neither"))
	}
	if location := a.config.Endpoint; location != "" {
		if u, err := url.Parse(location); err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
			problems = append(problems, fmt.Errorf("introspection endpoint %q is not an absolute URL without user and fragment", location))
		} else if err := checkFetchURL(u); err != nil {
			problems = append(problems, fmt.Errorf("introspection endpoint %q: %w", location, err))
		}
		a.fixed = true
		a.setEndpoint(c.URL, location)
	} else if a.config.TokenInfo {
		problems = append(problems, errors.New("no metadata names a tokeninfo endpoint: configure it"))
	}
	a.client = &http.Client{
		Transport: &capped{next: client.Transport, limit: askBytes},
		Timeout:   fetchTime,
		// A redirect would carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return a, errors.Join(problems...)
}

func (a *introspector) setEndpoint(issuer, location string) {
	if old := a.endpoint.Load(); old != nil && old.url == location {
		return
	}
	a.endpoint.Store(&endpoint{
		url:    location,
		prefix: sha256.Sum256([]byte(issuer + "\x00" + location + "\x00" + a.config.ClientID)), // URLs hold no NUL
	})
}

// key is what an answer is remembered by (T16).
func (e *endpoint) key(token string) [sha256.Size]byte {
	var buf [2 << 10]byte // most tokens fit, and then nothing is allocated
	return sha256.Sum256(append(append(buf[:0], e.prefix[:]...), token...))
}

// recall returns what is known of a token; the verdict's zero value if nothing is.
func (a *introspector) recall(token string, now time.Time) verdict {
	e := a.endpoint.Load()
	if e == nil {
		return verdict{}
	}
	return a.known.get(e.key(token), now)
}

// ask has the issuer say whether a token is good. Callers with the same token
// wait for one answer, and errors are not remembered (T16).
func (g *Guard) ask(ctx context.Context, i *issuer, c credential, now time.Time) (v *verified, err error) {
	a := i.asks
	e := a.endpoint.Load()
	if e == nil {
		if err := i.refresh(ctx, true); err != nil {
			var no *refusal
			if errors.As(err, &no) {
				return nil, no
			}
		}
		c.check.did(CheckIntrospection, i.url)
		if e = a.endpoint.Load(); e == nil {
			return nil, &refusal{outcome: unavailable, reason: "introspection endpoint is not known", issuer: i.url, retry: askRetry}
		}
	}
	key := e.key(c.token)
	if known := a.known.get(key, now); known.good != nil || known.bad != nil {
		return known.result()
	}
	a.mu.Lock()
	if q := a.flights[key]; q != nil {
		leave := q.join(ctx)
		a.mu.Unlock()
		c.check.did(CheckIntrospection, i.url)
		defer leave()
		select {
		case <-q.done:
			if q.err != nil {
				return nil, q.err
			}
			return q.result()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if known := a.known.get(key, now); known.good != nil || known.bad != nil { // since we looked
		a.mu.Unlock()
		return known.result()
	}
	address, err := g.spend(a, i, c, now)
	if err != nil {
		a.mu.Unlock()
		return nil, err
	}
	q := &question{fetch: g.fetches.begin(ctx), done: make(chan struct{}), err: errors.New("introspection panicked")}
	a.flights[key] = q
	a.mu.Unlock()
	c.check.did(CheckIntrospection, i.url)

	defer func() {
		a.mu.Lock()
		delete(a.flights, key)
		a.mu.Unlock()
		close(q.done)
		q.end()
	}()
	q.verdict, q.err = g.question(q.ctx, i, e, c.token)
	if q.err == nil {
		a.known.put(key, q.verdict, now)
		v, err = q.result()
	} else {
		err = q.err
	}
	if address.IsValid() && !costsAddress(err) {
		a.addresses.giveBack(address) // good tokens are nobody's flood, nor are those of an outage
	}
	return v, err
}

// spend takes a question from the budget of the caller's address, if that is
// known, and from that of the guard; the caller holds a.mu.
func (g *Guard) spend(a *introspector, i *issuer, c credential, now time.Time) (netip.Addr, error) {
	var address netip.Addr
	if g.address != nil && c.request != nil {
		if from, ok := g.address(c.request); ok {
			address = from
			if wait := a.addresses.take(address, now); wait > 0 {
				return address, &refusal{outcome: tooMany, reason: "too many unknown tokens from one address", issuer: i.url, retry: wait}
			}
		}
	}
	if wait := a.bucket.take(now, a.rate); wait > 0 {
		if address.IsValid() {
			a.addresses.giveBack(address)
		}
		return address, &refusal{outcome: unavailable, reason: "too many unknown tokens", issuer: i.url, retry: wait}
	}
	return address, nil
}

// question asks, and judges the answer.
func (g *Guard) question(ctx context.Context, i *issuer, e *endpoint, token string) (verdict, error) {
	status, text, err := i.asks.send(ctx, e.url, token)
	now := g.now()
	if err == nil && status != http.StatusOK && !(i.asks.config.TokenInfo && status == http.StatusBadRequest) {
		err = fmt.Errorf("status %d", status)
	}
	if ctx.Err() == nil { // else nobody wants to know any more
		i.note(ctx, err)
	}
	if err != nil {
		return verdict{}, &refusal{
			outcome: unavailable, reason: "introspection failed", issuer: i.url, retry: askRetry,
			costs: status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge, // which the token may have caused
		}
	}
	no := func(err error) (verdict, error) {
		var r *refusal
		if !errors.As(err, &r) {
			r = refuse("malformed answer")
		}
		return verdict{bad: &refusal{outcome: r.outcome, reason: r.reason, issuer: i.url}, until: now.Add(inactiveTime).UnixNano()}, nil
	}
	if status != http.StatusOK {
		return no(refuse("not active"))
	}
	c, err := i.readAnswer(text)
	if err == nil {
		err = i.check(&c, now)
	}
	if err != nil {
		return no(err)
	}
	v := g.admit(ctx, i, c, nil, now)
	return verdict{good: v, until: min(v.until, now.Add(activeTime).UnixNano())}, nil
}

// note keeps the last error of a question for the operator's eyes, and logs the
// first of a row.
func (i *issuer) note(ctx context.Context, err error) {
	i.mu.Lock()
	first := err != nil && i.err == nil
	i.err = err
	i.mu.Unlock()
	if first {
		i.warn(ctx, "introspection failed", err)
	}
}

// send posts the question. Nothing of an error is from the request's body.
func (a *introspector) send(ctx context.Context, location, token string) (int, []byte, error) {
	form := url.Values{}
	if a.config.TokenInfo {
		form.Set("access_token", token)
	} else {
		form.Set("token", token)
		form.Set("token_type_hint", "access_token")
	}
	var secret string
	if a.config.ClientID != "" {
		var err error
		if secret, err = a.config.ClientSecret(); err != nil {
			return 0, nil, errors.New("the client secret can't be read") // the error may hold more than a log should (Z8)
		}
		if a.config.Method == ClientSecretPost {
			form.Set("client_id", a.config.ClientID)
			form.Set("client_secret", secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, location, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	// Not sent, but net/http then tries again if the server has closed the connection that was kept.
	req.Header["Idempotency-Key"] = []string{}
	if a.config.ClientID != "" && a.config.Method == ClientSecretBasic {
		req.SetBasicAuth(url.QueryEscape(a.config.ClientID), url.QueryEscape(secret)) // RFC 6749 section 2.3.1
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// readAnswer reads RFC 7662 section 2.2. Only the boolean true makes a token
// active (T15).
func (i *issuer) readAnswer(text []byte) (claims, error) {
	var c claims
	if err := checkObject(text); err != nil {
		return c, err
	}
	active := false
	kind := ""
	for name, value := range jsonscan.Members(text) {
		ok := true
		switch string(name) {
		case "active":
			active = string(value) == "true"
		case "token_type":
			kind, ok = text1(value)
		default:
			ok = !isVariant(name, "active", "token_type")
		}
		if !ok {
			return c, refuse("malformed answer")
		}
	}
	text = numberTimes(text)
	if i.asks.config.TokenInfo {
		active = jsonscan.Lookup(text, "aud") != nil && jsonscan.Lookup(text, "exp") != nil
	}
	if !active {
		return c, refuse("not active")
	}
	if err := c.read(text); err != nil {
		return c, err
	}
	switch {
	case i.asks.config.TokenInfo && c.subject == "":
		return c, refuse("no subject") // its client is shared by everybody who did not grant "openid"
	case c.issuer != "" && c.issuer != i.url:
		return c, refuse("active, but of another issuer")
	case kind != "" && !IsBearerType(kind) && !strings.EqualFold(kind, "DPoP"):
		return c, refuse("token type not accepted")
	case strings.EqualFold(kind, "DPoP") && !c.bound:
		return c, refuse("bound to a key that is not named")
	}
	return c, nil
}

// numberTimes makes times that are strings, as Google's tokeninfo and some
// servers of RFC 7662 write them, the numbers that they are elsewhere. In a JWT
// they stay what they are: RFC 7519 has numbers alone, and who signs one says
// exactly that.
func numberTimes(text []byte) []byte {
	isTime := func(name, value []byte) bool {
		switch string(name) {
		case "exp", "iat", "nbf":
			s, ok := text1(value)
			return ok && isDecimal(s)
		}
		return false
	}
	found := false
	for name, value := range jsonscan.Members(text) {
		found = found || isTime(name, value)
	}
	if !found {
		return text
	}
	out := []byte{'{'}
	for name, value := range jsonscan.Members(text) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, name), ':')
		if isTime(name, value) {
			value = jsonscan.Unquote(value)
		}
		out = append(out, value...)
	}
	return append(out, '}')
}

// isDecimal reports whether a text is a JSON number without sign and exponent.
func isDecimal(s string) bool {
	whole, fraction, found := strings.Cut(s, ".")
	return isDigits(whole) && (!found || fraction != "" && strings.Trim(fraction, "0123456789") == "")
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}

// IsBearerType reports whether a "token_type" of an answer names a bearer token
// (RFC 6750). Its case does not matter (RFC 6749 section 5.1); some servers
// write BearerToken, or a space behind it. Nothing else is one: a DPoP token is
// no good without its key.
func IsBearerType(kind string) bool {
	kind = strings.Trim(kind, " \t")
	return strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "BearerToken")
}
