package console

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/call"
	"drawbridge/openapi/unseen"
)

// tried is a gateway that remembers which calls were made.
type tried struct {
	tools map[string]TrialTool
	calls []string
	err   error
}

func (t *tried) Trial(tool string) (TrialTool, bool) {
	of, ok := t.tools[tool]
	return of, ok
}

func (t *tried) Try(_ context.Context, actor, tool string, args json.RawMessage) (TrialResult, error) {
	if t.err != nil {
		return TrialResult{}, t.err
	}
	t.calls = append(t.calls, actor+" "+tool+" "+string(args))
	return TrialResult{
		Exchanges: []call.Exchange{{
			Method: "GET", URL: "http://service/orders?q=<b>", RequestHeader: []call.HeaderLine{{Name: "Authorization", Value: "[hidden]"}}, Status: 200,
			ResponseBody: `<script>alert(1)</script>`,
		}}, Result: json.RawMessage(`{"isError":false,"content":[]}`),
	}, nil
}

func (t *tried) Request(_ context.Context, tool string, args json.RawMessage) (call.Exchange, error) {
	if strings.Contains(string(args), "bad") {
		return call.Exchange{}, errors.New("bad arguments")
	}
	return call.Exchange{Method: "GET", URL: "http://service/" + tool, RequestBody: string(args)}, nil
}

const trialSchema = `{"type":"object","required":["id","state"],"properties":{
	"note":{"type":"string","description":"A <b>note</b>"},
	"id":{"type":"integer","default":7},
	"state":{"enum":["open","closed",null]},
	"price":{"type":["number","null"]},
	"urgent":{"type":"boolean"},
	"tags":{"type":"array","items":{"type":"string"}},
	"any":true}}`

func newTrials() *tried {
	return &tried{tools: map[string]TrialTool{
		"getOrder":    {Name: "getOrder", Title: "Get", API: "shop", Method: "GET", Path: "/orders/{id}", Input: json.RawMessage(trialSchema)},
		"deleteOrder": {Name: "deleteOrder", Title: "Delete", API: "shop", Method: "DELETE", Path: "/orders/{id}", Input: json.RawMessage(`{"properties":{"id":{"type":"string"}}}`), Confirm: true},
		"mine":        {Name: "mine", Title: "Mine", API: "shop", Method: "GET", Path: "/me", Refused: "It needs a user."},
	}}
}

// TestTryForm holds what the values of a form become, and what is said of those that can't be used.
func TestTryForm(t *testing.T) {
	f := newTryForm(json.RawMessage(trialSchema))
	var order []string
	for _, field := range f.fields {
		order = append(order, field.Name+" "+string(field.Kind))
	}
	if diff := cmp.Diff([]string{"id integer", "state choice", "note text", "price number", "urgent choice", "tags json", "any json"}, order); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	for _, test := range []struct {
		name string
		form url.Values
		want string // the arguments, or the problems by field
	}{
		{"nothing", url.Values{}, `{}`},
		{"all", url.Values{"arg.id": {"9007199254740993"}, "arg.state": {`"open"`}, "arg.note": {"a \"b\"\r\nc"}, "arg.price": {"1e3"}, "arg.urgent": {"false"}, "arg.tags": {`["a"]`}, "arg.any": {"null"}},
			`{"id":9007199254740993,"state":"open","note":"a \"b\"\nc","price":1e3,"urgent":false,"tags":["a"],"any":null}`},
		{"null of an enumeration", url.Values{"arg.state": {"null"}}, `{"state":null}`},
		{"faults", url.Values{"arg.id": {"seven"}, "arg.state": {`"gone"`}, "arg.tags": {"a,b"}, "arg.price": {"01"}},
			`id: This is not a number. state: This is none of the values. price: This is not a number. tags: This is not JSON. A text is written in quotes: "text". `},
		{"JSON", url.Values{"use": {"json"}, "arguments": {` {"id": 1} `}}, `{"id": 1}`},
		{"no JSON", url.Values{"use": {"json"}, "arguments": {"[1]"}}, "The arguments must be a JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"},
		{"unknown fields", url.Values{"arg.other": {"1"}, "id": {"1"}}, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			args, fields, err := f.arguments(r)
			got := string(args)
			if err != nil {
				got = ""
				for _, field := range fields {
					if field.Problem != "" {
						got += field.Name + ": " + field.Problem + " "
					}
				}
				if got == "" {
					got = err.Error()
				}
			}
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// unseenText has characters that pages are cleaned of: a zero-width space, a tag, an override of the direction, a control character.
const unseenText = "a\u200bb\U000e0041\u202ec\u0086"

// TestTryUnseen: a form sends characters that nobody sees, also after the confirmation, in which the operator sees them as escapes. The
// values of a choice are sent as the document has them.
func TestTryUnseen(t *testing.T) {
	trials := newTrials()
	trials.tools["confirmed"] = TrialTool{Name: "confirmed", Confirm: true, Input: json.RawMessage(`{"type":"object","properties":{"note":{"type":"string"},"kind":{"enum":["x` + "\u200b" + `y","z"]}}}`)}
	c := newTestConsole(t, func(o *Options) { o.Trials, o.Clean = trials, unseen.Bytes })
	b := signedIn(t, c, operateToken)
	for _, form := range []url.Values{
		{"arg.note": {unseenText}},
		{"use": {"json"}, "arguments": {"{\"note\":\r\n\"" + unseenText + "\"}"}},
	} {
		trials.calls = nil
		form.Set("csrf", b.csrf())
		page := b.post("/console/try/confirmed", form).Body.String()
		if !strings.Contains(page, `a\u200bb\udb40\udc41\u202ec\u0086`) {
			t.Errorf("the confirmation does not show what nobody sees: %s", page)
		}
		again := url.Values{"csrf": {b.csrf()}, "use": {"json"}}
		for _, name := range []string{"arguments", "consent"} {
			_, rest, _ := strings.Cut(page, `name="`+name+`" value="`)
			value, _, _ := strings.Cut(rest, `"`)
			again.Set(name, html.UnescapeString(value))
		}
		b.post("/console/try/confirmed", again)
		var sent struct{ Note string }
		if len(trials.calls) != 1 || json.Unmarshal([]byte(trials.calls[0][strings.IndexByte(trials.calls[0], '{'):]), &sent) != nil || sent.Note != unseenText {
			t.Errorf("sent %+q, want %+q", trials.calls, unseenText)
		}
		if form.Get("use") == "" {
			_, rest, _ := strings.Cut(page, `name="arg.note" value="`)
			value, _, _ := strings.Cut(rest, `"`)
			if got := html.UnescapeString(value); got != strings.TrimSuffix(unseenText, "\u0086") { // which has no character reference
				t.Errorf("the form has %+q", got)
			}
		}
	}
	page := b.get("/console/try/confirmed").Body.String()
	if !strings.Contains(page, "&#x200b;y&#34;") {
		t.Errorf("the choice has lost what nobody sees: %s", page)
	}
}

func TestTryPage(t *testing.T) {
	trials := newTrials()
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Trials = trials }), operateToken)
	page := b.get("/console/try/getOrder").Body.String()
	if !strings.Contains(page, "A &lt;b&gt;note&lt;/b&gt;") || strings.Index(page, `name="arg.id"`) > strings.Index(page, `name="arg.note"`) {
		t.Errorf("form %s", page)
	}
	w := b.post("/console/try/getOrder", url.Values{"csrf": {b.csrf()}, "arg.id": {"5"}})
	if diff := cmp.Diff([]string{`admin:admin getOrder {"id":5}`}, trials.calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	if page := w.Body.String(); strings.Contains(page, "<script>alert") || !strings.Contains(page, "&lt;script&gt;alert(1)") || !strings.Contains(page, "Authorization: [hidden]") || !strings.Contains(page, `value="5"`) {
		t.Errorf("outcome %s", page)
	}
	if w := b.get("/console/try/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown tool: %d", w.Code)
	}
	if w := b.get("/console/try?tool=getOrder"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/try/getOrder" {
		t.Errorf("by name: %d %s", w.Code, w.Header())
	}
	trials.err = errors.New("unknown tool")
	if w := b.post("/console/try/getOrder", url.Values{"csrf": {b.csrf()}}); !strings.Contains(w.Body.String(), "unknown tool") {
		t.Errorf("a call that was not made: %s", w.Body)
	}
}

// TestTryRefusals holds that no call is made without the role, the CSRF token, the same origin, a tool that can be called
// without a user, and the confirmation of exactly this call.
func TestTryRefusals(t *testing.T) {
	trials := newTrials()
	c := newTestConsole(t, func(o *Options) { o.Trials = trials })
	operator, visitor := signedIn(t, c, operateToken), signedIn(t, c, viewToken)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"role, page": visitor.get("/console/try/getOrder"),
		"role, call": visitor.post("/console/try/getOrder", url.Values{"csrf": {visitor.csrf()}}),
		"csrf":       operator.post("/console/try/getOrder", url.Values{}),
		"csrf, own":  operator.post("/console/try/getOrder", url.Values{"csrf": {visitor.csrf()}}),
	} {
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	foreign := httptest.NewRequest(http.MethodPost, "/console/try/getOrder", strings.NewReader(url.Values{"csrf": {operator.csrf()}}.Encode()))
	foreign.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if w := operator.send(foreign); w.Code != http.StatusForbidden {
		t.Errorf("another site: %d", w.Code)
	}
	if w := operator.post("/console/try/mine", url.Values{"csrf": {operator.csrf()}}); !strings.Contains(w.Body.String(), "It needs a user.") {
		t.Errorf("a user's tool: %s", w.Body)
	}
	csrf := operator.csrf()
	w := operator.post("/console/try/deleteOrder", url.Values{"csrf": {csrf}, "arg.id": {"1"}})
	match := regexp.MustCompile(`name="consent" value="([0-9a-f]{64})"`).FindStringSubmatch(w.Body.String())
	if match == nil || len(trials.calls) > 0 {
		t.Fatalf("calls %q; %s", trials.calls, w.Body)
	}
	consent := url.Values{"csrf": {csrf}, "use": {"json"}, "consent": {match[1]}, "arguments": {`{"id":"2"}`}}
	if operator.post("/console/try/deleteOrder", consent); len(trials.calls) > 0 {
		t.Errorf("other arguments than the confirmed ones: %q", trials.calls)
	}
	consent.Set("arguments", `{"id":"1"}`)
	operator.post("/console/try/deleteOrder", consent)
	if diff := cmp.Diff([]string{`admin:admin deleteOrder {"id":"1"}`}, trials.calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
}

// TestTryRequest: the form begins with an example that fits, and the page has the request and the command before anything is sent.
func TestTryRequest(t *testing.T) {
	trials := newTrials()
	tool := trials.tools["getOrder"]
	tool.Example = json.RawMessage(`{"id":7,"state":"open","note":"it's"}`)
	trials.tools["getOrder"] = tool
	b := signedIn(t, newTestConsole(t, func(o *Options) { o.Trials = trials }), operateToken)
	page := html.UnescapeString(b.get("/console/try/getOrder").Body.String())
	for _, want := range []string{
		`name="arg.id" value="7"`, `value="it's"`, `<option value=""open"" selected>`, "GET http://service/getOrder", `curl -s 'http://127.0.0.1:8080/mcp' \`,
		`-H 'Mcp-Name: getOrder'`, `"arguments":{"id":7,"state":"open","note":"it'\''s"}`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	page = b.post("/console/try/getOrder", url.Values{"csrf": {b.csrf()}, "show": {"request"}, "arg.id": {"8"}}).Body.String()
	if !strings.Contains(page, "{&#34;id&#34;:8}") || len(trials.calls) != 0 {
		t.Errorf("shown: %d calls, %s", len(trials.calls), page)
	}
	page = b.post("/console/try/getOrder", url.Values{"csrf": {b.csrf()}, "show": {"request"}, "arg.note": {"bad"}}).Body.String()
	if !strings.Contains(page, "bad arguments") || len(trials.calls) != 0 {
		t.Errorf("unfit: %s", page)
	}
	if page := b.post("/console/try/deleteOrder", url.Values{"csrf": {b.csrf()}, "show": {"request"}}).Body.String(); strings.Contains(page, `id="confirm"`) {
		t.Error("a request that is only shown asks for the confirmation")
	}
}

// TestTryFormReferences: arguments behind references and in allOf have fields of their type.
func TestTryFormReferences(t *testing.T) {
	f := newTryForm(json.RawMessage(`{"allOf":[{"$ref":"#/$defs/base"},{"properties":{"n":{"allOf":[{"$ref":"#/$defs/count"},{"description":"how many"}]}},"required":["n"]}],
		"$defs":{"base":{"properties":{"kind":{"$ref":"#/$defs/kind"}}},"kind":{"enum":["a","b"]},"count":{"type":"integer"}}}`))
	var got []string
	for _, field := range f.fields {
		got = append(got, field.Name+" "+string(field.Kind)+" "+field.Description)
	}
	if diff := cmp.Diff([]string{"n integer how many", "kind choice "}, got); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
}
