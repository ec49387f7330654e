package main

import (
	"net/http"
	"strings"
	"testing"
)

// What Prism says of a request stands in a problem of its own, in a header beside an answer of the document, or, to HEAD,
// in a header of our script.
func TestVerdict(t *testing.T) {
	const problem = `{"type":"https://stoplight.io/prism/errors#UNPROCESSABLE_ENTITY","detail":"d","validation":[{"location":["path","id"],"severity":"Error","code":"type","message":"must be integer"}]}`
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for name, c := range map[string]struct {
		x       exchange
		verdict verdict
		reason  string
	}{
		"right":              {exchange{status: 200, header: header("Content-Type", "application/json")}, answered, ""},
		"own problem":        {exchange{status: 422, header: header("Content-Type", "application/problem+json"), body: []byte(problem)}, refused, "path.id: must be integer (type)"},
		"the document's":     {exchange{status: 422, header: header("Content-Type", "application/problem+json"), body: []byte(`{"type":"about:blank"}`)}, answered, ""},
		"head":               {exchange{status: 422, header: header("Content-Type", "application/problem+json"), unsaid: problem}, refused, "path.id: must be integer (type)"},
		"documented refusal": {exchange{status: 400, header: header("Sl-Violations", `[{"location":["request","body"],"severity":"Error","code":"type","message":"must be object"}]`)}, refused, "request.body: must be object (type)"},
		"own answer":         {exchange{status: 200, header: header("Sl-Violations", `[{"location":["response","body"],"severity":"Error","code":"type","message":"must be object"}]`)}, answered, ""},
		"warning":            {exchange{status: 200, header: header("Sl-Violations", `[{"location":["request","query","q"],"severity":"Warning","code":"deprecated","message":"is deprecated"}]`)}, answered, ""},
		"cut": {exchange{status: 200, header: header("Sl-Violations",
			`Too many violations! [{"location":["request","body"],"severity":"Error","code":1,"message":"m"},{"location":["resp`)}, refused, "request.body: m (1)"},
		"not routed": {exchange{status: 404, header: header("Content-Type", "application/problem+json"),
			body: []byte(`{"type":"https://stoplight.io/prism/errors#NO_PATH_MATCHED_ERROR","detail":"no path"}`)}, unable, "NO_PATH_MATCHED_ERROR: no path"},
		"no answer": {exchange{status: 500, header: header("Content-Type", "application/problem+json"),
			body: []byte(`{"type":"https://stoplight.io/prism/errors#SCHEMA_TOO_COMPLEX","detail":"too complex"}`)}, unanswered, "SCHEMA_TOO_COMPLEX: too complex"},
	} {
		verdict, reason := c.x.verdict()
		if verdict != c.verdict || reason != c.reason {
			t.Errorf("%s: %d %q, want %d %q", name, verdict, reason, c.verdict, c.reason)
		}
	}
}

// A finding is explained only if a rule explains each of its violations.
func TestExplain(t *testing.T) {
	const nothing = "nothing was sent"
	const parameter = "query.refresh: Request query parameter refresh must match exactly one schema in oneOf (oneOf)"
	for name, c := range map[string]struct {
		f    finding
		want string
	}{
		"alternatives of a parameter":  {finding{reason: parameter}, "one of several alternatives, for a text"},
		"and something else":           {finding{reason: parameter + "; body.a: Request body property a must be integer (type)"}, ""},
		"another parameter":            {finding{reason: parameter + "; query.n: Request query parameter n must be integer (type)"}, ""},
		"a body where none is":         {finding{reason: "request: No supported content types, but request included a non-empty body (415)"}, ""},
		"a body without a media type":  {finding{reason: "request: No supported content types, but request included a non-empty body (415)", listed: served{Bodiless: true}}, "no media type for a body"},
		"a missing member of a form":   {finding{reason: "body: Request body must have required property 'a' (required)", request: `POST /x application/x-www-form-urlencoded "b=1"`}, ""},
		"an undeclared member":         {finding{reason: "body: Request body must have required property 'a' (required)", request: `POST /x application/x-www-form-urlencoded "a=1"`}, "members of a form"},
		"a list with spaces":           {finding{reason: "query.p.0: Request query parameter p.0 must be equal to one of the allowed values: a, b (enum)", request: "GET /x?p=a%20b&q=1"}, "a list separated by spaces"},
		"a list without":               {finding{reason: "query.p.0: Request query parameter p.0 must be equal to one of the allowed values: a, b (enum)", request: "GET /x?p=a&q=1%202"}, ""},
		"false as body":                {finding{reason: ": Body parameter is required (required)", request: `PATCH /x application/merge-patch+json "false"`}, "a body of false, 0 or an empty text"},
		"no body":                      {finding{reason: ": Body parameter is required (required)", request: `POST /x  ""`}, ""},
		"a refusal among many answers": {finding{verdict: failed, reason: "404 no"}, ""},
		"no media type, told alone":    {finding{reason: "INVALID_CONTENT_TYPE: No supported content types, but request included a non-empty body", listed: served{Bodiless: true}}, "no media type for a body"},
		"an empty text in a query":     {finding{reason: "request.query: Request query must have required property 'version' (required)", request: `POST /x?Version=&a=b application/json "{}"`}, "an empty text in a query"},
		"no text in a query":           {finding{reason: "request.query: Request query must have required property 'version' (required)", request: `POST /x?a= application/json "{}"`}, ""},
		"an empty header": {finding{reason: "request.header: Request header must have required property 'x-by' (required)",
			headers: http.Header{"X-By": {""}}}, "an empty text in a header"},
		"a missing header":    {finding{reason: "request.header: Request header must have required property 'x-by' (required)"}, ""},
		"brackets in a part":  {finding{reason: "body.f: Reserved characters used in request body (<nil>)", request: `POST /x multipart/form-data; boundary=b "--b"`}, "reserved characters in a part"},
		"brackets in a form":  {finding{reason: "body.f: Reserved characters used in request body (<nil>)", request: `POST /x application/x-www-form-urlencoded "f=["`}, ""},
		"lookaround":          {finding{reason: `request.body.p: Request body property p must match pattern "^(?=.*[0-9]).{8,}$" (pattern)`}, "a pattern that looks around"},
		"a plain pattern":     {finding{reason: `request.body.p: Request body property p must match pattern "^(?:a|b)$" (pattern)`}, ""},
		"the end of int64":    {finding{reason: "request.body.n: Request body property n must be <= 9007199254740991 (maximum)"}, "the ends of int64"},
		"multipart/related":   {finding{reason: "request.body: Request body must be object (type)", request: `POST /x multipart/related; boundary=b "--b--"`}, "another multipart than form-data"},
		"multipart/form-data": {finding{reason: "request.body: Request body must be integer (type)", request: `POST /x multipart/form-data; boundary=b "--b--"`}, ""},
		"texts of headers and paths": {finding{reason: "the gateway: The arguments are not valid; nothing was sent. Correct them and call again.\n" +
			"- /h: must contain ASCII characters only: it is sent as a header\n- /id: must not contain \"/\": it is one segment of the path\nIt takes (h?: string).", request: nothing}, "a text that no header or cookie holds"},
		"and something that is wrong": {finding{reason: "the gateway: The arguments are not valid; nothing was sent. Correct them and call again.\n" +
			"- /h: must contain ASCII characters only: it is sent as a header\n- /n: must be an integer", request: nothing}, ""},
		"an empty form":        {finding{reason: ": Body parameter is required (required)", request: `DELETE /x application/x-www-form-urlencoded ""`}, "a form without members"},
		"a form with a member": {finding{reason: ": Body parameter is required (required)", request: `DELETE /x application/x-www-form-urlencoded "a="`}, ""},
		"a multiple":           {finding{reason: "request.body.r.0: Request body property r.0 must be multiple of 0.01 (multipleOf)", arguments: []byte(`{"r":[8.44]}`)}, "a multiple of a decimal fraction"},
		"no multiple":          {finding{reason: "request.body.r.0: Request body property r.0 must be multiple of 0.01 (multipleOf)", arguments: []byte(`{"r":[8.445]}`)}, ""},
		"a multiple not given": {finding{reason: "request.body.r.1: Request body property r.1 must be multiple of 0.01 (multipleOf)", arguments: []byte(`{"r":[8.44]}`)}, ""},
		"nothing but refusals": {finding{verdict: failed, reason: "404 no", listed: served{Hopeless: true}}, "nothing but refusals"},
		"several alternatives": {finding{input: []byte(`{"key":{}}`),
			reason: "request.body: Request body must have required property 'key' (required); request.body: Request body " + severalMatch}, "several alternatives at once"},
		"no alternative": {finding{input: []byte(`{"key":{}}`),
			reason: "request.body: Request body must have required property 'key' (required); request.body: Request body must match exactly one schema in oneOf (oneOf)"}, ""},
		"several alternatives of a member": {finding{
			reason: "request.body.a.b: Request body property a.b must be integer (type); request.body.a: Request body property a " + severalMatch}, "several alternatives at once"},
		"several alternatives elsewhere": {finding{
			reason: "request.body.ab: Request body property ab must be integer (type); request.body.a: Request body property a " + severalMatch}, ""},
	} {
		switch c.f.request {
		case "":
			c.f.request = "GET /x"
		case nothing:
			c.f.request = ""
		}
		if got := c.f.explain(); got.rule != c.want {
			t.Errorf("%s: rule %q, want %q", name, got.rule, c.want)
		}
	}
	for _, r := range rules {
		if !strings.Contains(r.clause, " ") {
			t.Errorf("the rule %q names no clause", r.name)
		}
	}
}
