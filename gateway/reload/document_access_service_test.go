package reload_test

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestAccessOfAService holds that the document of a discovered service gives no wider access by itself, neither by another text nor by
// another place that the service registers.
func TestAccessOfAService(t *testing.T) {
	const cfg = `server: {public_url: 'https://mcp.example.com'}
auth: {issuers: [{issuer: 'http://127.0.0.1:1'}], default_scopes: [use]}
discovery:
  - {name: shop, file: {paths: [targets.json]}, allow_addresses: [127.0.0.0/8], api: {refresh: 100ms, scopes_from_document: true}}
`
	doc := func(security string) string {
		return "openapi: 3.1.0\ninfo: {title: A, version: '1'}\ncomponents: {securitySchemes: {oauth: {type: oauth2, flows: {}}}}\n" +
			"paths: {/orders: {get: {operationId: orders, " + security + "responses: {'200': {description: ok}}}}}\n"
	}
	const secured = "security: [{oauth: [admin]}], "
	o := gatewaytest.NewChanging(t, doc(secured))
	at := func(path string) map[string]string {
		return map[string]string{"targets.json": fmt.Sprintf(`[{"targets": [%q], "labels": {"service": "orders", "openapi": %q}}]`, o.Listener.Addr(), path)}
	}
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg, "targets.json": at("/one.yaml")["targets.json"]})
	held := func() bool {
		s := r.Status().APIs
		return len(s) == 1 && s[0].State == admin.Held && len(s[0].Held.Restrictions) == 1 && strings.Contains(s[0].Held.Restrictions[0], "fewer or other scopes suffice for calls of GET /orders")
	}
	ready := func() bool { s := r.Status().APIs; return len(s) == 1 && gatewaytest.InUse(s[0]) }
	r.Eventually("the service is served", ready)
	o.Set(doc(""))
	r.Eventually("its document is held", held)
	if p := r.Plan("shop-orders_orders"); p == nil || len(p.Scopes) != 1 || len(p.Scopes[0]) != 2 {
		t.Errorf("tools %q", r.Tools())
	}
	o.Set(doc(secured))
	r.Eventually("it is as it was", ready)
	o.Set(doc(""))
	r.Write(at("/two.yaml"))
	r.Eventually("its document elsewhere is held", func() bool { return held() && strings.HasSuffix(r.Status().APIs[0].Spec, "/two.yaml") })
	if err := r.Accept(t.Context(), r.Status().APIs[0].Name, ""); err != nil {
		t.Fatal(err)
	}
	r.Eventually("it is accepted", ready)
	if p := r.Plan("shop-orders_orders"); p == nil || len(p.Scopes) != 1 || len(p.Scopes[0]) != 1 && p.Scopes[0] != nil {
		t.Errorf("tools %q", r.Tools())
	}
}
