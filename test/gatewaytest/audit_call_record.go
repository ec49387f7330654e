package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/test/timebox"
)

const accountedDocument = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders/{id}:
    get: {operationId: get, parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: pin, in: query, schema: {type: string}}],
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    delete: {operationId: delete, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'204': {description: ok}}}
  /stock: {get: {operationId: stock, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}
  /secret: {get: {operationId: secret, responses: {'200': {description: ok}}}}
`

// Accounting is a gateway with an audit log, in front of a service that answers as the test has it.
type Accounting struct {
	*Running
	I       *IDP
	Service *httptest.Server
	Out     *Sink
	Seen    int // lines that the test has had
}

// Accounted starts a gateway with an audit log and a service that answers with answer.
func Accounted(t *testing.T, o audit.Options, answer http.HandlerFunc) *Accounting {
	t.Helper()
	return AccountedWith(t, o, gateway.Options{}, answer)
}

// AccountedWith is accounted with other options of the gateway; the audit log is filled in.
func AccountedWith(t *testing.T, o audit.Options, options gateway.Options, answer http.HandlerFunc) *Accounting {
	t.Helper()
	a := &Accounting{Out: &Sink{}, I: NewIDP(t)}
	service := httptest.NewServer(answer)
	t.Cleanup(service.Close)
	a.Service = service
	if o.Output == nil {
		o.Output = a.Out
	}
	log, err := audit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	t.Cleanup(func() { cancel(); timebox.Wait(t, ended) })
	options.Audit = log
	a.Running = RunWith(t, map[string]string{"a.yaml": accountedDocument, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s, trusted_proxies: [192.0.2.1]}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: a.yaml, base_url: %q, follow_redirects: same_origin}]
rules:
  - {match: {operation: get}, set: {condition: 'args.id != 13', sensitive_fields: [pin]}}
  - {match: {operation: delete}, set: {confirm: true}}
  - {match: {operation: stock}, set: {resource: true}}
  - {match: {operation: secret}, set: {scopes: [admin]}}
prompts:
  - {name: status, messages: [{tool: stock}]}
endpoints: [{name: part, match: {operation: stock}}]
`, PublicURL, Issuers(a.I), service.URL)}, options)
	a.Eventually("all is served", func() bool { return a.Status().Tools == 4 })
	return a
}

// Lines returns the next lines when there are as many, as objects, without what differs each time. Each must fit what docs say of it.
func (a *Accounting) Lines(n int) (found []map[string]any) {
	a.T.Helper()
	schema, err := jsonschema.NewCompiler().Compile(root(a.T) + "/docs/audit.schema.json")
	if err != nil {
		a.T.Fatal(err)
	}
	a.Eventually("the lines are written", func() bool { return strings.Count(a.Out.String(), "\n") >= a.Seen+n })
	all := strings.Split(strings.TrimSuffix(a.Out.String(), "\n"), "\n")
	for _, line := range all[a.Seen:] {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			a.T.Fatalf("%v: %s", err, line)
		}
		if err := schema.Validate(v); err != nil {
			a.T.Errorf("%v: %s", err, line)
		}
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			a.T.Fatal(err)
		}
		delete(m, "time")
		delete(m, "duration_ms")
		found = append(found, m)
	}
	a.Seen = len(all)
	return found
}

// Post makes a modern call of stock; from is the peer.
func (a *Accounting) Post(h http.Header, path string, from ...string) {
	a.T.Helper()
	h = h.Clone()
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "stock"} {
		h.Set(name, value)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stock","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequest(http.MethodPost, PublicURL+path, strings.NewReader(body))
	if err != nil {
		a.T.Fatal(err)
	}
	r.Header, r.RemoteAddr = h, "192.0.2.9:99"
	if len(from) > 0 {
		r.RemoteAddr = from[0]
	}
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
}
