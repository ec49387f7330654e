package credential

import (
	"context"
	"net/http"
	"testing"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/authtest"
)

// answer is a transport that costs nothing.
type answer struct{ response *http.Response }

func (a *answer) RoundTrip(*http.Request) (*http.Response, error) { return a.response, nil }

// kept are transports that need nothing new for a request: what is sent was
// rendered, got or signed before. Each comes with the context of its requests
// and the allocations of one: the copy of the request and that of its header
// (a map of two groups, where it grows), and for a query or a cookie the new text.
func kept(t testing.TB) map[string]struct {
	wrap        func(http.RoundTripper) http.RoundTripper
	ctx         context.Context
	allocations float64
} {
	t.Helper()
	s, e := issuer(t, authtest.Options{AccessLife: 24 * time.Hour})
	token, err := s.Issue(authtest.Token{Subject: "alice"}) // a JWT of some 400 bytes, the digest of which is a part of the key
	if err != nil {
		t.Fatal(err)
	}
	set := testSet(t, false)
	choice, err := set.Choose([][]string{{"oauth"}})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	i, err := NewIdentity(IdentityOptions{Issuer: "https://mcp.example.com", Files: []string{writePEM(t, "", ecKey(t))}, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	introduce, err := i.For(IdentityUse{Audience: "orders", Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	inbound := http.Header{"X-Tenant": {"acme"}}
	pass, err := NewPassThrough(PassThroughOptions{Headers: plain("X-Tenant"), Origin: origin0(), Inbound: func(context.Context) http.Header { return inbound }})
	if err != nil {
		t.Fatal(err)
	}
	ctx := auth.NewContext(as(t.Context(), token, "https://idp.example.com|alice"), &auth.Principal{Subject: "alice"})
	elsewhere := mustNew(t, Options{Kind: Bearer, Token: Fixed("s3cret"), Origin: mustURL(t, "https://billing.example.com")})
	return map[string]struct {
		wrap        func(http.RoundTripper) http.RoundTripper
		ctx         context.Context
		allocations float64
	}{
		"Bearer":            {mustNew(t, Options{Kind: Bearer, Token: Fixed("s3cret"), Origin: origin0()}), ctx, 3},
		"Query":             {mustNew(t, Options{Kind: APIKey, In: Query, Name: "k", Key: Fixed("s3cret"), Origin: origin0()}), ctx, 3},
		"ClientCredentials": {mustNew(t, clientCredentials(tokenURL(s), e.client())), ctx, 3},
		"Choice":            {set.Wrap, choice.Context(ctx), 3},
		"TokenExchange":     {mustNew(t, exchangeOptions(tokenURL(s), e.client())), ctx, 4},
		"Identity":          {introduce, ctx, 3},
		"Pass":              {pass, ctx, 3},
		"OtherOrigin":       {elsewhere, ctx, 0},
	}
}

// ready returns a request that has been sent once.
func ready(t testing.TB, ctx context.Context, rt http.RoundTripper) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://orders.example.com/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "drawbridge")
	if _, err := rt.RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	return req
}

// TestAllocations holds what a credential costs a call.
func TestAllocations(t *testing.T) {
	for name, c := range kept(t) {
		rt := c.wrap(&answer{&http.Response{StatusCode: http.StatusOK}})
		req := ready(t, c.ctx, rt)
		got := testing.AllocsPerRun(200, func() {
			if _, err := rt.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.allocations {
			t.Errorf("%s: %v allocations, %v are good", name, got, c.allocations)
		}
	}
}

// BenchmarkKept is what a credential adds to a call.
func BenchmarkKept(b *testing.B) {
	for name, c := range kept(b) {
		b.Run(name, func(b *testing.B) {
			rt := c.wrap(&answer{&http.Response{StatusCode: http.StatusOK}})
			req := ready(b, c.ctx, rt)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rt.RoundTrip(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMint is an identity that is made, once in half a minute for each caller and service.
func BenchmarkMint(b *testing.B) {
	i, _, _ := newIdentity(b, nil, writePEM(b, "", ecKey(b)))
	p := &auth.Principal{Issuer: "https://idp.example.com", Subject: "alice", Scopes: []string{"a", "b"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := i.mint(p, "orders", time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallers is a cached token among ten thousand callers, asked for by all cores.
func BenchmarkCallers(b *testing.B) {
	now := time.Now()
	s := &tokenCache{maxEntries: maxCallers}
	f := &stub{bytes: 1 << 10, now: now}
	clock := func() time.Time { return now }
	ctx := b.Context()
	key := func(n int) tokenKey {
		k := tokenKey{principal: "https://idp.example.com|user"}
		k.token[0], k.token[1] = byte(n), byte(n>>8)
		return k
	}
	for n := range maxCallers {
		if _, _, err := s.source(key(n), now).get(ctx, f, clock, "", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			if _, _, err := s.source(key(n*7919%maxCallers), now).get(ctx, f, clock, "", nil); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
