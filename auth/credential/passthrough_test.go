package credential

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inboundContext struct{}

func inbound(ctx context.Context) http.Header {
	h, _ := ctx.Value(inboundContext{}).(http.Header)
	return h
}

// plain are headers that go on under their own names.
func plain(names ...string) []PassedHeader {
	var all []PassedHeader
	for _, name := range names {
		all = append(all, PassedHeader{From: name, To: name})
	}
	return all
}

func TestPass(t *testing.T) {
	wrap, err := NewPassThrough(PassThroughOptions{Headers: plain("x-tenant", "Accept-Language"), Inbound: inbound, Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ in, request, want string }{
		"passed":               {"X-Tenant: acme\nAuthorization: Bearer s3cret\nX-Other: 1\nAccept-Language: de", "GET https://orders.example.com/", "GET https://orders.example.com/\nAccept-Language: de\nX-Tenant: acme"},
		"arguments can't":      {"X-Tenant: acme", "GET https://orders.example.com/\nX-Tenant: evil\nx_tenant: evil\nX-Other: kept", "GET https://orders.example.com/\nX-Other: kept\nX-Tenant: acme"},
		"nor without a caller": {"", "GET https://orders.example.com/\nX-Tenant: evil\nAccept_language: xx", "GET https://orders.example.com/"},
		"nor by the name":      {"X-Tenant: acme", "GET https://orders.example.com/\nAccept-Language: xx", "GET https://orders.example.com/\nX-Tenant: acme"},
		"words":                {"X-Tenant: acme\tof all\u007e", "GET https://orders.example.com/", "GET https://orders.example.com/\nX-Tenant: acme\tof all~"},
		"as long as can be":    {"X-Tenant: " + strings.Repeat("a", maxPassed), "GET https://orders.example.com/", "GET https://orders.example.com/\nX-Tenant: " + strings.Repeat("a", maxPassed)},
		"underscores":          {"X_Tenant: evil", "GET https://orders.example.com/", "GET https://orders.example.com/"}, // CVE-2025-64484
		"another origin":       {"X-Tenant: acme", "GET https://billing.example.com/\nX-Tenant: kept", "GET https://billing.example.com/\nX-Tenant: kept"},
		"twice":                {"X-Tenant: acme\nX-Tenant: other", "GET https://orders.example.com/", `credential: the caller's header "X-Tenant" is there 2 times`},
		"line":                 {"X-Tenant: a\rb", "GET https://orders.example.com/", `credential: the caller's header "X-Tenant" holds a control character`},
		"long":                 {"X-Tenant: " + strings.Repeat("a", maxPassed+1), "GET https://orders.example.com/", `credential: the caller's header "X-Tenant" is longer than 8192 bytes`},
	} {
		ctx := t.Context()
		if c.in != "" {
			h := http.Header{}
			for line := range strings.SplitSeq(c.in, "\n") {
				field, value, _ := strings.Cut(line, ": ")
				h[field] = append(h[field], value)
			}
			ctx = context.WithValue(ctx, inboundContext{}, h)
		}
		req := request(t, c.request).WithContext(ctx)
		before := print(req)
		next := &record{}
		got := ""
		body := &closer{Reader: strings.NewReader("")}
		req.Body = body
		if _, err := wrap(next).RoundTrip(req); err != nil {
			if got = err.Error(); !body.closed {
				t.Errorf("%s: the body was left open", name)
			}
		} else {
			got = print(next.request)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(before, print(req)); diff != "" {
			t.Errorf("%s: the request was changed: %s", name, diff)
		}
	}
}

// TestPassCredential: a caller's own credential goes on under the name that its service knows, is noted so that it can be taken out
// of answers, and is not sent where it is one for the gateway.
func TestPassCredential(t *testing.T) {
	refuse := func(_ context.Context, value string) bool { return strings.Contains(value, "for-the-gateway") }
	wrap, err := NewPassThrough(PassThroughOptions{Headers: []PassedHeader{{From: "x-orders-token", To: "authorization", Credential: true}, {From: "X-Tenant", To: "X-Tenant"}}, Inbound: inbound, IsGatewayToken: refuse, Origin: origin0()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in, request, want string
		sent              []string
	}{
		"renamed":         {"X-Orders-Token: Bearer c4nary\nAuthorization: Bearer caller\nX-Tenant: for-the-gateway", "GET https://orders.example.com/", "GET https://orders.example.com/\nAuthorization: Bearer c4nary\nX-Tenant: for-the-gateway", []string{"c4nary"}},
		"as it is":        {"X-Orders-Token: c4nary", "GET https://orders.example.com/", "GET https://orders.example.com/\nAuthorization: c4nary", []string{"c4nary"}},
		"of any scheme":   {"X-Orders-Token: token c4nary", "GET https://orders.example.com/", "GET https://orders.example.com/\nAuthorization: token c4nary", []string{"c4nary"}},
		"with a password": {"X-Orders-Token: Basic dTpjNG5hcnk=", "GET https://orders.example.com/", "GET https://orders.example.com/\nAuthorization: Basic dTpjNG5hcnk=", []string{"dTpjNG5hcnk=", "c4nary"}},
		"with parameters": {"X-Orders-Token: Digest a=1, b=2", "GET https://orders.example.com/", "GET https://orders.example.com/\nAuthorization: Digest a=1, b=2", []string{"Digest a=1, b=2"}},
		"none":            {"Authorization: Bearer caller", "GET https://orders.example.com/\nAuthorization: evil", "GET https://orders.example.com/", []string{}},
		"another origin":  {"X-Orders-Token: c4nary", "GET https://billing.example.com/", "GET https://billing.example.com/", []string{}},
		"for the gateway": {"X-Orders-Token: Bearer for-the-gateway", "GET https://orders.example.com/", `credential: the caller's header "X-Orders-Token" holds a token for the gateway, which no service may get`, []string{}},
		"twice":           {"X-Orders-Token: a\nX-Orders-Token: b", "GET https://orders.example.com/", `credential: the caller's header "X-Orders-Token" is there 2 times`, []string{}},
	} {
		h := http.Header{}
		for line := range strings.SplitSeq(c.in, "\n") {
			field, value, _ := strings.Cut(line, ": ")
			h[field] = append(h[field], value)
		}
		var sent Sent
		next, got := &record{}, ""
		req := request(t, c.request).WithContext(sent.Context(context.WithValue(t.Context(), inboundContext{}, h)))
		if _, err := wrap(next).RoundTrip(req); err != nil {
			got = err.Error()
		} else {
			got = print(next.request)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(c.sent, sent.Reveal()); diff != "" {
			t.Errorf("%s: noted: %s", name, diff)
		}
	}
	for _, h := range []PassedHeader{{From: "Authorization", To: "X-A"}, {From: "DPoP", To: "X-A"}, {From: "cookie", To: "X-A"}, {From: "X-A", To: "Cookie"}, {From: "X-A", To: "Host"}, {From: "X-A", To: "Proxy-Authorization"}, {From: "X-A", To: ""}} {
		h.Credential = true
		if _, err := NewPassThrough(PassThroughOptions{Headers: []PassedHeader{h}, Inbound: inbound, IsGatewayToken: refuse, Origin: origin0()}); err == nil {
			t.Errorf("%+v was accepted", h)
		}
	}
	if _, err := NewPassThrough(PassThroughOptions{Headers: []PassedHeader{{From: "X-A", To: "Authorization", Credential: true}}, Inbound: inbound, Origin: origin0()}); err == nil {
		t.Error("nobody tells what is for the gateway, and that was accepted")
	}
}

// No credential, no word on where a request comes from or goes to, and nothing
// that frames it can be passed, however it is spelled (R6).
func TestPassNames(t *testing.T) {
	for _, name := range strings.Fields(`
		Authorization authorization AUTHORIZATION Proxy-Authorization Proxy_Authorization Proxy-Connection Cookie cookie2 Set-Cookie DPoP dpop
		Host X-Forwarded-For x_forwarded_for X-Forwarded_Host X-Forwarded-Prefix X-Forwarded Forwarded Via X-Real-IP X_Real_IP X-Original-URL X-Rewrite-URL
		X-HTTP-Method-Override Connection Keep-Alive TE Trailer Transfer-Encoding transfer_encoding Upgrade Expect
		Content-Type Content-Length Content_Encoding Accept Accept-Encoding Mcp-Session-Id mcp_name MCP-Protocol-Version traceparent tracestate baggage
		Origin Referer Sec-Fetch-Site User-Agent Idempotency-Key Last-Event-ID If-Match Range`) {
		_, err := NewPassThrough(PassThroughOptions{Headers: plain(name), Inbound: inbound, Origin: origin0()})
		if want := fmt.Sprintf("credential: header %q can't be passed on", name); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n, good := range map[int]bool{maxPassedNames: true, maxPassedNames + 1: false} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("X-%d", i))
		}
		if _, err := NewPassThrough(PassThroughOptions{Headers: plain(names...), Inbound: inbound, Origin: origin0()}); (err == nil) != good {
			t.Errorf("%d names: %v", n, err)
		}
	}
	_, err := NewPassThrough(PassThroughOptions{Headers: plain("", "X Tenant", "X-T\r\nEvil: 1", "Cookie")})
	want := `credential: origin must be an absolute http or https URL
credential: inbound headers are missing
credential: a header to pass has no name
credential: "X Tenant" is not a name for a header
credential: "X-T\r\nEvil: 1" is not a name for a header
credential: header "Cookie" can't be passed on`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}
