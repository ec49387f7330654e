package credential

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"drawbridge/auth"
)

// The tests of this file are named after advisories about other products, and
// hold what would have gone wrong there against this package. `make cve` lists them.

const canary = "c4nary"

// chain is a transport with all that a request to the service can get, by name.
func chain(t testing.TB) map[string]func(next http.RoundTripper) http.RoundTripper {
	t.Helper()
	e := &endpoint{handler: answers(200, "application/json", `{"access_token":"got","token_type":"Bearer","issued_token_type":"`+TypeAccessToken+`"}`)}
	i, _, _ := newIdentity(t, nil, writePEM(t, "", ecKey(t)))
	introduce, err := i.For(IdentityUse{Audience: "orders", Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	pass, err := NewPassThrough(PassThroughOptions{Headers: plain("X-Tenant"), Origin: origin0(), Inbound: func(context.Context) http.Header { return http.Header{"X-Tenant": {canary}} }})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]func(next http.RoundTripper) http.RoundTripper{
		"exchange": mustNew(t, exchangeOptions("https://idp.example.com/", e.client())), "client credentials": mustNew(t, clientCredentials("https://idp.example.com/", e.client())),
		"identity": introduce, "pass": pass,
	}
	for name, o := range map[string]Options{
		"bearer": {Kind: Bearer, Token: Fixed(canary)}, "basic": {Kind: Basic, Username: Fixed("u"), Password: Fixed(canary)},
		"header": {Kind: APIKey, In: Header, Name: "X-Api-Key", Key: Fixed(canary)}, "query": {Kind: APIKey, In: Query, Name: "k", Key: Fixed(canary)},
		"cookie": {Kind: APIKey, In: Cookie, Name: "k", Key: Fixed(canary)},
	} {
		o.Origin = origin0()
		all[name] = mustNew(t, o)
	}
	return all
}

// fromAlice is the context of a request from alice.
func fromAlice(t testing.TB) context.Context {
	t.Helper()
	return auth.NewContext(as(t.Context(), "a.b.c", "alice"), &auth.Principal{Subject: "alice"})
}

// FastMCP < 3.2 sent requests with the API's credential to other hosts, and so
// did awslabs/mcp#3695: here one goes to its own origin alone, however another
// is spelled to look like it (E4).
func TestCVE_2026_32871_AnotherOrigin(t *testing.T) {
	ctx := fromAlice(t)
	kinds := chain(t)
	own := func(change func(*http.Request)) *http.Request {
		req := request(t, "GET https://orders.example.com/").WithContext(ctx)
		change(req)
		return req
	}
	requests := map[string]*http.Request{
		"header Host": own(func(r *http.Request) { r.Host = "billing.example.com" }), // what stands behind one address is told apart by it
		"opaque":      own(func(r *http.Request) { r.URL.Opaque = "//evil.example/" }),
	}
	for _, target := range []string{
		"http://orders.example.com/", "http://orders.example.com:443/", "https://orders.example.com:444/", "https://orders.example.com:80/",
		"https://orders.example.com./", "https://orders.example.com.evil.example/", "https://evil.example/orders.example.com",
		"https://orders.example.com@evil.example/", "https://orders.example.com:443@evil.example/", "https://evil.example#@orders.example.com/",
		"https://evil.example?@orders.example.com", "https://example.com/", "https://a.orders.example.com/", "https://xorders.example.com/",
		"http://169.254.169.254/latest", "https://[::1]/", "https://orders.example.com%25.evil.example/", "https://orders%2eexample.com.evil.example/",
		"https://orders.example。com/", "https://ordeɾs.example.com/", "https://ｏrders.example.com/", "wss://orders.example.com/",
	} {
		u, err := url.Parse(target)
		if err != nil {
			continue // such a request can't be made
		}
		requests[target] = own(func(r *http.Request) { r.URL, r.Host = u, u.Host })
	}
	for name, wrap := range kinds {
		for what, req := range requests {
			before := print(req)
			next := &record{}
			if _, err := wrap(next).RoundTrip(req); err != nil || print(next.request) != before {
				t.Errorf("%s: %s: %s, %v", name, what, print(next.request), err)
			}
		}
		for _, target := range []string{"https://orders.example.com/", "https://orders.example.com:443/", "https://ORDERS.eXample.com/"} {
			next := &record{}
			req := own(func(r *http.Request) { r.URL = mustURL(t, target); r.Host = r.URL.Host })
			if _, err := wrap(next).RoundTrip(req); err != nil || print(next.request) == print(req) {
				t.Errorf("%s: its own origin gets nothing: %v", name, err)
			}
		}
	}
}

// The letter "İ" becomes "i" in Go, but to what a connection is made for it is
// another domain: "mİcro.com" is xn--micro-8fd.com.
func TestCVE_2026_32871_FoldedHost(t *testing.T) {
	o := Options{Kind: Bearer, Token: Fixed(canary), Origin: mustURL(t, "https://micro.com")}
	next := &record{}
	req := request(t, "GET https://m\u0130cro.com/")
	if _, err := mustNew(t, o)(next).RoundTrip(req); err != nil || len(next.request.Header) != 0 {
		t.Error(print(next.request), err)
	}
	// And where the gateway's own origin is such a name, its connections have another.
	for _, host := range []string{"m\u0130cro.com", "bücher.example", "orders.example。com"} {
		o.Origin = &url.URL{Scheme: "https", Host: host}
		_, err := New(o)
		_, err2 := NewClientCertificate(CertificateOptions{CAFile: "x", Origin: o.Origin})
		if want := fmt.Sprintf("credential: the host of origin %q must be in its ASCII form (xn--…)", "https://"+host); fmt.Sprint(err) != want || !strings.HasPrefix(fmt.Sprint(err2), want) {
			t.Error(err, err2)
		}
	}
}

// ToolHive followed redirects to where they led: who does so here, as a client
// around the credential, takes none along to another host or port or out of TLS.
func TestCVE_2026_58196_Redirect(t *testing.T) {
	var mu sync.Mutex
	var seen []string // what went to others
	look := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Host+" "+r.URL.String()+" "+fmt.Sprint(r.Header))
	}
	otherTLS, plain := httptest.NewTLSServer(http.HandlerFunc(look)), httptest.NewServer(http.HandlerFunc(look))
	defer otherTLS.Close()
	defer plain.Close()
	var target string
	own := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			look(w, r)
			return
		}
		http.Redirect(w, r, target, http.StatusTemporaryRedirect)
	}))
	own.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	own.StartTLS()
	defer own.Close()
	at := mustURL(t, own.URL)
	ctx := fromAlice(t)
	i, _, _ := newIdentity(t, nil, writePEM(t, "", ecKey(t)))
	introduce, err := i.For(IdentityUse{Audience: "orders", Origin: at})
	if err != nil {
		t.Fatal(err)
	}
	wraps := map[string]func(http.RoundTripper) http.RoundTripper{"identity": introduce}
	for name, o := range map[string]Options{
		"bearer": {Kind: Bearer, Token: Fixed(canary)}, "header": {Kind: APIKey, In: Header, Name: "X-Api-Key", Key: Fixed(canary)},
		"query": {Kind: APIKey, In: Query, Name: "k", Key: Fixed(canary)}, "cookie": {Kind: APIKey, In: Cookie, Name: "k", Key: Fixed(canary)},
	} {
		o.Origin = at
		wraps[name] = mustNew(t, o)
	}
	for name, wrap := range wraps {
		for _, to := range []string{otherTLS.URL, plain.URL, strings.Replace(own.URL, "127.0.0.1", "localhost", 1) + "/moved", strings.Replace(own.URL, "https", "http", 1)} {
			target, seen = to, nil
			client := own.Client()
			if base, ok := client.Transport.(*http.Transport); ok {
				base.TLSClientConfig.InsecureSkipVerify = true // "localhost" and the other port have no certificate of their own
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, own.URL+"/start", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := (&http.Client{Transport: wrap(client.Transport)}).Do(req)
			if err == nil {
				resp.Body.Close()
				if text := resp.Request.URL.String() + fmt.Sprint(resp.Request.Header); strings.Contains(text, canary) {
					t.Errorf("%s: the answer's request holds it: %s", name, text)
				}
			}
			if text := strings.Join(seen, "\n") + fmt.Sprint(err); strings.Contains(text, canary) || strings.Contains(text, "X-Drawbridge-Identity") {
				t.Errorf("%s: %s got it: %s", name, to, text)
			}
		}
	}
	// A token endpoint is not followed at all: the secret would go along.
	hits := len(seen)
	idp := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusTemporaryRedirect))
	defer idp.Close()
	rt := mustNew(t, clientCredentials(idp.URL, idp.Client()))(&service{})
	if _, err := send(ctx, t, rt, "GET", resource, nil); err == nil || len(seen) != hits {
		t.Errorf("%v, %q", err, seen)
	}
}

// agentgateway let arguments write into query and headers: here none adds to
// what a credential sends, in whatever spelling (R5 to R7).
func TestGHSA_v2x6_wwfw_r2rq_Arguments(t *testing.T) {
	hostile := "GET https://orders.example.com/?k=evil&a=1&%6b=evil&b=2;k=evil\nAuthorization: evil\nauthorization: evil\nAUTHORIZATION: evil\n" +
		"X-Api-Key: evil\nx_api_key: evil\nX_Api-Key: evil\nX-Drawbridge-Identity: evil\nx_drawbridge_identity: evil\nX-Tenant: evil\nx_tenant: evil\nCookie: a=1; k=evil; k =evil"
	name := map[string]string{"bearer": "Authorization", "basic": "Authorization", "exchange": "Authorization", "client credentials": "Authorization", "header": "X-Api-Key", "identity": "X-Drawbridge-Identity", "pass": "X-Tenant", "cookie": "Cookie"}
	for kind, wrap := range chain(t) {
		next := &record{}
		if _, err := wrap(next).RoundTrip(request(t, hostile).WithContext(fromAlice(t))); err != nil {
			t.Fatal(kind, err)
		}
		if kind == "query" {
			if q := next.request.URL.RawQuery; q != "a=1&k="+canary {
				t.Errorf("%s: %s", kind, q)
			}
			continue
		}
		var values []string
		for field, v := range next.request.Header {
			if sameField(field, name[kind]) {
				values = append(values, v...)
			}
		}
		if len(values) != 1 || strings.Contains(values[0], "evil") {
			t.Errorf("%s: %q", kind, values)
		}
	}
}

// oauth2-proxy and Traefik (CVE-2026-54763): a header with "_" is to some servers
// the one with "-"; what comes from a caller so spelled is not passed, and not
// left in place beside what is.
func TestCVE_2025_64484_Underscores(t *testing.T) {
	in := http.Header{"X_tenant": {"evil"}, "X-Tenant": {"acme"}}
	wrap, err := NewPassThrough(PassThroughOptions{Headers: plain("X-Tenant"), Origin: origin0(), Inbound: func(context.Context) http.Header { return in }})
	if err != nil {
		t.Fatal(err)
	}
	next := &record{}
	req := request(t, "GET https://orders.example.com/\nx_tenant: evil\nX_TENANT: evil")
	if _, err := wrap(next).RoundTrip(req); err != nil || print(next.request) != "GET https://orders.example.com/\nX-Tenant: acme" {
		t.Error(print(next.request), err)
	}
}

// Traefik: a caller named headers in Connection, and a proxy dropped them, the
// one that said who calls among them. Kuadrant and skywalking-mcp: a header of
// the caller said where a request goes. None of these can be passed, or made an
// identity or a key.
func TestCVE_2026_29054_HopByHop(t *testing.T) {
	notPassed(t, "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade")
}

// See TestCVE_2026_29054_HopByHop.
func TestGHSA_g53w_w6mj_hrpp_Authority(t *testing.T) {
	notPassed(t, "Host", "X-Forwarded-Host", "X-Original-Host", "Forwarded", "X-Host", "Mcp-Init-Host")
}

func notPassed(t *testing.T, names ...string) {
	t.Helper()
	i, _, _ := newIdentity(t, nil, writePEM(t, "", ecKey(t)))
	for _, name := range names {
		for _, spelled := range []string{name, strings.ToLower(name), strings.ReplaceAll(strings.ToUpper(name), "-", "_")} {
			want := fmt.Sprintf("credential: header %q can't be passed on", spelled)
			_, err := NewPassThrough(PassThroughOptions{Headers: plain(spelled), Origin: origin0(), Inbound: inbound})
			_, err2 := i.For(IdentityUse{Header: spelled, Audience: "orders", Origin: origin0()})
			if fmt.Sprint(err) != want || fmt.Sprint(err2) != want {
				t.Errorf("%s: %v, %v", spelled, err, err2)
			}
		}
	}
}

// OpenTelemetry: baggage of a caller is not carried on, nor any trace context.
func TestCVE_2026_41178_Baggage(t *testing.T) { notPassed(t, "baggage", "traceparent", "tracestate") }

// The fields that a request has beside those of its credential stay as they are.
func TestNothingElseIsTouched(t *testing.T) {
	for kind, wrap := range chain(t) {
		next := &record{}
		req := request(t, "GET https://orders.example.com/a%2Fb;c?x=%20+&y\nAccept: a\nX-Other: 1\nX-Other: 2").WithContext(fromAlice(t))
		resp, err := wrap(next).RoundTrip(req)
		if err != nil {
			t.Fatal(kind, err)
		}
		if resp.Request != req {
			t.Errorf("%s: the answer's request is the one with the credential", kind)
		}
		got := next.request
		if got.URL.EscapedPath() != req.URL.EscapedPath() || !strings.HasPrefix(got.URL.RawQuery, req.URL.RawQuery) || got.Method != req.Method || got.Host != req.Host {
			t.Errorf("%s: %s", kind, print(got))
		}
		for _, name := range slices.Collect(maps.Keys(req.Header)) {
			if !slices.Equal(got.Header[name], req.Header[name]) {
				t.Errorf("%s: %s", kind, print(got))
			}
		}
	}
}
