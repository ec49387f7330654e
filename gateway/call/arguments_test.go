package call_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

const tenantDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /tenants/{tenant}/orders/{id}:
    get:
      operationId: get
      parameters:
        - {name: tenant, in: path, required: true, schema: {type: string, enum: [acme, other]}}
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: X-Region, in: header, schema: {type: string}}
      responses: {"200": {description: ok}}
`

const tenantConfig = `server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis:
  - spec: $SPEC
    name: shop
    base_url: $BASE
    request: {headers: {X-Org: {claim: /org/id}, User-Agent: acme}, query: {who: {claim: org_name}}}
rules:
  - match: {operation: get}
    set:
      cache: {ttl: 1h}
      resource: {uri: "shop://orders/{order_id}", poll: 1s}
      condition: 'args.tenant != "other" && args.order_id != "13"'
      arguments: {tenant: {claim: tenant}, id: {name: order_id}, X-Region: {claim: region}}
`

// TestArgumentClaims holds that values from claims are those of the caller, in arguments, headers and parameters: no other
// caller's answer is given for them, and without them nothing is sent.
func TestArgumentClaims(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, tenantDocument, fmt.Sprintf(tenantConfig, gatewaytest.Issuers(i)), service.URL)
	claims := func(tenant any, org any) map[string]any {
		return map[string]any{"tenant": tenant, "org": map[string]any{"id": org}, "org_name": "A & B", "region": 5}
	}
	for _, tt := range []struct {
		name   string
		claims map[string]any
		args   string
		sent   string // the path, the query, X-Org, User-Agent and X-Region; "" if nothing is sent
		text   string // part of the result if nothing is sent
	}{
		{"claims", claims("acme", 7), `{"order_id":"1"}`, "/tenants/acme/orders/1?who=A+%26+B 7 acme 5", ""},
		{"other claim of the same caller", claims("acme", "8"), `{"order_id":"1"}`, "/tenants/acme/orders/1?who=A+%26+B 8 acme 5", ""},
		{"condition on a claim", claims("other", 7), `{"order_id":"1"}`, "", "policy does not permit"},
		{"condition on a new name", claims("acme", 7), `{"order_id":"13"}`, "", "policy does not permit"},
		{"value that does not fit", claims("evil", 7), `{"order_id":"1"}`, "", `by its claim \"tenant\", which this token has with a value that can't be sent`},
		{"empty claim", claims("", 7), `{"order_id":"1"}`, "", `by its claim \"tenant\", which this token has with a value that can't be sent`},
		{"null claim for a header", claims("acme", nil), `{"order_id":"1"}`, "", `by its claim \"/org/id\", which this token has with a value that can't be sent`},
		{"no claim", map[string]any{"org": map[string]any{"id": 7}, "org_name": "x", "region": 5}, `{"order_id":"1"}`, "", `by its claim \"tenant\", which this token does not have`},
		{"no claim for a header", map[string]any{"tenant": "acme", "org_name": "x", "region": 5}, `{"order_id":"1"}`, "", `by its claim \"/org/id\", which this token does not have`},
		{"list for a header", claims("acme", []int{7}), `{"order_id":"1"}`, "", `by its claim \"/org/id\", which this token has with a value that can't be sent`},
		{"line break for a header", claims("acme", "7\nX-Evil: 1"), `{"order_id":"1"}`, "", "has with a value that can't be sent"},
		{"given", claims("acme", 7), `{"order_id":"1","tenant":"acme"}`, "", `unknown argument \"tenant\"`},
	} {
		for _, revision := range gatewaytest.Eras {
			w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, tt.claims)).Send("tools/call", "get", tt.args)
			var sent []string
			for _, r := range service.Taken() {
				sent = append(sent, r.URL.String()+" "+r.Header.Get("X-Org")+" "+r.Header.Get("User-Agent")+" "+r.Header.Get("X-Region"))
			}
			got := strings.Join(sent, "\n")
			if revision != gatewaytest.Eras[0] && tt.sent != "" {
				tt.sent = "" // it is in the cache, for this caller
			}
			if got != tt.sent || !strings.Contains(w.Body.String(), tt.text) || strings.Contains(w.Body.String(), `"isError":true`) != (tt.text != "") {
				t.Errorf("%s, %s: sent %q, want %q; %s", tt.name, revision, got, tt.sent, w.Body)
			}
		}
	}
	// Resources, too, and the command line has no caller.
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, claims("acme", 7)))
	if w := c.Read("shop://orders/2"); !strings.Contains(w.Body.String(), "done") || len(service.Taken()) != 1 {
		t.Errorf("a resource: %s", w.Body)
	}
	if w := c.Read("shop://orders/13"); !strings.Contains(w.Body.String(), "policy does not permit") || len(service.Taken()) != 0 {
		t.Errorf("a resource that the condition excludes: %s", w.Body)
	}
	if result, err := gatewaytest.CallAsOperator(t.Context(), g, "get", json.RawMessage(`{"order_id":"1"}`)); err != nil || !strings.Contains(string(result), "a call without a login") {
		t.Errorf("on the command line: %s, %v", result, err)
	}
	req, err := g.Plan("get").Request(t.Context(), json.RawMessage(`{"order_id":"1"}`))
	if err == nil || !strings.Contains(err.Error(), "claim") { // the placeholder is none of the tenants
		t.Errorf("preview: %v, %v", req, err)
	}
}

// TestFixedArgumentAndBody: the condition that check proposes for a member of the body with the name of a fixed argument lets no other
// value pass.
func TestFixedArgumentAndBody(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	const document = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /{tenant}/orders:
    post:
      operationId: create
      parameters: [{name: tenant, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {tenant: {type: string}, "x-y": {type: string}}}}}}
      responses: {'201': {description: created}}
`
	g := gatewaytest.Start(t, document, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - match: {api: shop}
    set:
      arguments: {tenant: {value: acme}}
      condition: '(!has(args.body) || !has(args.body.tenant) || args.body.tenant == args.tenant) && (!has(args.body) || !("x-y" in args.body) || args.body["x-y"] == args.tenant)'
`, gatewaytest.Issuers(i)), service.URL)
	for args, sent := range map[string]int{`{}`: 1, `{"body":{}}`: 1, `{"body":{"tenant":"acme"}}`: 1, `{"body":{"tenant":"other"}}`: 0, `{"body":{"x-y":"other"}}`: 0} {
		w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)).Send("tools/call", "create", args)
		if n := len(service.Taken()); n != sent {
			t.Errorf("%s: %d requests; %s", args, n, w.Body)
		}
	}
}

// TestArgumentSecrets holds that a secret argument is in the request alone, and that the audit log has the arguments as they
// were sent otherwise.
func TestArgumentSecrets(t *testing.T) {
	const secret = "s3cret-of-the-tenant"
	var got string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"said":%q}`, got)
	}))
	t.Cleanup(service.Close)
	out := &gatewaytest.Sink{}
	log, err := audit.New(audit.Options{Output: out, Fields: []string{"/key", "/tenant", "/id"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	t.Cleanup(func() { cancel(); timebox.Wait(t, ended) })
	g := gatewaytest.RunWith(t, map[string]string{"a.yaml": strings.Replace(tenantDocument, "X-Region, in: header", "key, in: query", 1), "drawbridge.yaml": `
apis: [{name: shop, spec: a.yaml, base_url: "` + service.URL + `"}]
rules:
  - match: {operation: get}
    set: {arguments: {tenant: {value: acme}, key: {secret: "` + secret + `"}}}
`}, gateway.Options{Audit: log})
	g.Eventually("it is served", func() bool { return g.Status().Tools == 1 })
	w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Send("tools/call", "get", `{"id":"1"}`)
	if got != "/tenants/acme/orders/1?key="+secret || strings.Contains(w.Body.String(), secret) || !strings.Contains(w.Body.String(), "[redacted]") {
		t.Errorf("sent %s; %s", got, w.Body)
	}
	g.Eventually("the line is written", func() bool { return strings.Contains(out.String(), "\n") })
	if line := out.String(); strings.Contains(line, secret) || !strings.Contains(line, "[redacted]") || !strings.Contains(line, `"acme"`) {
		t.Errorf("audit log: %s", line)
	}
}
