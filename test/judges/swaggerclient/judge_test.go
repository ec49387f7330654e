package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormalForms(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		form           func(string) string
	}{
		{"triples have capitals", "%c3%a9", "%C3%A9", normalPercent},
		{"unreserved characters stand for themselves", "%41%7e%2D", "A~-", normalPercent},
		{"reserved ones are not the same encoded", "a,b%2Cc!%21", "a,b%2Cc!%21", normalPercent},
		{"what no URI may hold is encoded", "a|b é", "a%7Cb%20%C3%A9", normalPercent},
		{"a lone percent sign", "100%", "100%25", normalPercent},
		{"in a form plus is a space", "a+b%20c%2B", "a%20b%20c%2B", normalForm},
		{"in a form each triple stands for its character", "%21!*%2a", "%21%21%2A%2A", normalForm},
		{"but a comma between members is not one within", "a,b%2Cc", "a,b%2Cc", normalForm},
		{"utf-8 goes without saying", "text/plain; charset=UTF-8", "text/plain", normalMedia},
		{"the boundary is drawn anew", `multipart/form-data; boundary="x"`, "multipart/form-data", normalMedia},
		{"and for each printed request", "POST http://a/b\nContent-Type: multipart/form-data; boundary=x-1\n\n--x-1\n\nv\n--x-1--\n",
			"POST http://a/b\nContent-Type: multipart/form-data; boundary=BOUNDARY\n\n--BOUNDARY\n\nv\n--BOUNDARY--\n", sameBoundary},
		{"which a body of another type has not", "POST http://a/b\nContent-Type: text/plain\n\nboundary=x", "POST http://a/b\nContent-Type: text/plain\n\nboundary=x", sameBoundary},
	} {
		if got := c.form(c.in); got != c.want {
			t.Errorf("%s: %q became %q, not %q", c.name, c.in, got, c.want)
		}
	}
	a, err := normalJSON([]byte(`{"b": 9007199254740993, "a": [1.50, 1e2]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":[3/2,100],"b":9007199254740993}`; a != want {
		t.Errorf("got %s, not %s", a, want)
	}
}

// The examples of RFC 6570 appendix A and of OAS 3.1.1 "Style Examples".
func TestExpected(t *testing.T) {
	yes, no := true, false
	list, object := `["red","green"]`, `{"R":100,"G":200}`
	for _, c := range []struct {
		p     parameter
		value string
		want  map[string][]string
	}{
		{parameter{In: "query"}, `"a b&"`, map[string][]string{"v": {"a%20b%26"}}},
		{parameter{In: "query"}, `""`, map[string][]string{"v": {""}}},
		{parameter{In: "query"}, `[]`, map[string][]string{}},
		{parameter{In: "query"}, list, map[string][]string{"v": {"red", "green"}}},
		{parameter{In: "query", Explode: &no}, list, map[string][]string{"v": {"red,green"}}},
		{parameter{In: "query", Explode: &no}, object, map[string][]string{"v": {"G,200,R,100"}}},
		{parameter{In: "query"}, object, map[string][]string{"R": {"100"}, "G": {"200"}}},
		{parameter{In: "query", Style: "spaceDelimited", Explode: &no}, list, map[string][]string{"v": {"red%20green"}}},
		{parameter{In: "query", Style: "deepObject"}, `{"a":{"b":[1,2]}}`, map[string][]string{"v[a][b][0]": {"1"}, "v[a][b][1]": {"2"}}},
	} {
		value, err := decodeJSON([]byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, c.p.pairs("v", value, false)); diff != "" {
			t.Errorf("%+v of %s: %s", c.p, c.value, diff)
		}
	}
	for _, c := range []struct {
		p           parameter
		value, want string
	}{
		{parameter{}, `"a/b"`, "a%2Fb"},
		{parameter{}, list, "red,green"},
		{parameter{Style: "label"}, list, ".red,green"},
		{parameter{Style: "label", Explode: &yes}, list, ".red.green"},
		{parameter{Style: "matrix"}, list, ";v=red,green"},
		{parameter{Style: "matrix", Explode: &yes}, list, ";v=red;v=green"},
		{parameter{Style: "matrix"}, `""`, ";v"},
		{parameter{Style: "matrix", Explode: &yes}, object, ";G=200;R=100"},
	} {
		c.p.Name, c.p.In = "v", "path"
		value, err := decodeJSON([]byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := c.p.segment(value, false); got != c.want {
			t.Errorf("%+v of %s is %q, not %q", c.p, c.value, got, c.want)
		}
	}
}

// A rule that is about the gateway's side too must not explain a request that is wrong on it.
func TestRulesHoldOurSide(t *testing.T) {
	x := &exchange{
		path:      "/o/{id}",
		facts:     &facts{Swagger2: true, Parameters: map[string]parameter{"id": {In: "path", Name: "id"}, "q": {In: "query", Name: "q"}}},
		arguments: map[string]any{"id": "(1)", "q": ""},
		theirs:    &built{},
	}
	for _, c := range []struct {
		name         string
		ours, theirs request
		want         []string
	}{
		{
			"delimiters in a path", request{{"path", "3"}: {"%281%29"}}, request{{"path", "3"}: {"(1)"}}, []string{"reserved"},
		},
		{
			"another value in a path", request{{"path", "3"}: {"%282%29"}}, request{{"path", "3"}: {"(1)"}}, []string{""},
		},
		{
			"an empty text", request{{"query", "q"}: {""}}, request{}, []string{"empty-text"},
		},
		{
			"a value from nowhere", request{{"query", "q"}: {"1"}}, request{}, []string{""},
		},
		{
			"another method", request{{"method", ""}: {"GET"}}, request{{"method", ""}: {"POST"}}, []string{""},
		},
	} {
		x.ours, x.client = c.ours, c.theirs
		for _, side := range []request{x.ours, x.client} {
			if _, ok := side[piece{"path", "3"}]; ok {
				side[piece{"path", "0"}], side[piece{"path", "1"}], side[piece{"path", "2"}] = []string{""}, []string{"base"}, []string{"o"}
			}
		}
		var got []string
		for _, d := range x.compare(rules()) {
			got = append(got, d.rule)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A member of two exploded objects is sent twice, whatever a parameter of the path is called.
func TestSameMember(t *testing.T) {
	object := map[string]any{"id": "2"}
	x := &exchange{
		path: "/o/{id}",
		facts: &facts{Parameters: map[string]parameter{
			"id": {In: "path", Name: "id"}, "a": {In: "query", Name: "a"}, "b": {In: "query", Name: "b"},
		}},
		arguments: map[string]any{"id": "1", "a": object, "b": object},
		ours:      request{{"query", "id"}: {"2", "2"}},
		client:    request{{"query", "id"}: {"2"}},
		theirs:    &built{},
	}
	d := x.compare(rules())
	if len(d) != 1 || d[0].rule != "same-member" {
		t.Errorf("%+v", d)
	}
}

// The name of an object's member, as it is, ends the path; another difference in the same path has no rule.
func TestMemberName(t *testing.T) {
	for name, want := range map[string]string{"k#P": "member-name", "kP": ""} {
		x := &exchange{
			path:      "/o/{id}",
			facts:     &facts{Parameters: map[string]parameter{"id": {In: "path", Name: "id"}}},
			arguments: map[string]any{"id": map[string]any{name: "1"}},
			ours: request{
				{"path", "0"}: {""}, {"path", "1"}: {"base"}, {"path", "2"}: {"o"}, {"path", "3"}: {strings.ReplaceAll(name, "#", "%23") + ",1"},
			},
			client: request{{"path", "0"}: {""}, {"path", "1"}: {"base"}, {"path", "2"}: {"o"}, {"path", "3"}: {"k"}},
			theirs: &built{},
		}
		d := x.compare(rules())
		if len(d) != 1 || d[0].rule != want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// An empty part without a name stands for a body without members, and for no other.
func TestNoPart(t *testing.T) {
	for _, c := range []struct {
		members map[string]any
		want    string
	}{{nil, "no-part"}, {map[string]any{"a": "1"}, ""}} {
		x := &exchange{facts: &facts{}, members: c.members, ours: request{{"part", ""}: {""}}, client: request{}, theirs: &built{}}
		d := x.compare(rules())
		if len(d) != 1 || d[0].rule != c.want {
			t.Errorf("%v: %+v", c.members, d)
		}
	}
}

// A media type that differs by more than its case is not explained, nor is one that the gateway has changed.
func TestPartCase(t *testing.T) {
	for _, c := range []struct{ ours, theirs, want string }{{"a/b; c=D", "a/b; c=d", "part-case"}, {"a/b; c=d", "a/b; c=D", ""}, {"a/b; c=D", "a/b; c=e", ""}} {
		at := piece{"part-type", "file"}
		x := &exchange{facts: &facts{}, ours: request{at: {c.ours}, {"part", "file"}: {"1"}}, client: request{at: {c.theirs}, {"part", "file"}: {"1"}}, theirs: &built{}}
		d := x.compare(rules())
		if len(d) != 1 || d[0].rule != c.want {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

// A wrong media type is explained by what the gateway has to make of it alone, and a right one not at all.
func TestPartParameters(t *testing.T) {
	for _, c := range []struct{ ours, theirs, want string }{
		{"a/b", `a/b ;c="`, "part-parameters"},
		{"a/b", `a/b; c=`, "part-parameters"},
		{`a/b; c=""`, `a/b; c=""; d=`, "part-parameters"},
		{`a/b; c="x y"`, `a/b; c=x y`, "part-parameters"},
		{"a/b; c=T", `a/b ; c="t`, "part-parameters"},
		{"a/b; c=1", `a/b; c=1; c=2`, "part-parameters"},
		{"a/b", `a/b; c=""; d=`, ""},
		{"a/b", `a/b; c=""`, ""},
		{"a/b", `a/b; c=x"`, ""},
		{"a/d", `a/b; c="`, ""},
	} {
		at := piece{"part-type", "file"}
		x := &exchange{facts: &facts{}, ours: request{at: {c.ours}, {"part", "file"}: {"1"}}, client: request{at: {c.theirs}, {"part", "file"}: {"1"}}, theirs: &built{}}
		d := x.compare(rules())
		if len(d) != 1 || d[0].rule != c.want {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}

func TestRulesSayWhy(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range rules() {
		if r.id == "" || r.what == "" || r.clause == "" || r.explains == nil || seen[r.id] {
			t.Errorf("rule %q is not whole, or stands twice", r.id)
		}
		seen[r.id] = true
	}
}

// What a seed makes does not depend on the sample.
func TestSource(t *testing.T) {
	if a, b := source(1, "d", "GET", "/x").Uint64(), source(1, "d", "GET", "/x").Uint64(); a != b {
		t.Error("the same operation has other arguments")
	}
	if a, b := source(1, "d", "GET", "/x").Uint64(), source(1, "d", "GET/", "x").Uint64(); a == b {
		t.Error("two operations have the same arguments")
	}
}

func TestSummary(t *testing.T) {
	difference := func(rule string, silent bool) comparison {
		return comparison{plain: true, differences: []difference{{rule: rule, silent: silent}}}
	}
	r := summarize([]tally{{name: "d", operations: 5, skipped: 1, outcomes: []outcome{
		{comparisons: []comparison{{plain: true}, {}}},
		{comparisons: []comparison{{plain: true}, difference("deep-object", true)}},
		{comparisons: []comparison{difference("default", false), difference("deep-object", true)}},
		{judge: "no"},
	}}}, true)
	want := counts{compared: 3, equal: 1, silent: 1, explained: 1}
	if diff := cmp.Diff(want, r.total.operation, cmp.AllowUnexported(counts{})); diff != "" {
		t.Error(diff)
	}
	if r.total.asked != 5 || r.total.built != 3 {
		t.Errorf("asked %d, built %d", r.total.asked, r.total.built)
	}
	if err := r.verdict(); err == nil {
		t.Error("60 % compared is enough")
	}
}
