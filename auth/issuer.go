package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// Limits on what is fetched from an authorization server (T11 to T13).
const (
	fetchTime      = 2 * time.Second
	fetchBytes     = 256 << 10
	fetchRedirects = 3
	refreshEvery   = 5 * time.Minute
	staleAfter     = 24 * time.Hour
	rediscover     = time.Hour
	firstBackoff   = time.Second
	lastBackoff    = time.Minute
	bucketSize     = 5 // fetches for unknown keys
	bucketRefill   = 10 * time.Second
)

// issuer is an authorization server: its rules and its keys.
type issuer struct {
	url        string
	audiences  []string // canonical
	algorithms []jose.SignatureAlgorithm
	types      []string // lower case
	skew       time.Duration
	client     *http.Client
	now        func() time.Time
	log        *slog.Logger

	keys    atomic.Pointer[keySet] // nil: none fetched yet
	fetched atomic.Int64           // time of the last success, Unix ns

	mu     sync.Mutex
	flight *flight // the fetch that is under way
	bucket bucket
	err    error // of the last fetch

	// Only the fetch under way uses these.
	jwksURL    string
	discovered time.Time
}

func newIssuer(c Issuer, client *http.Client, now func() time.Time, log *slog.Logger) (*issuer, error) {
	i := &issuer{url: c.URL, skew: cmp.Or(c.Skew, time.Minute), now: now, log: log}
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
		Transport:     &capped{next: client.Transport},
		CheckRedirect: sameOrigin,
		Timeout:       fetchTime,
	}
	return i, errors.Join(problems...)
}

// checkFetchURL demands https, except on loopback (T13).
func checkFetchURL(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()) {
		return nil
	}
	return errors.New("only https is fetched, and http on a loopback host")
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

func sameOrigin(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return errors.New("redirect to another origin")
	}
	if len(via) > fetchRedirects {
		return fmt.Errorf("more than %d redirects", fetchRedirects)
	}
	return nil
}

// capped limits the size of answers: go-oidc reads them to the end.
type capped struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (c *capped) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &cappedBody{ReadCloser: resp.Body, left: fetchBytes}
	return resp, nil
}

type cappedBody struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("answer of more than %d bytes", fetchBytes)
	}
	return n, err
}

// current returns the keys in force at a time, nil if there are none: none was
// fetched, or the last success is too long ago (T12).
func (i *issuer) current(now time.Time) *keySet {
	if now.UnixNano()-i.fetched.Load() > int64(staleAfter) {
		return nil
	}
	return i.keys.Load()
}

func (i *issuer) status() Status {
	s := Status{Issuer: i.url}
	if keys := i.keys.Load(); keys != nil {
		s.Keys = len(keys.keys)
		s.Fetched = time.Unix(0, i.fetched.Load())
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	s.Err = i.err
	return s
}

// keepFresh fetches the keys at once and then every few minutes, so that a
// removed key stops verifying (T11); after a failure sooner.
func (i *issuer) keepFresh(ctx context.Context) {
	backoff := firstBackoff
	for {
		wait := refreshEvery
		if err := i.refresh(ctx, false); err != nil {
			wait = backoff
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

// flight is one fetch that all who need it wait for.
type flight struct {
	done chan struct{}
	err  error
}

// refresh fetches the keys, or waits for the fetch that is under way. With
// limited set, which is for fetches that a token causes, it may refuse to (T10).
func (i *issuer) refresh(ctx context.Context, limited bool) error {
	i.mu.Lock()
	if f := i.flight; f != nil {
		i.mu.Unlock()
		select {
		case <-f.done:
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if limited {
		if wait := i.bucket.take(i.now()); wait > 0 {
			i.mu.Unlock()
			return &refusal{outcome: unavailable, reason: "too many unknown keys", issuer: i.url, retry: wait}
		}
		ctx = context.WithoutCancel(ctx) // others may wait for it too; fetches have their own limit
	}
	f := &flight{done: make(chan struct{}), err: errors.New("fetch panicked")}
	i.flight = f
	i.mu.Unlock()

	defer func() {
		i.mu.Lock()
		i.flight, i.err = nil, f.err
		i.mu.Unlock()
		close(f.done)
	}()
	f.err = i.fetch(ctx)
	if f.err != nil && ctx.Err() == nil {
		i.log.LogAttrs(ctx, slog.LevelWarn, "keys of issuer not fetched",
			slog.String("issuer", i.url), slog.String("error", shorten(f.err.Error())))
	}
	return f.err
}

// shorten cuts an error text: that of go-oidc holds the whole answer.
func shorten(s string) string {
	const limit = 300
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// fetch gets the key set and puts it in force.
func (i *issuer) fetch(ctx context.Context) error {
	start := i.now()
	if i.jwksURL == "" || start.Sub(i.discovered) > rediscover {
		if err := i.discover(ctx); err != nil && i.jwksURL == "" {
			return err
		}
	}
	data, err := i.get(ctx, i.jwksURL)
	if err != nil {
		i.discovered = time.Time{} // perhaps it has moved
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
		i.keys.Store(set) // otherwise the cached tokens would be verified anew for nothing
	}
	i.fetched.Store(start.UnixNano())
	return nil
}

// discover finds the key set by OpenID Connect discovery, which checks that the
// document is the configured issuer's own.
func (i *issuer) discover(ctx context.Context) error {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.url)
	if err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	var document struct {
		JWKSURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	u, err := url.Parse(document.JWKSURL)
	if err != nil || u.Host == "" {
		return fmt.Errorf("discover: jwks_uri %q is not an absolute URL", document.JWKSURL)
	}
	if err := checkFetchURL(u); err != nil {
		return fmt.Errorf("discover: jwks_uri %q: %w", document.JWKSURL, err)
	}
	i.jwksURL, i.discovered = document.JWKSURL, i.now()
	return nil
}

func (i *issuer) get(ctx context.Context, location string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
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

// bucket allows bucketSize fetches at once and one more each bucketRefill.
type bucket struct {
	used int       // tokens taken and not refilled
	last time.Time // when the refill was last counted
}

// take takes a token, or returns the time until there is one.
func (b *bucket) take(now time.Time) time.Duration {
	if b.used == 0 {
		b.last = now
	}
	refilled := int(min(now.Sub(b.last)/bucketRefill, bucketSize))
	if refilled > 0 {
		b.used = max(0, b.used-refilled)
		b.last = b.last.Add(time.Duration(refilled) * bucketRefill)
		if b.used == 0 {
			b.last = now
		}
	}
	if b.used == bucketSize {
		return b.last.Add(bucketRefill).Sub(now)
	}
	b.used++
	return 0
}
