package endpoint_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// caller is a kind of caller with one kind of credential.
type caller struct {
	name   string
	header func() http.Header // of each request anew, since proofs are used once
	query  string
	from   string // address; "" for one that is allowed
	status int    // of each response, if the caller is nobody; 0 if it is somebody
	scopes []string

	revision string
}

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

var revisions = []string{stateless, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// action is something that a caller does.
type action struct {
	name, method, params string
	mcpName              string
	scope                string // without it the response is 403; "" if every caller may
	reaches              bool   // the service is called
	path                 string // of a GET; "" for a message to /mcp
	code                 int    // of the response to a caller that may
	earlier              int    // the same for revisions with sessions, where it differs
	since                string // the first revision that has the method; "" for all
}

// TestCallerMatrix generates who may do what: kinds of callers and their credentials, by kinds of requests, in each revision. The expected cell follows from
// the scopes of the caller and the scope of the action alone, so that nothing is open by accident: nobody gets anything but a
// refusal, and without the scope the answer is 403 and the service is not called.
func TestCallerMatrix(t *testing.T) {
	idp, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	opaque := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, scope, _ := strings.Cut(r.FormValue("token"), "-")
		_, _ = fmt.Fprintf(w, `{"active":%t,"sub":"alice","client_id":"app","aud":%q,"scope":%q,"exp":%d}`,
			kind == "active", gatewaytest.ResourceURL, strings.ReplaceAll(scope, "_", ":"), time.Now().Add(time.Hour).Unix())
	}))
	t.Cleanup(opaque.Close)
	openSkill, closedSkill := writeSkill(t, "open"), writeSkill(t, "closed")
	keys := map[string]string{}
	var entries []string
	for name, rest := range map[string]string{
		"scoped": "scopes: [mcp:tools]", "admin": `scopes: ["orders:all"]`, "scopeless": "groups: [g]", "expired": `scopes: ["orders:all"], expires: 2020-01-01`,
		"bound": `scopes: [mcp:tools], addresses: [198.51.100.0/24]`,
	} {
		keys[name] = auth.NewAPIKey()
		entries = append(entries, fmt.Sprintf("{name: %s, hash: %q, %s}", name, config.NewKeyHash(auth.HashAPIKey(keys[name])), rest))
	}
	issuers := strings.Replace(gatewaytest.Issuers(idp), "}", ", dpop: accept}", 1) +
		fmt.Sprintf(", {issuer: %q, tokens: opaque, introspection: {endpoint: %q}}", opaque.URL, opaque.URL)
	cfg := strings.NewReplacer("server: {", fmt.Sprintf("server: {state_dir: %q, ", t.TempDir()), "  default_scopes", "  keys: ["+strings.Join(entries, ", ")+"]\n  default_scopes",
		`set: {scopes: ["orders:admin"]}`, `set: {scopes: ["orders:admin"], resource: {tool: true, uri: "shop://purged/{id}"}}`, "apis: [", "files: {}\napis: [",
	).Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, issuers)) + `prompts:
  - {name: open, messages: [{text: t}]}
  - {name: closed, scopes: ["orders:admin"], messages: [{text: t}]}
skills: [{folder: ` + openSkill + `}, {folder: ` + closedSkill + `, scopes: ["orders:admin"]}]
`
	description := filepath.Join(t.TempDir(), "w.arazzo.yaml")
	if err := os.WriteFile(description, []byte(`arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: shop, url: api.yaml}]
workflows: [{workflowId: both, steps: [{stepId: a, operationId: list}, {stepId: b, operationId: purge, parameters: [{name: id, in: path, value: x}]}]}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg += "workflows: [" + description + "]\n"
	doc := strings.Replace(gatewaytest.Document("Shop", "list", "purge"), "/purge: {get: {operationId: purge,",
		"'/purge/{id}': {get: {operationId: purge, parameters: [{name: id, in: path, required: true, schema: {type: string}}],", 1)
	g := gatewaytest.Start(t, doc, cfg, service.URL)
	hiding := gatewaytest.Start(t, doc, strings.Replace(cfg, "  default_scopes", "  hide_unauthorized: true\n  default_scopes", 1), service.URL)

	bearer := func(token string) func() http.Header {
		return func() http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	}
	inHeader := func(key string) func() http.Header {
		return func() http.Header { return http.Header{"X-Api-Key": {key}} }
	}
	prover := newProver(t)
	boundToken := func(scope string) string {
		return idp.Token(t, map[string]any{"scope": scope, "cnf": map[string]any{"jkt": prover.thumbprint}})
	}
	proven := func(token string) func() http.Header {
		return func() http.Header {
			return http.Header{"Authorization": {"DPoP " + token}, "Dpop": {prover.proof(t, token)}}
		}
	}
	jwt := func(change map[string]any) string { return idp.Token(t, change) }
	tools, all := []string{"mcp:tools"}, []string{"mcp:tools", "orders:admin"}
	callers := []caller{
		{name: "anonymous", header: func() http.Header { return http.Header{} }, status: 401},
		{name: "JWT", header: bearer(jwt(nil)), scopes: tools},
		{name: "JWT with all scopes", header: bearer(jwt(map[string]any{"scope": "orders:all"})), scopes: all},
		{name: "JWT with both scopes", header: bearer(jwt(map[string]any{"scope": "mcp:tools orders:admin"})), scopes: all},
		{name: "JWT without scopes", header: bearer(jwt(map[string]any{"scope": "profile"}))},
		{name: "expired JWT", header: bearer(jwt(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})), status: 401},
		{name: "JWT for others", header: bearer(jwt(map[string]any{"aud": "https://other.example.com/mcp"})), status: 401},
		{name: "JWT of others", header: bearer(gatewaytest.NewIDP(t).Token(t, nil)), status: 401},
		{name: "JWT in the header of keys", header: inHeader(jwt(nil)), status: 401},
		{name: "opaque token", header: bearer("active-mcp_tools"), scopes: tools},
		{name: "opaque token without scopes", header: bearer("active-profile")},
		{name: "inactive opaque token", header: bearer("inactive-mcp_tools"), status: 401},
		{name: "opaque token in the header of keys", header: inHeader("active-mcp_tools"), status: 401},
		{name: "bound token", header: proven(boundToken("mcp:tools")), scopes: tools},
		{name: "bound token without scopes", header: proven(boundToken("profile"))},
		{name: "bound token without a proof", header: bearer(boundToken("orders:all")), status: 401},
		{name: "key with a proof", header: proven(keys["admin"]), status: 401},
		{name: "key", header: bearer(keys["scoped"]), scopes: tools},
		{name: "key in its header", header: inHeader(keys["scoped"]), scopes: tools},
		{name: "key with all scopes", header: inHeader(keys["admin"]), scopes: all},
		{name: "key without scopes", header: bearer(keys["scopeless"])},
		{name: "key from its network", header: bearer(keys["bound"]), from: "198.51.100.9", scopes: tools},
		{name: "key from elsewhere", header: bearer(keys["bound"]), from: "203.0.113.9", status: 401},
		{name: "expired key", header: bearer(keys["expired"]), status: 401},
		{name: "unknown key", header: bearer(auth.NewAPIKey()), status: 401},
		{name: "cut key", header: bearer(keys["admin"][:43]), status: 401},
		{name: "key and token", header: func() http.Header {
			return http.Header{"Authorization": {"Bearer " + jwt(nil)}, "X-Api-Key": {keys["admin"]}}
		}, status: 400},
		{name: "two keys", header: func() http.Header { return http.Header{"X-Api-Key": {keys["admin"], keys["admin"]}} }, status: 400},
		{name: "key in the query", header: func() http.Header { return http.Header{} }, query: "?api_key=" + keys["admin"], status: 400},
		{name: "token in the query", header: func() http.Header { return http.Header{} }, query: "?access_token=x", status: 400},
	}
	actions := []action{
		{name: "discover", method: "server/discover", code: 200, since: stateless},
		{name: "list", method: "tools/list", code: 200},
		{name: "call", method: "tools/call", mcpName: "list", params: `"name":"list","arguments":{}`, scope: "mcp:tools", reaches: true, code: 200},
		{name: "call with a scope", method: "tools/call", mcpName: "purge", params: `"name":"purge","arguments":{"id":"7"}`, scope: "orders:admin", reaches: true, code: 200},
		{name: "workflow", method: "tools/call", mcpName: "both", params: `"name":"both","arguments":{}`, scope: "orders:admin", reaches: true, code: 200},
		{name: "workflow through call_tool", method: "tools/call", mcpName: "call_tool", params: `"name":"call_tool","arguments":{"name":"both"}`, scope: "orders:admin", reaches: true, code: 200},
		{name: "call through call_tool", method: "tools/call", mcpName: "call_tool", params: `"name":"call_tool","arguments":{"name":"list"}`, scope: "mcp:tools", reaches: true, code: 200},
		{name: "call with a scope through read_tool", method: "tools/call", mcpName: "read_tool", params: `"name":"read_tool","arguments":{"name":"purge","arguments":{"id":"7"}}`, scope: "orders:admin", reaches: true, code: 200},
		{name: "search", method: "tools/call", mcpName: "search_tools", params: `"name":"search_tools","arguments":{"query":"purge"}`, code: 200},
		{name: "describe", method: "tools/call", mcpName: "describe_tools", params: `"name":"describe_tools","arguments":{"names":["purge"]}`, code: 200},
		{name: "file of nobody", method: "tools/call", mcpName: "read_file", params: `"name":"read_file","arguments":{"uri":"drawbridge-file:aaaaaaaaaaaaaaaa"}`, code: 200},
		{name: "upload", method: "tools/call", mcpName: "upload_file", params: `"name":"upload_file","arguments":{"name":"a.pdf","size":1}`, code: 200},
		{name: "file of nobody as a resource", method: "resources/read", mcpName: "drawbridge-file:aaaaaaaaaaaaaaaa", params: `"uri":"drawbridge-file:aaaaaaaaaaaaaaaa"`, code: 400, earlier: 200},
		{name: "download of nobody's file", path: "/files/aaaaaaaaaaaaaaaa", code: 404},
		{name: "resources", method: "resources/list", code: 200},
		{name: "resource", method: "resources/read", mcpName: "shop://purged/7", params: `"uri":"shop://purged/7"`, scope: "orders:admin", reaches: true, code: 200},
		{name: "prompts", method: "prompts/list", code: 200},
		{name: "prompt", method: "prompts/get", mcpName: "open", params: `"name":"open"`, scope: "mcp:tools", code: 200},
		{name: "prompt with a scope", method: "prompts/get", mcpName: "closed", params: `"name":"closed"`, scope: "orders:admin", code: 200},
		{name: "skills", method: "skills/list", code: 200, since: stateless},
		{name: "skill", method: "skills/get", params: `"uri":"skill://open/SKILL.md"`, scope: "mcp:tools", code: 200, since: stateless},
		{name: "skill with a scope", method: "skills/get", params: `"uri":"skill://closed/SKILL.md"`, scope: "orders:admin", code: 200, since: stateless},
		{name: "file of a skill", method: "resources/read", mcpName: "skill://open/SKILL.md", params: `"uri":"skill://open/SKILL.md"`, scope: "mcp:tools", code: 200},
		{name: "file of a skill with a scope", method: "resources/read", mcpName: "skill://closed/SKILL.md", params: `"uri":"skill://closed/SKILL.md"`, scope: "orders:admin", code: 200},
		{name: "task of nobody", method: "tasks/get", mcpName: "x", params: `"taskId":"x"`, code: 400, earlier: 200},
	}
	open, cells := 0, 0
	for _, revision := range revisions {
		for _, c := range callers {
			c.revision = revision
			for _, a := range actions {
				if revision < a.since {
					continue
				}
				code, reached, body := c.do(g.Handler(), a, service)
				want, reaches := a.code, a.reaches
				if revision != stateless && a.earlier != 0 {
					want = a.earlier
				}
				switch {
				case c.status != 0:
					want, reaches = c.status, false
				case a.path != "" && strings.HasPrefix(c.name, "bound token"): // its proof is for /mcp
					want, reaches = http.StatusUnauthorized, false
				case a.scope != "" && !slices.Contains(c.scopes, a.scope):
					want, reaches = http.StatusForbidden, false
				}
				if cells++; code != want || reached != reaches {
					t.Errorf("%s: %s × %s = %d, service called: %t; want %d, %t: %.300s", revision, c.name, a.name, code, reached, want, reaches, body)
				}
				if code < 400 && want >= 400 || reached && !reaches {
					open++
				}
				if c.status != 0 || a.scope != "" || a.path != "" || strings.Contains(a.mcpName, "file") || a.method == "server/discover" || a.method == "tasks/get" || a.method == "prompts/list" || a.method == "resources/list" || a.method == "skills/list" {
					continue
				}
				// What lists and searches show is the scope's, too, where tools are hidden.
				_, _, body = c.do(hiding.Handler(), a, service)
				shown := strings.Contains(body, `"purge"`) || strings.Contains(body, `\"purge\"`) || strings.Contains(body, "purge(")
				if may := slices.Contains(c.scopes, "orders:admin"); a.name == "list" && shown != may || shown && !may && a.name != "describe" {
					open++
					t.Errorf("%s: %s × %s where tools are hidden: purge is shown: %t: %.300s", revision, c.name, a.name, shown, body)
				}
			}
		}
	}
	t.Logf("%d cells, %d open by accident", cells, open)
}

// writeSkill writes a skill, and returns its folder.
func writeSkill(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: d\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// do sends the request of an action, and reports whether the service was called. In a revision with sessions the caller begins one first; a
// caller that may not sends the request without it.
func (c *caller) do(h http.Handler, a action, service *gatewaytest.RecordingService) (code int, reached bool, body string) {
	params, session := "", ""
	if c.revision == stateless {
		params = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + stateless + `","io.modelcontextprotocol/clientCapabilities":{}}`
		if a.params != "" {
			params += ","
		}
	} else {
		began := c.send(h, message("initialize", c.query, fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}`, c.revision)), "initialize", "", "")
		session = began.Header().Get("Mcp-Session-Id")
	}
	r := message(a.method, c.query, params+a.params)
	if a.path != "" {
		r = httptest.NewRequest(http.MethodGet, strings.TrimSuffix(gatewaytest.ResourceURL, "/mcp")+a.path+c.query, nil)
	}
	w := c.send(h, r, a.method, a.mcpName, session)
	return w.Code, len(service.Taken()) > 0, w.Body.String()
}

// message returns the request of a message to the MCP endpoint.
func message(method, query, params string) *http.Request {
	return httptest.NewRequest(http.MethodPost, gatewaytest.ResourceURL+query, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)))
}

// send sends a request with the credentials of the caller, from its address.
func (c *caller) send(h http.Handler, r *http.Request, method, mcpName, session string) *httptest.ResponseRecorder {
	r.Header = c.header()
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": c.revision,
		"Mcp-Session-Id": session} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if c.revision == stateless && method != "" {
		r.Header.Set("Mcp-Method", method)
		if mcpName != "" {
			r.Header.Set("Mcp-Name", mcpName)
		}
	}
	r.RemoteAddr = "198.51.100.1:1"
	if c.from != "" {
		r.RemoteAddr = c.from + ":1"
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// prover makes proofs of possession (RFC 9449) with one key.
type prover struct {
	signer     jose.Signer
	thumbprint string
	made       int
}

func newProver(t *testing.T) *prover {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := (&jose.JSONWebKey{Key: key.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	return &prover{signer: signer, thumbprint: base64.RawURLEncoding.EncodeToString(sum)}
}

func (p *prover) proof(t *testing.T, token string) string {
	t.Helper()
	p.made++
	hash := sha256.Sum256([]byte(token))
	claims, err := json.Marshal(map[string]any{"htm": "POST", "htu": gatewaytest.ResourceURL, "iat": time.Now().Unix(), "jti": fmt.Sprint("proof-", p.made),
		"ath": base64.RawURLEncoding.EncodeToString(hash[:])})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := p.signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
