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
	introspectionBytes = 64 << 10
	activeTTL          = 60 * time.Second // lifetime of an active result, unless "exp" is earlier
	inactiveTTL        = 10 * time.Second
	introspectionRetry = 5 * time.Second // Retry-After of a 503
	defaultRate        = 100
	maxRate            = 10_000
)

// Introspection configures the introspection of opaque tokens (RFC 7662).
type Introspection struct {
	// Endpoint is the introspection endpoint: https, or http on a loopback host. If empty, it is
	// taken from the issuer's metadata.
	Endpoint string
	// ClientID is the gateway's client id at the issuer. If empty, the gateway does not
	// authenticate, for an endpoint that is not reachable by others.
	ClientID string
	// ClientSecret returns the current secret of that client. It is called for each request.
	ClientSecret func() (string, error)
	// Method is the client authentication method.
	Method ClientAuth
	// Rate is the limit of introspection requests per second, with a burst of five times as many;
	// beyond it, uncached tokens get 503. Each client address may use a twentieth of it for invalid
	// tokens. The default is 100, the maximum 10,000.
	Rate int
	// TokenInfo uses the protocol of Google's tokeninfo endpoint, which is older than RFC 7662: the
	// token is the form parameter access_token, there is no client authentication, status 400 marks
	// an invalid token, and a response with audience and expiry a valid one.
	TokenInfo bool
}

// ClientAuth is a client authentication method (RFC 6749 section 2.3.1).
type ClientAuth uint8

// Client authentication methods.
const (
	// ClientSecretBasic sends id and secret in the Authorization header.
	ClientSecretBasic ClientAuth = iota
	// ClientSecretPost sends them as parameters of the form.
	ClientSecretPost
)

// introspector introspects the tokens of an issuer and caches the results.
type introspector struct {
	config   Introspection
	fixed    bool // the endpoint is configured
	endpoint atomic.Pointer[introspectionEndpoint]
	client   *http.Client
	now      func() time.Time
	rate     rate
	cache    introspectionCache

	mu       sync.Mutex
	inFlight map[[32]byte]*introspectionCall
	limit    bucket

	addressLimit addressBuckets
}

// introspectionEndpoint is an endpoint with the prefix of its cache keys, which covers issuer,
// endpoint and client, so that no result is used for another combination (T16).
type introspectionEndpoint struct {
	url    string
	prefix [sha256.Size]byte
}

// introspectionCall is a request in flight that all callers with the same token wait for.
type introspectionCall struct {
	*fetch
	done chan struct{}
	introspectionResult
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
	a := &introspector{config: *c.Introspection, now: now, inFlight: make(map[[32]byte]*introspectionCall)}
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
	a.addressLimit.rate = rate{size: 5 * each, refill: time.Second / time.Duration(each)}
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
		Transport: &limitedTransport{next: client.Transport, limit: introspectionBytes},
		Timeout:   fetchTime,
		// A redirect would send the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return a, errors.Join(problems...)
}

func (a *introspector) setEndpoint(issuer, location string) {
	if old := a.endpoint.Load(); old != nil && old.url == location {
		return
	}
	a.endpoint.Store(&introspectionEndpoint{
		url:    location,
		prefix: sha256.Sum256([]byte(issuer + "\x00" + location + "\x00" + a.config.ClientID)), // URLs hold no NUL
	})
}

// key is the cache key of a token (T16).
func (e *introspectionEndpoint) key(token string) [sha256.Size]byte {
	var buf [2 << 10]byte // most tokens fit, and then nothing is allocated
	return sha256.Sum256(append(append(buf[:0], e.prefix[:]...), token...))
}

// cached returns the cached result for a token, or the zero value.
func (a *introspector) cached(token string, now time.Time) introspectionResult {
	e := a.endpoint.Load()
	if e == nil {
		return introspectionResult{}
	}
	return a.cache.get(e.key(token), now)
}

// introspect introspects a token, or uses the cached result. Callers with the same token wait for
// one request, and errors are not cached (T16).
func (g *Guard) introspect(ctx context.Context, i *issuer, c credential, now time.Time) (v *verified, err error) {
	a := i.introspector
	e := a.endpoint.Load()
	if e == nil {
		if e, err = i.discoverIntrospection(ctx, c); err != nil {
			return nil, err
		}
	}
	key := e.key(c.token)
	if cached := a.cache.get(key, now); cached.verified != nil || cached.rejected != nil {
		return cached.result()
	}
	a.mu.Lock()
	if call := a.inFlight[key]; call != nil {
		leave := call.addWaiter(ctx)
		a.mu.Unlock()
		c.check.record(CheckIntrospection, i.url)
		defer leave()
		return call.wait(ctx)
	}
	if cached := a.cache.get(key, now); cached.verified != nil || cached.rejected != nil { // another caller has finished in the meantime
		a.mu.Unlock()
		return cached.result()
	}
	address, err := g.charge(a, i, c, now)
	if err != nil {
		a.mu.Unlock()
		return nil, err
	}
	call := &introspectionCall{fetch: g.fetches.start(ctx), done: make(chan struct{}), err: errors.New("introspection panicked")}
	a.inFlight[key] = call
	a.mu.Unlock()
	c.check.record(CheckIntrospection, i.url)

	defer func() {
		a.mu.Lock()
		delete(a.inFlight, key)
		a.mu.Unlock()
		close(call.done)
		call.finish()
	}()
	call.introspectionResult, call.err = g.introspectRemote(call.ctx, i, e, c.token)
	if call.err == nil {
		a.cache.put(key, call.introspectionResult, now)
		v, err = call.result()
	} else {
		err = call.err
	}
	if address.IsValid() && !chargesAddress(err) {
		a.addressLimit.refund(address) // valid tokens are never charged, nor are tokens during an outage
	}
	return v, err
}

// discoverIntrospection refreshes the issuer's metadata to learn the introspection endpoint.
func (i *issuer) discoverIntrospection(ctx context.Context, c credential) (*introspectionEndpoint, error) {
	if err := i.refresh(ctx, true); err != nil {
		var rejected *rejection
		if errors.As(err, &rejected) {
			return nil, rejected
		}
	}
	c.check.record(CheckIntrospection, i.url)
	e := i.introspector.endpoint.Load()
	if e == nil {
		return nil, &rejection{outcome: unavailable, reason: "introspection endpoint is not known", issuer: i.url, retryAfter: introspectionRetry}
	}
	return e, nil
}

// wait returns the result of a request that another caller has sent.
func (call *introspectionCall) wait(ctx context.Context) (*verified, error) {
	select {
	case <-call.done:
		if call.err != nil {
			return nil, call.err
		}
		return call.result()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// charge charges a request to the budget of the caller's address, if that is known, and to that of
// the guard. The caller holds a.mu.
func (g *Guard) charge(a *introspector, i *issuer, c credential, now time.Time) (netip.Addr, error) {
	var address netip.Addr
	if g.clientAddress != nil && c.request != nil {
		if from, ok := g.clientAddress(c.request); ok {
			address = from
			if wait := a.addressLimit.take(address, now); wait > 0 {
				return address, &rejection{outcome: tooMany, reason: "too many unknown tokens from one address", issuer: i.url, retryAfter: wait}
			}
		}
	}
	if wait := a.limit.take(now, a.rate); wait > 0 {
		if address.IsValid() {
			a.addressLimit.refund(address)
		}
		return address, &rejection{outcome: unavailable, reason: "too many unknown tokens", issuer: i.url, retryAfter: wait}
	}
	return address, nil
}

// introspectRemote sends the request and evaluates the response.
func (g *Guard) introspectRemote(ctx context.Context, i *issuer, e *introspectionEndpoint, token string) (introspectionResult, error) {
	status, text, err := i.introspector.post(ctx, e.url, token)
	now := g.now()
	if err == nil && status != http.StatusOK && !(i.introspector.config.TokenInfo && status == http.StatusBadRequest) {
		err = fmt.Errorf("status %d", status)
	}
	if ctx.Err() == nil { // otherwise no caller is left
		i.recordError(ctx, err)
	}
	if err != nil {
		return introspectionResult{}, &rejection{
			outcome: unavailable, reason: "introspection failed", issuer: i.url, retryAfter: introspectionRetry,
			charged: status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge, // which the token may have caused
		}
	}
	rejected := func(err error) (introspectionResult, error) {
		var r *rejection
		if !errors.As(err, &r) {
			r = reject("malformed answer")
		}
		return introspectionResult{rejected: &rejection{outcome: r.outcome, reason: r.reason, issuer: i.url}, until: now.Add(inactiveTTL).UnixNano()}, nil
	}
	if status != http.StatusOK {
		return rejected(reject("not active"))
	}
	c, err := i.parseIntrospection(text)
	if err == nil {
		err = i.checkClaims(&c, now)
	}
	if err != nil {
		return rejected(err)
	}
	v := g.newVerified(ctx, i, c, nil, now)
	return introspectionResult{verified: v, until: min(v.until, now.Add(activeTTL).UnixNano())}, nil
}

// recordError keeps the last error for Status, and logs the first of a series.
func (i *issuer) recordError(ctx context.Context, err error) {
	i.mu.Lock()
	first := err != nil && i.err == nil
	i.err = err
	i.mu.Unlock()
	if first {
		i.warn(ctx, "introspection failed", err)
	}
}

// post sends the request. Its errors hold nothing of the request's body.
func (a *introspector) post(ctx context.Context, location, token string) (int, []byte, error) {
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
	// Not sent, but lets net/http retry if the server has closed a kept-alive connection.
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

// parseIntrospection reads the response of RFC 7662 section 2.2. Only the boolean true makes a
// token active (T15).
func (i *issuer) parseIntrospection(text []byte) (claims, error) {
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
			kind, ok = stringValue(value)
		default:
			ok = !isConfusable(name, "active", "token_type")
		}
		if !ok {
			return c, reject("malformed answer")
		}
	}
	text = normalizeTimes(text)
	if i.introspector.config.TokenInfo {
		active = jsonscan.Lookup(text, "aud") != nil && jsonscan.Lookup(text, "exp") != nil
	}
	if !active {
		return c, reject("not active")
	}
	if err := c.parse(text); err != nil {
		return c, err
	}
	switch {
	case i.introspector.config.TokenInfo && c.subject == "":
		return c, reject("no subject") // its client is shared by all users that did not grant "openid"
	case c.issuer != "" && c.issuer != i.url:
		return c, reject("active, but of another issuer")
	case kind != "" && !IsBearerType(kind) && !strings.EqualFold(kind, "DPoP"):
		return c, reject("token type not accepted")
	case strings.EqualFold(kind, "DPoP") && !c.bound:
		return c, reject("bound to a key that is not named")
	}
	return c, nil
}

// normalizeTimes converts times that are strings, as written by Google's tokeninfo and some servers
// of RFC 7662, to numbers. It is not applied to JWTs, where RFC 7519 allows numbers only.
func normalizeTimes(text []byte) []byte {
	isTime := func(name, value []byte) bool {
		switch string(name) {
		case "exp", "iat", "nbf":
			s, ok := stringValue(value)
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

// isDecimal reports whether s is a JSON number without sign and exponent.
func isDecimal(s string) bool {
	whole, fraction, found := strings.Cut(s, ".")
	return isDigits(whole) && (!found || fraction != "" && strings.Trim(fraction, "0123456789") == "")
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}

// IsBearerType reports whether a "token_type" is that of a bearer token (RFC 6750). Case does not
// matter (RFC 6749 section 5.1), and some servers write BearerToken or a trailing space. No other
// type is accepted: a DPoP token is useless without its key.
func IsBearerType(kind string) bool {
	kind = strings.Trim(kind, " \t")
	return strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "BearerToken")
}
