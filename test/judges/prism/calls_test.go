package main

import (
	"errors"
	"strings"
	"testing"
)

// Calls that are not accepted are grouped by what is wrong, whatever the names and values of their document are.
func TestKindOfRefusal(t *testing.T) {
	for want, f := range map[string]finding{
		"body: must be integer (type)":                               {request: "POST /x", reason: "request.body.a.0.b: Request body property a.0.b must be integer (type)"},
		"path: must be integer (type)":                               {request: "GET /x", open: "path.id: Request path parameter id must be integer (type)", reason: "…"},
		"query: must be equal to one of the allowed values (enum)":   {request: "GET /x", reason: "query.q: Request query parameter q must be equal to one of the allowed values: a, b (enum)"},
		"body: must match pattern … (pattern)":                       {request: "POST /x", reason: `request.body.a: Request body property a must match pattern "^a: \d$" (pattern)`},
		"body: must have required property … (required)":             {request: "POST /x", reason: "body: Request body must have required property 'a' (required)"},
		"header: must NOT have more than N characters (maxLength)":   {request: "GET /x", reason: "header.h: Request header parameter h must NOT have more than 36 characters (maxLength)"},
		"the gateway: must be at most N":                             {reason: "the gateway: The arguments are not valid; nothing was sent.\n- /a/b: must be at most 7\n", open: "the gateway: /a/b: must be at most 7"},
		"no arguments were found: a: no value fits: … leads nowhere": {reason: `no arguments were found: a: no value fits: "#/x" leads nowhere`},
		"a rule":                {rule: "a rule", reason: "path.id: Request path parameter id must be integer (type)"},
		"NO_PATH_MATCHED_ERROR": {verdict: unable, reason: "NO_PATH_MATCHED_ERROR: no path /a"},
	} {
		if got := kindOfRefusal(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A call is accepted, explained, refused by Prism or by the gateway, or never made, and only Prism's inability takes it out
// of the share that decides.
func TestCallReport(t *testing.T) {
	accepted := finding{verdict: answered, accepted: true, request: "GET /"}
	isError := finding{verdict: failed, accepted: true, request: "GET /", reason: "404"}
	byPrism := finding{request: "GET /b", operation: "GET /b", reason: "path.id: Request path parameter id must be integer (type)", arguments: []byte(`{"id":1}`)}
	byGateway := finding{reason: "the gateway: no", arguments: []byte(`{}`)}
	unmade := finding{reason: "no arguments were found: none"}
	skipped := finding{verdict: unable, reason: "Prism does not list it"}
	hopeless := finding{verdict: explained, accepted: true, rule: "nothing but refusals", request: "GET /"}
	ruled := finding{verdict: explained, rule: "a rule", request: "GET /"}

	var text strings.Builder
	r := &callReport{out: &text}
	r.add(outcome{document: "a.json", tools: 9, sampled: 7, findings: []finding{accepted, isError, byPrism, byPrism, byGateway, unmade, skipped, ruled, hopeless}})
	if err := r.print(99.5); !errors.Is(err, errMissed) {
		t.Errorf("4 of 8 calls are accepted or explained, and the error is %v", err)
	}
	for _, want := range []string{
		"a.json: 9 calls of 7 operations, 3 accepted, 1 explained, 2 refused by Prism, 1 by the gateway, 1 without arguments, 1 not judged",
		"refused by Prism: path: must be integer (type): 2 calls of 1 operations in 1 documents, such as a.json:\n  GET /b\n",
		`arguments: {"id":1}`,
		"1 documents, 9 operations, 7 of them called. Of 9 calls 8 are judged: 37.50 % are accepted, 50.00 % with what rules explain; " +
			"Prism refuses 2, the gateway refuses 1 before sending, and for 1 no arguments were found.",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}

	r = &callReport{out: &text}
	r.add(outcome{document: "a.json", findings: []finding{accepted, ruled, skipped}})
	if err := r.print(99.5); err != nil {
		t.Errorf("all is accepted or explained: %v", err)
	}
}
