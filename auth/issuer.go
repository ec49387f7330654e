package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

// issuer is an authorization server: its rules and its keys.
type issuer struct {
	url              string
	directory        string   // required "tid"; "" for any
	audiences        []string // canonical
	impliedAudiences bool     // the audiences are the gateway's endpoints, not configured
	clientIDs        []string
	requireClient    bool
	requireSub       bool
	idTokenMarks     idTokenClaims // claims that mark an ID token
	scopeClaims      []string      // nil for the default
	algorithms       []jose.SignatureAlgorithm
	types            []string // lower case
	skew             time.Duration
	maxLifetime      time.Duration // no limit if 0
	dpop             DPoPMode
	introspector     *introspector // nil if the tokens are JWTs
	client           *http.Client
	fetches          *fetchGroup // of the guard
	now              func() time.Time
	log              *slog.Logger

	keys    atomic.Pointer[keySet] // nil until fetched
	fetched atomic.Int64           // time of the last success, Unix ns

	mu           sync.Mutex
	flight       *flight // the fetch in flight
	refreshLimit bucket
	err          error // of the last fetch

	longLived atomic.Bool // a warning about long-lived tokens was logged

	tried    atomic.Bool // a fetch has ended
	kept     *keptRecord // nil if nothing is kept
	restored atomic.Bool // keys or endpoint are those of the store

	// Used by the fetch in flight only.
	jwksURL    string
	discovered time.Time
	storeRead  bool
	fromStore  *keyRecord
}

func newIssuer(c Issuer, client *http.Client, all *fetchGroup, now func() time.Time, log *slog.Logger) (*issuer, error) {
	i := &issuer{
		url: c.URL, directory: c.Directory, clientIDs: slices.Clone(c.ClientIDs), requireClient: c.RequireClient, requireSub: c.RequireSubject, scopeClaims: slices.Clone(c.ScopeClaims),
		skew: cmp.Or(c.Skew, time.Minute), maxLifetime: c.MaxLifetime, dpop: c.DPoP, fetches: all, now: now, log: log,
	}
	if c.Store != nil {
		i.kept = newKeptRecord(c.Store)
	}
	var problems []error
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(c.URL, "?#| \"\\") {
		problems = append(problems, errors.New("not an absolute URL without user, query and fragment"))
	} else if err := checkFetchURL(u); err != nil {
		problems = append(problems, err)
	}
	if i.skew < 0 || i.skew > maxSkew {
		problems = append(problems, fmt.Errorf("skew %s is not between 0 and %s", i.skew, maxSkew))
	}
	if c.MaxLifetime < 0 {
		problems = append(problems, fmt.Errorf("max lifetime %s is negative", c.MaxLifetime))
	}
	if slices.Contains(c.ClientIDs, "") {
		problems = append(problems, errors.New("empty client id"))
	}
	for _, name := range c.ScopeClaims {
		if strings.Trim(name, "/") == "" {
			problems = append(problems, fmt.Errorf("scope claim %q is no name and no JSON Pointer", name))
		}
	}
	if i.idTokenMarks, err = parseIDTokenClaims(c.IDTokenClaims); err != nil {
		problems = append(problems, err)
	}
	for _, a := range c.Audiences {
		if a == "" {
			problems = append(problems, errors.New("empty audience"))
		}
		i.audiences = append(i.audiences, canonicalAudience(a))
	}
	i.algorithms = defaultAlgorithms()
	if len(c.Algorithms) > 0 {
		known := i.algorithms
		i.algorithms = nil
		for _, name := range c.Algorithms {
			a := jose.SignatureAlgorithm(name)
			if !slices.Contains(known, a) {
				problems = append(problems, fmt.Errorf("algorithm %q is not supported", name))
			}
			i.algorithms = append(i.algorithms, a)
		}
	}
	i.types = []string{"at+jwt", "application/at+jwt"}
	for _, t := range c.Types {
		i.types = append(i.types, strings.ToLower(t))
	}
	i.client = &http.Client{
		Transport:     &limitedTransport{next: client.Transport, limit: fetchBytes},
		CheckRedirect: sameOrigin,
		Timeout:       fetchTime,
	}
	if i.introspector, err = newIntrospector(c, client, now); err != nil {
		problems = append(problems, err)
	}
	return i, errors.Join(problems...)
}

// inherit takes over the keys or endpoint that the previous guard has fetched from this issuer, so
// that a change of the rules for its tokens does not depend on its availability (T12). Metadata is
// discovered anew.
func (i *issuer) inherit(from *Guard) {
	if from == nil || from.issuers[i.url] == nil {
		return
	}
	old := from.issuers[i.url]
	switch {
	case i.introspector == nil && old.introspector == nil:
		i.fetched.Store(old.fetched.Load()) // before the keys, as in a fetch: the keys are never older than this time
		i.keys.Store(old.keys.Load())
		i.tried.Store(old.tried.Load())
		i.restored.Store(old.restored.Load())
	case i.introspector != nil && old.introspector != nil && !i.introspector.fixed && !old.introspector.fixed:
		if e := old.introspector.endpoint.Load(); e != nil {
			i.fetched.Store(old.fetched.Load())
			i.introspector.setEndpoint(i.url, e.url)
			i.tried.Store(old.tried.Load())
			i.restored.Store(old.restored.Load())
		}
	}
}

// able reports whether tokens of the issuer can be verified: there are keys that are not too old, or an introspection endpoint to ask.
func (i *issuer) able() bool {
	if i.introspector != nil {
		return i.introspector.endpoint.Load() != nil
	}
	keys := i.currentKeys(i.now())
	return keys != nil && len(keys.keys) > 0
}

// fixed reports whether nothing is ever fetched, because the introspection endpoint is configured.
func (i *issuer) fixed() bool { return i.introspector != nil && i.introspector.fixed }

// checkFetchURL requires https, except on loopback (T13).
func checkFetchURL(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && origin.Loopback(u.Hostname()) {
		return nil
	}
	return errors.New("only https is fetched, and http on a loopback host")
}

// sameOrigin is the redirect rule for what is fetched from issuers.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if !origin.Same(req.URL, via[0].URL) {
		return errors.New("redirect to another origin")
	}
	if len(via) > fetchRedirects {
		return fmt.Errorf("more than %d redirects", fetchRedirects)
	}
	return nil
}

// limitedTransport limits the size of responses, which go-oidc reads without a limit.
type limitedTransport struct {
	next  http.RoundTripper
	limit int // bytes
}

// RoundTrip implements [http.RoundTripper].
func (c *limitedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, limit: c.limit, left: c.limit}
	return resp, nil
}

type limitedBody struct {
	io.ReadCloser
	limit, left int
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("answer of more than %d bytes", b.limit)
	}
	return n, err
}

// currentKeys returns the keys that are valid at a time, nil if none were fetched or the last
// success is too long ago (T12).
func (i *issuer) currentKeys(now time.Time) *keySet {
	if now.UnixNano()-i.fetched.Load() > int64(staleAfter) {
		return nil
	}
	return i.keys.Load()
}

func (i *issuer) status() Status {
	s := Status{Issuer: i.url, Fixed: i.fixed(), Opaque: i.introspector != nil, Tried: i.fixed() || i.tried.Load(), Able: i.able(), Stored: i.restored.Load()}
	if keys := i.currentKeys(i.now()); keys != nil {
		s.Keys = len(keys.keys)
	}
	if at := i.fetched.Load(); at != 0 {
		s.Fetched = time.Unix(0, at)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	s.Err = i.err
	return s
}

// refreshLoop fetches the keys at once and then every few minutes, so that a removed key stops
// verifying (T11). It retries sooner after a failure.
func (i *issuer) refreshLoop(ctx context.Context) {
	if i.fixed() {
		return
	}
	backoff := firstBackoff
	for {
		wait := refreshEvery
		if err := i.refreshRecovering(ctx); err != nil {
			last := lastBackoff
			if !i.able() { // the gateway may not be ready until it is
				last = lastBackoffWithoutKeys
			}
			wait = min(backoff, last)
			backoff = min(2*backoff, lastBackoff)
		} else {
			backoff = firstBackoff
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// refreshRecovering is refresh for a background goroutine, where a panic would end the process.
func (i *issuer) refreshRecovering(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			i.warn(ctx, "keys or metadata of issuer not fetched", fmt.Errorf("%w\n%s", err, debug.Stack()))
		}
	}()
	return i.refresh(ctx, false)
}

// flight is a fetch that all callers wait for.
type flight struct {
	*fetch
	done chan struct{}
	err  error
}

// refresh fetches the keys, or waits for the fetch in flight. If limited, for fetches caused by a
// token, the rate limit applies (T10).
func (i *issuer) refresh(ctx context.Context, limited bool) error {
	i.mu.Lock()
	if f := i.flight; f != nil {
		leave := f.addWaiter(ctx)
		i.mu.Unlock()
		defer leave()
		select {
		case <-f.done:
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if limited {
		if wait := i.refreshLimit.take(i.now(), unknownKeyRate()); wait > 0 {
			i.mu.Unlock()
			return &rejection{outcome: unavailable, reason: "too many unknown keys", issuer: i.url, retryAfter: wait, charged: i.err == nil}
		}
	}
	f := &flight{fetch: i.fetches.start(ctx), done: make(chan struct{}), err: errors.New("fetch panicked")}
	i.flight = f
	i.mu.Unlock()

	defer func() {
		i.mu.Lock()
		i.flight, i.err = nil, f.err
		i.mu.Unlock()
		if f.err == nil || f.ctx.Err() == nil {
			i.tried.Store(true)
		}
		close(f.done)
		f.finish()
	}()
	f.err = i.fetch(f.ctx)
	if f.err != nil && f.ctx.Err() == nil {
		i.warn(ctx, "keys or metadata of issuer not fetched", f.err)
		i.restore(f.ctx)
	}
	return f.err
}

func (i *issuer) warn(ctx context.Context, message string, err error) {
	i.log.LogAttrs(ctx, slog.LevelWarn, message, //nolint:sloglint // one of two constants
		slog.String("issuer", i.url), slog.String("error", shorten(err.Error())))
}

// shorten truncates an error text: that of go-oidc holds the whole response.
func shorten(s string) string {
	const limit = 300 // bytes
	return text.Truncate(s, limit)
}

// fetch fetches the key set and stores it. For opaque tokens it only discovers the introspection
// endpoint.
func (i *issuer) fetch(ctx context.Context) error {
	start := i.now()
	if i.introspector != nil {
		if i.introspector.endpoint.Load() != nil && start.Sub(i.discovered) <= rediscover {
			return nil
		}
		document, err := i.discover(ctx)
		if err != nil {
			return err
		}
		return i.setIntrospectionEndpoint(document, start)
	}
	if i.jwksURL == "" || start.Sub(i.discovered) > rediscover {
		document, err := i.discover(ctx)
		if err == nil {
			err = i.setKeySetURL(document, start)
		}
		if err != nil && i.jwksURL == "" {
			if r := i.stored(ctx); r != nil {
				i.jwksURL = r.jwksURL
			}
			if i.jwksURL == "" {
				return err
			}
		}
	}
	data, err := i.get(ctx, i.jwksURL)
	if err != nil {
		i.discovered = time.Time{} // it may have moved
		return fmt.Errorf("fetch key set: %w", err)
	}
	set, err := parseKeySet(data)
	if err != nil {
		return fmt.Errorf("read key set: %w", err)
	}
	if len(set.keys) == 0 {
		i.log.LogAttrs(ctx, slog.LevelWarn, "issuer has no usable keys", slog.String("issuer", i.url))
	}
	if old := i.keys.Load(); old == nil || old.digest != set.digest {
		set.after(old)
		i.keys.Store(set) // a new pointer would invalidate the token cache
	}
	i.fetched.Store(start.UnixNano())
	i.keep(&keyRecord{jwksURL: i.jwksURL, keys: i.keys.Load(), fetched: start})
	return nil
}

// stored returns the usable record of the store, nil if there is none. It is read once, by the fetch in flight.
func (i *issuer) stored(ctx context.Context) *keyRecord {
	if i.kept == nil || i.storeRead {
		return i.fromStore
	}
	text, err := i.kept.store.Load(ctx)
	if ctx.Err() != nil {
		return nil // it is read by the next fetch
	}
	i.storeRead = true
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r *keyRecord
	if err == nil {
		r, err = parseKeyRecord(text, i.url, i.now())
	}
	switch {
	case err != nil:
	case i.introspector != nil:
		err = i.checkEndpoint("introspection_endpoint", r.introspection)
	case r.keys == nil:
		err = errors.New("it has no key set")
	default:
		err = i.checkEndpoint("jwks_uri", r.jwksURL)
	}
	if err != nil {
		i.warn(ctx, "stored keys or metadata of issuer not used", err)
		return nil
	}
	i.fromStore = r
	return r
}

// restore uses the record of the store after the first fetch has failed. Before that a stored key is not used, since the
// issuer may have withdrawn it (T11).
func (i *issuer) restore(ctx context.Context) {
	if i.introspector != nil && i.introspector.endpoint.Load() != nil || i.introspector == nil && i.keys.Load() != nil {
		return
	}
	r := i.stored(ctx)
	switch {
	case r == nil || i.now().Sub(r.fetched) > staleAfter:
		return
	case i.introspector != nil:
		i.introspector.setEndpoint(i.url, r.introspection)
		i.fetched.Store(r.fetched.UnixNano())
	case len(r.keys.keys) == 0:
		return
	default:
		i.fetched.Store(r.fetched.UnixNano()) // before the keys, as in a fetch
		i.keys.Store(r.keys)
	}
	i.restored.Store(true)
	i.log.LogAttrs(ctx, slog.LevelWarn, "stored keys or metadata of issuer are used until it responds",
		slog.String("issuer", i.url), slog.Time("fetched", r.fetched))
}

// keep has a record stored, if there is a store.
func (i *issuer) keep(r *keyRecord) {
	i.restored.Store(false)
	if i.kept != nil {
		i.kept.put(r)
	}
}

func (i *issuer) get(ctx context.Context, location string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, application/jwk-set+json")
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return io.ReadAll(resp.Body)
}
