package call_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/plan"
	"drawbridge/test/gatewaytest"
)

const schemes = `openapi: 3.1.0
info: {title: A, version: '1'}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    user: {type: http, scheme: bearer}
    cert: {type: mutualTLS}
security: [{user: []}]
paths:
  /inherits: {get: {operationId: inherits, responses: {}}}
  /key: {get: {operationId: key, security: [{other: []}, {key: []}], responses: {}}}
  /both: {get: {operationId: both, security: [{key: [], user: []}], responses: {}}}
  /open: {get: {operationId: open, security: [], responses: {}}}
  /maybe: {get: {operationId: maybe, security: [{}, {key: []}], responses: {}}}
  /strange: {get: {operationId: strange, security: [{other: []}], responses: {}}}
  /cert: {get: {operationId: cert, security: [{cert: []}], responses: {}}}
`

// Which credential an operation gets, and what is said of those that get none.
func TestCredentialChoice(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	const key, user = `key: {type: api_key, in: header, name: X-Key, value: "${K:-the-key-of-a}"}`, `user: {type: bearer, token: "${U:-the-user-of-a}"}`
	for _, tt := range []struct {
		name, keys string
		want       map[string]string // by operation; others get nothing
		problems   []string
		notes      []string
	}{
		{"a default alone", `credential: {type: bearer, token: "${D:-default}"}`, map[string]string{
			"inherits": "Bearer default", "key": "Bearer default", "both": "Bearer default", "open": "Bearer default", "maybe": "Bearer default",
			"strange": "Bearer default", "cert": "Bearer default"}, nil, nil},
		{"by scheme", "credentials: {" + key + ", " + user + "}", map[string]string{
			"inherits": "Bearer the-user-of-a", "key": "the-key-of-a", "both": "Bearer the-user-of-a the-key-of-a", "maybe": "the-key-of-a"},
			[]string{`credential-missing 1: no credential is configured for the security scheme "cert": calls are sent without one`,
				`credential-missing 1: no credential is configured for the security scheme "other": calls are sent without one`},
			[]string{"2 of 7 tools can't be called: no credential is configured for the security schemes that the document requires (credential-missing)"}},
		{"by scheme and by default", `credential: {type: bearer, token: "${D:-default}"}, credentials: {` + key + "}", map[string]string{
			"inherits": "Bearer default", "key": "the-key-of-a", "both": "Bearer default", "open": "Bearer default", "maybe": "the-key-of-a", "strange": "Bearer default", "cert": "Bearer default"}, nil, nil},
		{"misspelt", "credentials: {" + strings.Replace(key, "key:", "kye:", 1) + ", elsewhere: {type: bearer, token: '${X:-xxxxxxxxxx}'}}", map[string]string{},
			[]string{`credential-missing 1: no credential is configured for the security scheme "cert": calls are sent without one`,
				`credential-missing 1: no credential is configured for the security scheme "key" and "user": calls are sent without one`,
				`credential-missing 1: no credential is configured for the security scheme "other", or "key": calls are sent without one`,
				`credential-missing 1: no credential is configured for the security scheme "other": calls are sent without one`,
				`credential-missing 1: no credential is configured for the security scheme "user": calls are sent without one`,
				`credential-unused 0: credentials.elsewhere: the document has no security scheme of that name, so the credential is not used`,
				`credential-unused 0: credentials.kye: the document has no security scheme of that name, so the credential is not used; did you mean "key"?`},
			[]string{"5 of 7 tools can't be called: no credential is configured for the security schemes that the document requires (credential-missing)"}},
		{"none at all", "timeout: 5s", map[string]string{}, nil, []string{"5 of 7 tools can't be called: the document requires user or other or key or (key and user) or cert, but no credential is configured"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := gatewaytest.Start(t, schemes, "apis: [{name: a, spec: $SPEC, base_url: $BASE, "+tt.keys+"}]", service.URL)
			for _, p := range g.Plans() {
				name := p.Tool.Name
				if status, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", name, `"name":"`+name+`","arguments":{}`); status != 200 {
					t.Fatalf("%d %s", status, answer)
				}
				got := service.Taken()
				if sent := strings.TrimSpace(got[0].Header.Get("Authorization") + " " + got[0].Header.Get("X-Key")); sent != tt.want[name] {
					t.Errorf("%s was called with %q, want %q", name, sent, tt.want[name])
				}
				if p.Credential == nil != (len(attachedSchemes(p)) == 0) || strings.Contains(tt.name, "alone") && p.Credential != nil {
					t.Errorf("%s: choice %v", name, p.Credential)
				}
			}
			report, _ := g.Report("a")
			var problems []string
			for i, p := range report.Problems {
				if !strings.HasPrefix(p.Code, "credential-") {
					continue
				}
				problems = append(problems, fmt.Sprintf("%s %d: %s", p.Code, p.Operations, p.Message))
				if p.Operations > 0 && !slices.ContainsFunc(report.Operations, func(o admin.Operation) bool { return slices.Contains(o.Problems, i) && o.Fate == admin.Exposed }) {
					t.Errorf("no tool has the problem %d: %v", i, report.Operations)
				}
			}
			slices.Sort(problems)
			if diff := cmp.Diff([][]string{tt.problems, tt.notes}, [][]string{problems, report.API.Notes}); diff != "" {
				t.Errorf("problems and notes (-want +got)\n%s", diff)
			}
			if n := report.API.ProblemCodes["credential-missing"] + report.API.ProblemCodes["credential-unused"]; n != len(tt.problems) {
				t.Errorf("%d are counted", n)
			}
		})
	}
}

// A client certificate is what schemes of mutual TLS ask for.
func TestCertifiedSchemes(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"client.pem": gatewaytest.NewCertificates(t).Issue("gateway"), "a.yaml": schemes, "drawbridge.yaml": `apis:
  - {name: a, spec: a.yaml, base_url: "https://127.0.0.1:1", client_certificate: {cert_file: client.pem, key_file: client.pem}}
  - {name: b, spec: a.yaml, base_url: "https://127.0.0.1:1", client_certificate: {cert_file: client.pem, key_file: client.pem}, credentials: {user: {type: bearer, token: xxxxxxxxxx}}}
`})
	r.Eventually("both are served", func() bool { return r.Status().Tools == 14 })
	a, _ := r.Report("a")
	if want := []string{"4 of 7 tools can't be called: the document requires user or other or key or (key and user), but no credential is configured"}; !slices.Equal(a.API.Notes, want) {
		t.Errorf("notes %q", a.API.Notes)
	}
	b, _ := r.Report("b")
	for _, p := range b.Problems {
		if p.Code == "credential-missing" && strings.Contains(p.Message, `"cert"`) {
			t.Error(p.Message)
		}
	}
}

func attachedSchemes(p *plan.Plan) []string {
	if p.Credential == nil {
		return nil
	}
	return p.Credential.Schemes()
}

// No argument sets what the gateway sends: not the place of any credential, nor a header that is passed on, nor the one that
// tells who calls, however they are written.
func TestReservedArguments(t *testing.T) {
	_, keyFile := gatewaytest.NewKey(t)
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	const doc = `openapi: 3.1.0
info: {title: A, version: '1'}
paths:
  /one:
    get:
      operationId: one
      parameters:
        - {name: x_key, in: header, schema: {type: string}}
        - {name: k, in: query, schema: {type: string}}
        - {name: c, in: cookie, schema: {type: string}}
        - {name: X_Trace, in: header, schema: {type: string}}
        - {name: x-caller, in: header, schema: {type: string}}
        - {name: free, in: query, schema: {type: string}}
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}
`
	r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "a.yaml": doc, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis:
  - name: a
    spec: a.yaml
    base_url: %s
    credential: {type: api_key, in: query, name: k, value: "${K:-kkkkkkkk}"}
    credentials: {a: {type: api_key, in: header, name: X-Key, value: "${K:-kkkkkkkk}"}, b: {type: api_key, in: cookie, name: c, value: "${K:-kkkkkkkk}"}}
    pass_headers: [X-Trace]
    identity: {header: X-Caller}
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), service.URL)})
	r.Served()
	if got := string(r.Plan("one").Operation.Input); strings.Count(got, `"type":"string"`) != 1 || !strings.Contains(got, `"free"`) {
		t.Errorf("arguments: %s", got)
	}
}
