package endpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestHiddenTools is Z6: two callers see what each may call, a tool that is hidden is called like one that does not exist,
// and one's cursor is no good for the other.
func TestHiddenTools(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "default_scopes", "hide_unauthorized: true\n  default_scopes", 1)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), cfg, service.URL)
	for _, revision := range gatewaytest.Eras {
		for scope, want := range map[string][]string{
			"mcp:tools":    {"list", "show"},
			"orders:admin": {"purge"},
			"orders:all":   {"list", "purge", "show"},
			"profile":      {},
		} {
			c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": scope}))
			w := c.Send("tools/list", "", "")
			if got := gatewaytest.ToolNames(t, w.Body.Bytes()); !slices.Equal(got, want) {
				t.Errorf("%s, %s: tools %q, want %q", revision, scope, got, want)
			}
			if revision >= "2026" && !strings.Contains(w.Body.String(), `"cacheScope":"private"`) {
				t.Errorf("%s: the list may be shared: %s", scope, w.Body)
			}
			unknown := strings.ReplaceAll(c.Call("nothing").Body.String(), `"nothing\"`, "NAME")
			for _, tool := range []string{"list", "purge"} {
				w := c.Call(tool)
				if may := slices.Contains(want, tool); may != gatewaytest.Succeeded(w) {
					t.Errorf("%s, %s: call of %s = %d %s", revision, scope, tool, w.Code, w.Body)
				} else if got := strings.ReplaceAll(w.Body.String(), `"`+tool+`\"`, "NAME"); !may && got != unknown {
					t.Errorf("%s, %s: a hidden tool answers\n%s\nan unknown one\n%s", revision, scope, got, unknown)
				}
			}
		}
	}
}

// TestHiddenPages holds that a cursor belongs to the list of its caller's scopes.
func TestHiddenPages(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.NewReplacer("default_scopes", "hide_unauthorized: true\n  default_scopes", "server: {", "server: {page_size: 1, ").
		Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)))
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), cfg, service.URL)
	page := func(token, cursor string) (names []string, next string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, cursor)
		w := gatewaytest.Post(g.Handler(), http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"},
		}, body)
		var answer struct{ Result struct{ NextCursor string } }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err, w.Body)
		}
		if w.Code != 200 || strings.Contains(w.Body.String(), `"error"`) {
			return nil, w.Body.String()
		}
		return gatewaytest.ToolNames(t, w.Body.Bytes()), answer.Result.NextCursor
	}
	few, all := i.Token(t, nil), i.Token(t, map[string]any{"scope": "orders:all"}) // of one user
	names, next := page(few, "")
	if !slices.Equal(names, []string{"list"}) || next == "" {
		t.Fatalf("first page %q, %q", names, next)
	}
	cursor := fmt.Sprintf(`"cursor":%q,`, next)
	if names, next := page(few, cursor); !slices.Equal(names, []string{"show"}) || next != "" {
		t.Errorf("second page %q, %q", names, next)
	}
	if names, next := page(all, cursor); names != nil || !strings.Contains(next, "cursor is not valid") {
		t.Errorf("with other scopes: %q, %s", names, next)
	}
}

// securedDocument has operations with all kinds of security requirements.
const securedDocument = `openapi: 3.1.0
info: {title: Pets, version: "1"}
components:
  securitySchemes:
    login: {type: oauth2, flows: {}}
    oidc: {type: openIdConnect, openIdConnectUrl: https://idp.example.com/}
    key: {type: apiKey, in: header, name: X-Api-Key}
security: [{login: [pets:read]}]
paths:
  /inherited: {get: {operationId: inherited, responses: {"200": {description: ok}}}}
  /none: {get: {operationId: none, security: [], responses: {"200": {description: ok}}}}
  /key: {get: {operationId: key, security: [{key: [admin]}], responses: {"200": {description: ok}}}}
  /both: {get: {operationId: both, security: [{login: [pets:read, pets:write], oidc: [openid], key: []}], responses: {"200": {description: ok}}}}
  /either: {get: {operationId: either, security: [{login: [pets:write]}, {oidc: [staff]}, {key: []}, {}], responses: {"200": {description: ok}}}}
  /odd: {get: {operationId: odd, security: [{login: ["read pets"]}], responses: {"200": {description: ok}}}}
  /impossible: {get: {operationId: impossible, security: [{login: ["write \"pets\""]}], responses: {"200": {description: ok}}}}
  /ruled: {get: {operationId: ruled, security: [{login: [pets:write]}], responses: {"200": {description: ok}}}}
`

// TestScopesOfDocuments holds which scopes a document may ask for: it adds to the default and takes nothing away.
func TestScopesOfDocuments(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	const cfg = `server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools], implies: {"pets:*": ["pets:read", "pets:write"]}}
apis: [{name: pets, spec: $SPEC, base_url: $BASE, %s}]
rules: [{match: {operation: ruled}, set: {scopes: [ruler]}}]
`
	const trusting = `scopes_from_document: true, scope_map: {"read pets": [pets:read, pets:list]}`
	for _, tt := range []struct{ api, tool, scope, need string }{
		{trusting, "inherited", "mcp:tools pets:read", ""},
		{trusting, "inherited", "mcp:tools", "mcp:tools pets:read"},
		{trusting, "inherited", "pets:read", "pets:read mcp:tools"}, // the default is never left out
		{trusting, "inherited", "mcp:tools pets:*", ""},
		{trusting, "none", "mcp:tools", ""},
		{trusting, "none", "", "mcp:tools"}, // whatever the document says
		{trusting, "key", "mcp:tools", ""},  // that is the gateway's business, not the caller's
		{trusting, "both", "mcp:tools pets:read pets:write openid", ""},
		{trusting, "both", "mcp:tools pets:write", "mcp:tools pets:write pets:read openid"},
		{trusting, "either", "mcp:tools staff", ""},
		{trusting, "either", "mcp:tools pets:write", ""},
		{trusting, "either", "staff", "staff mcp:tools"},
		{trusting, "either", "mcp:tools", "mcp:tools pets:write"},
		{trusting, "odd", "mcp:tools pets:read pets:list", ""},
		{trusting, "odd", "mcp:tools pets:read", "mcp:tools pets:read pets:list"},
		{trusting, "impossible", "mcp:tools pets:*", "?"},
		{trusting, "ruled", "ruler", ""},
		{trusting, "ruled", "mcp:tools pets:write", "mcp:tools pets:write ruler"},
		{"", "inherited", "mcp:tools", ""},
		{"", "impossible", "mcp:tools", ""},
		{"", "inherited", "pets:read", "pets:read mcp:tools"},
	} {
		g := gatewaytest.Start(t, securedDocument, fmt.Sprintf(cfg, gatewaytest.Issuers(i), tt.api), service.URL)
		for _, revision := range gatewaytest.Eras {
			w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": tt.scope})).Call(tt.tool)
			_, challenge, _ := strings.Cut(w.Header().Get("WWW-Authenticate"), `scope="`)
			challenge, _, _ = strings.Cut(challenge, `"`)
			reached := len(service.Taken())
			switch {
			case tt.need == "":
				if !gatewaytest.Delivered(w) || reached != 1 {
					t.Errorf("%s with %q, %s: %d %s", tt.tool, tt.scope, revision, w.Code, w.Body)
				}
			case w.Code != 403 || reached != 0 || tt.need == "?" && challenge != "" || tt.need != "?" && !gatewaytest.SameScopes(challenge, tt.need):
				t.Errorf("%s with %q, %s: %d %q, %d requests; want 403 %q", tt.tool, tt.scope, revision, w.Code, challenge, reached, tt.need)
			}
		}
	}
}

// TestConditions is Z7, and that a condition looks at what will be sent: a number that a client wrote as a string is a
// number when the request is built, and so it is for the condition.
func TestConditions(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	const api = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}:
    delete:
      operationId: purge
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {why: {type: object, properties: {code: {type: string}}}}}}}}
      responses: {"200": {description: ok}}
`
	const cfg = `server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules: [{match: {method: DELETE}, set: {condition: '%s'}}]
`
	const refused = `"isError":true`
	for _, tt := range []struct {
		condition, arguments string
		claims               map[string]any
		allowed              bool
	}{
		{`args.id != 5`, `{"id":4}`, nil, true},
		{`args.id != 5`, `{"id":5}`, nil, false},
		{`args.id != 5`, `{"id":"5"}`, nil, false}, // is sent as 5
		{`args.id != 5`, `{"id":5.0}`, nil, false},
		{`!has(args.why) || args.why.code != "fraud"`, `{"id":1,"why":"{\"code\":\"fraud\"}"}`, nil, false},
		{`!has(args.why) || args.why.code != "fraud"`, `{"id":1,"why":"{\"code\":\"test\"}"}`, nil, true},
		{`"oncall" in claims.groups`, `{"id":1}`, map[string]any{"groups": []string{"oncall"}}, true},
		{`"oncall" in claims.groups`, `{"id":1}`, map[string]any{"groups": []string{"staff"}}, false},
		{`"oncall" in claims.groups`, `{"id":1}`, nil, false}, // an error denies
		{`principal.subject == "alice" && tool.api == "shop" && tool.method == "DELETE" && tool.path == "/orders/{id}" && tool.name == "purge"`, `{"id":1}`, nil, true},
		{`"mcp:tools" in principal.scopes`, `{"id":1}`, nil, true},
	} {
		g := gatewaytest.Start(t, api, fmt.Sprintf(cfg, gatewaytest.Issuers(i), tt.condition), service.URL)
		for _, revision := range gatewaytest.Eras {
			w := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, tt.claims)).Send("tools/call", "purge", tt.arguments)
			reached := len(service.Taken())
			if tt.allowed && (!gatewaytest.Delivered(w) || reached != 1) || !tt.allowed && (w.Code != 200 || reached != 0 ||
				!strings.Contains(w.Body.String(), refused) || !strings.Contains(w.Body.String(), "policy does not permit this call")) {
				t.Errorf("%s of %s, %v, %s: %d %s, %d requests", tt.condition, tt.arguments, tt.claims, revision, w.Code, w.Body, reached)
			}
		}
		// Who runs the program needs no permission.
		if result, err := gatewaytest.CallAsOperator(t.Context(), g, "purge", json.RawMessage(tt.arguments)); err != nil || strings.Contains(string(result), refused) {
			t.Errorf("on the command line: %s, %v", result, err)
		}
		service.Taken()
	}
	// A list of tools does not tell of conditions, and wrong arguments are told as ever.
	g := gatewaytest.Start(t, api, fmt.Sprintf(cfg, gatewaytest.Issuers(i), "args.id > 3"), service.URL)
	w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)).Send("tools/call", "purge", `{"id":"x"}`)
	if !strings.Contains(w.Body.String(), "expected integer") || len(service.Taken()) != 0 {
		t.Errorf("wrong arguments: %s", w.Body)
	}
}

// TestBadConditions holds that conditions are read when the configuration is, and all faults told with their places.
func TestBadConditions(t *testing.T) {
	cfg := `auth: {issuers: [{issuer: "https://idp.example.com"}], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {method: DELETE}, set: {condition: 'claims.'}}
  - {match: {method: PUT}, set: {condition: 'args.n > 1 && nobody == 2'}}
  - {match: {method: GET}, set: {condition: '1 + 1'}}
`
	dir := t.TempDir()
	_, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, dir, gatewaytest.Document("Shop", "list"), cfg, "http://127.0.0.1:1")})
	want := `DIR/drawbridge.yaml:4:48: rules[0].set.condition: 1:8: Syntax error: no viable alternative at input '.'
DIR/drawbridge.yaml:5:45: rules[1].set.condition: 1:15: undeclared reference to 'nobody'
DIR/drawbridge.yaml:6:45: rules[2].set.condition: 1:1: it is of type int, not bool`
	if got := strings.ReplaceAll(fmt.Sprint(err), dir, "DIR"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestOpaqueTokens is introspection through the whole gateway: a token works until it is revoked, and the server's absence is
// 503, not 401.
func TestOpaqueTokens(t *testing.T) {
	server, err := authtest.Start(authtest.Options{
		OpaqueTokens: true, Resources: []string{gatewaytest.ResourceURL}, Clients: []authtest.Client{{ID: "drawbridge", Secret: "s3cr3t-s3cr3t"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	service := gatewaytest.NewRecordingService(t)
	const cfg = `server: {public_url: https://mcp.example.com}
auth:
  issuers: [{issuer: "%s", tokens: opaque, introspection: {client_id: drawbridge, client_secret: "${NONE:-s3cr3t-s3cr3t}", client_auth: %s}}]
  default_scopes: [mcp:tools]
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
`
	for _, method := range []string{"client_secret_basic", "client_secret_post"} {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(cfg, server.Issuer(), method), service.URL)
		token := func() string {
			token, err := server.Issue(authtest.Token{Scopes: []string{"mcp:tools"}, ClientID: "app", Life: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		good, gone := token(), token()
		if err := server.Revoke(gone); err != nil {
			t.Fatal(err)
		}
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], good).Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("%s: a good token = %d %s", method, w.Code, w.Body)
		}
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], gone).Call("list"); w.Code != 401 {
			t.Errorf("%s: a revoked token = %d %s", method, w.Code, w.Body)
		}
		server.Fail(authtest.Introspection, &authtest.Failure{})
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], token()).Call("list"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: while the server is down = %d %s", method, w.Code, w.Body)
		}
		server.Fail(authtest.Introspection, nil)
	}
}

// TestBoundTokens holds that the modes of DPoP reach the guard: proofs themselves are package auth's.
func TestBoundTokens(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	bound := map[string]any{"cnf": map[string]string{"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}
	for _, tt := range []struct {
		mode            string
		plain, unproved int
	}{{"off", 200, 401}, {"accept", 200, 401}, {"require", 401, 401}} {
		cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, fmt.Sprintf("{issuer: %q, dpop: %s}", i.URL, tt.mode))
		if tt.mode != "off" {
			cfg = strings.Replace(cfg, "default_scopes", "dpop_nonce: true\n  default_scopes", 1)
		}
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), cfg, service.URL)
		if w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, nil)).Call("list"); w.Code != tt.plain {
			t.Errorf("%s, a token of no key = %d %v", tt.mode, w.Code, w.Header())
		}
		w := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, bound)).Call("list")
		if asked := strings.Contains(strings.Join(w.Header().Values("WWW-Authenticate"), "\n"), "DPoP "); w.Code != tt.unproved || asked != (tt.mode != "off") {
			t.Errorf("%s, a token of a key without a proof = %d %v", tt.mode, w.Code, w.Header())
		}
	}
}

// TestPresetNames holds that the configuration takes the presets that there are.
func TestPresetNames(t *testing.T) {
	for _, name := range auth.Presets() {
		text := fmt.Sprintf(`auth: {allow_unscoped: true, issuers: [{issuer: "https://idp.example.com/oauth2/id", preset: %s, audiences: [a]}]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
`, name)
		c := gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list"), text, "http://127.0.0.1:1")
		if _, err := gateway.New(gateway.Options{Config: c}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := c.Auth.Issuers[0].Opaque(); got != (name == "google") {
			t.Errorf("%s: opaque is %v", name, got)
		}
	}
}
