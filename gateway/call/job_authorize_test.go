package call_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestJobRights holds that nobody gets by a job what he does not get by a call: what scopes and conditions keep from him, wherever
// the job is said to be.
func TestJobRights(t *testing.T) {
	const document = `openapi: 3.1.0
info: {title: S, version: "1"}
paths:
  /people: {post: {operationId: make, $EXTENSION responses: {"202": {description: ok}}}}
  /people/{id}:
    get: {operationId: person, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: ok}}}
    delete: {operationId: purge, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: ok}}}
`
	const byName = `x-mcp-job: {status: {operation: person, bind: {id: "1"}}, interval: 10ms},`
	const told = "s tells of this job by what the tool person gives with the arguments {"
	const noTool = "s tells of this job by an operation that is no tool here. So it is not known here how it stands."
	idp := gatewaytest.NewIDP(t)
	for _, c := range []struct {
		name, extension, rules, auth, location string
		want                                   string
		asked                                  int // requests for the person
	}{
		{"open", "", "", "", "/people/1", "123-45", 1},
		{"scopes", "", "{match: {operation: person}, set: {scopes: [admin]}},", "", "/people/1", told, 0},
		{"hidden tools", "", "{match: {operation: person}, set: {scopes: [admin]}},", ", hide_unauthorized: true", "/people/1", noTool, 0},
		{"condition", "", `{match: {operation: person}, set: {condition: "args.id > 1"}},`, "", "/people/1", told, 0},
		{"condition that holds", "", `{match: {operation: person}, set: {condition: "args.id > 1"}},`, "", "/people/2", "123-45", 1},
		{"condition: no argument", "", `{match: {operation: person}, set: {condition: "args.id > 1"}},`, "", "/people/x", told, 0},
		{"spelled otherwise", "", "{match: {operation: person}, set: {scopes: [admin]}},", "", "/PEOPLE//%31/?x", told, 0},
		{"hidden fields", "", "{match: {operation: person}, set: {sensitive_fields: [ssn]}},", "", "/people/1", `{\"name\":\"ada\"}`, 1},
		{"extension", byName, "", "", "", "123-45", 1},
		{"extension: scopes", byName, "{match: {operation: person}, set: {scopes: [admin]}},", "", "", told, 0},
		{"extension: condition", byName, `{match: {operation: person}, set: {condition: "true"}},`, "", "", "202 Accepted", 0},
		{"extension: DELETE", strings.Replace(byName, "person", "purge", 1), "", "", "", "202 Accepted", 0},
		{"rule: scopes", "", "{match: {operation: person}, set: {scopes: [admin]}}, {match: {operation: make}, set: {job: {status: {operation: person, bind: {id: '1'}}}}},", "", "", told, 0},
		{"rule: condition", "", `{match: {operation: person}, set: {condition: "args.id > 1"}}, {match: {operation: make}, set: {job: {status: {operation: person, bind: {id: '1'}}}}},`, "", "", told, 0},
		{"rule: DELETE", "", "{match: {operation: make}, set: {job: {status: {operation: purge, bind: {id: '1'}}}}},", "", "", "202 Accepted", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodPost {
					if c.location != "" {
						w.Header().Set("Location", c.location)
					}
					w.WriteHeader(http.StatusAccepted)
					return
				}
				asked++
				_, _ = io.WriteString(w, `{"name":"ada","ssn":"123-45"}`)
			}))
			defer service.Close()
			rules := c.rules
			if c.location != "" {
				rules += "{match: {operation: make}, set: {job: {interval: 10ms}}}"
			}
			g := gatewaytest.Start(t, strings.Replace(document, "$EXTENSION", c.extension, 1), fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]%s}
apis: [{name: s, spec: $SPEC, base_url: $BASE, trust_extensions: true}]
rules: [%s]
`, gatewaytest.Issuers(idp), c.auth, rules), service.URL)
			client := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", idp.Token(t, nil))
			body := client.Send("tools/call", "make", `{}`).Body.String()
			if !strings.Contains(strings.ReplaceAll(body, `\"`, `"`), strings.ReplaceAll(c.want, `\"`, `"`)) {
				t.Errorf("%s\nwant %s", body, c.want)
			}
			if asked != c.asked || c.want != "123-45" && strings.Contains(body, "123-45") {
				t.Errorf("the service was asked %d times: %s", asked, body)
			}
		})
	}
}
