package reload_test

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestOperationComesBack holds that a document can't drop an operation and bring it back with wider access, nor under a name that was
// hidden, whatever is reloaded meanwhile; and that one which comes back as it was is served.
func TestOperationComesBack(t *testing.T) {
	const cfg = "server: {public_url: 'https://mcp.example.com'}\nauth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [use]}\n" +
		"apis: [{name: a, spec: %s/a.yaml, refresh: 0s, base_url: 'http://127.0.0.1:1', scopes_from_document: true, trust_extensions: true%s}]\n"
	doc := func(operation string) string {
		return "openapi: 3.1.0\ninfo: {title: A, version: '1'}\ncomponents: {securitySchemes: {oauth: {type: oauth2, flows: {}}}}\npaths:\n" +
			"  /other: {get: {operationId: other, responses: {'200': {description: ok}}}}\n" + operation
	}
	const secured = "  /orders: {get: {operationId: orders, security: [{oauth: [admin]}], responses: {'200': {description: ok}}}}\n"
	const hidden = "  /orders: {get: {operationId: orders, x-internal: true, responses: {'200': {description: ok}}}}\n"
	const open = "  /orders: {get: {operationId: orders, responses: {'200': {description: ok}}}}\n"
	for name, tt := range map[string]struct{ before, after, held string }{
		"without its scopes":          {secured, open, "fewer or other scopes suffice for calls of GET /orders"},
		"elsewhere, without scopes":   {secured, strings.Replace(open, "/orders", "/v2/orders", 1), "fewer or other scopes suffice for calls of GET /v2/orders"},
		"no longer hidden":            {hidden, open, "x-internal and the selectors of tools let calls through of GET /orders"},
		"as it was":                   {secured, secured, ""},
		"hidden now":                  {open, hidden, ""},
		"another one, without scopes": {secured, strings.ReplaceAll(open, "orders", "stock"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := gatewaytest.NewChanging(t, doc(tt.before))
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, o.URL, "")})
			r.Served()
			reload := func(keys string) {
				t.Helper()
				r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, o.URL, keys)})
				if err := r.Reload(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			o.Set(doc(""))
			reload("")
			if s := r.State(0); !gatewaytest.InUse(s) || s.Operations.Total != 1 {
				t.Fatalf("without the operation: %+v", s)
			}
			reload(", timeout: 9s") // another source
			o.Set(doc(tt.after))
			reload(", timeout: 9s")
			s := r.State(0)
			if tt.held == "" && s.Held != nil || tt.held != "" && (s.Held == nil || len(s.Held.Restrictions) != 1 || !strings.Contains(s.Held.Restrictions[0], tt.held)) {
				t.Errorf("held %+v, want %q", s.Held, tt.held)
			}
			if tt.held == "" {
				return
			}
			if err := r.Accept(t.Context(), "a", s.Held.Digest); err != nil {
				t.Fatal(err)
			}
			reload("")
			if s := r.State(0); !gatewaytest.InUse(s) {
				t.Errorf("after it was accepted: %+v", s)
			}
		})
	}
}

// TestOperationTakesAPlace holds that an operation that has moved to the place of one that left needs what that one needed.
func TestOperationTakesAPlace(t *testing.T) {
	const cfg = "server: {public_url: 'https://mcp.example.com'}\nauth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [use]}\n" +
		"apis: [{name: a, spec: %s/a.yaml, refresh: 0s, base_url: 'http://127.0.0.1:1', scopes_from_document: true}]\n"
	doc := func(path, operation string) string {
		return "openapi: 3.1.0\ninfo: {title: A, version: '1'}\ncomponents: {securitySchemes: {oauth: {type: oauth2, flows: {}}}}\npaths:\n" +
			"  /other: {get: {operationId: other, responses: {'200': {description: ok}}}}\n" +
			"  " + path + ": {get: {operationId: " + operation + ", responses: {'200': {description: ok}}}}\n"
	}
	for _, last := range []string{"/orders", "/Orders/"} {
		o := gatewaytest.NewChanging(t, doc("/orders", "orders, security: [{oauth: [admin]}]"))
		r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, o.URL)})
		r.Served()
		for _, text := range []string{doc("/stock", "stock"), doc(last, "stock")} {
			o.Set(text)
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := r.State(0); text == doc("/stock", "stock") && !gatewaytest.InUse(s) {
				t.Fatalf("another operation is held: %+v", s.Held)
			}
		}
		if s := r.State(0); s.Held == nil || !strings.Contains(strings.Join(s.Held.Restrictions, " "), "fewer or other scopes suffice for calls of GET "+last) {
			t.Errorf("%s: held %+v", last, s.Held)
		}
	}
}
