package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/admin"
)

// TestInputProblems says what of a rule an operation can't ask for, with the place in the list.
func TestInputProblems(t *testing.T) {
	w := &wanted{root: []byte(`{}`), values: []wantedValue{
		{"name", []byte(`{"type":"string"}`), true}, {"file", []byte(`{"type":"string","format":"binary"}`), false},
		{"password", []byte(`{"type":"string"}`), true}, {"word", []byte(`{"type":"string","format":"password"}`), true},
	}}
	written := func(schema string, bind map[string]config.Pointer) config.Input {
		return config.Input{Key: "k", Kind: config.InputForm, Schema: config.JSON(schema), Bind: bind}
	}
	arguments := func(names ...string) config.Input {
		return config.Input{Key: "k", Kind: config.InputForm, Arguments: names}
	}
	const one = `{"type":"object","properties":{"x":{"type":"string"}}}`
	for name, tt := range map[string]struct {
		input config.Input
		want  string
	}{
		"unknown":          {arguments("name", "names"), `.arguments[1]: there is no argument "names"; did you mean "name"?`},
		"a file":           {arguments("file"), `.arguments[0]: a form can't ask for "file": it is a file or binary, which no form can ask for`},
		"too many":         {arguments(strings.Split(strings.Repeat("name ", 21), " ")...), ".arguments: a form has at most 20 fields"},
		"a secret":         {arguments("password"), `: the field "password" looks like that of a secret`},
		"a format":         {arguments("word"), `: the field "word" looks like that of a secret`},
		"a hidden secret":  {written(one, map[string]config.Pointer{"password": "/x"}), `: the field "password" looks like that of a secret`},
		"no form":          {written(`{"type":"string"}`, nil), `.schema: the type of a form is object, got "string"`},
		"no argument":      {written(one, nil), `.schema: the field "x" gives no argument: there is no argument "x"; bind says which it gives`},
		"bound to none":    {written(one, map[string]config.Pointer{"nam": "/x"}), `.bind.nam: there is no argument "nam"; did you mean "name"?`},
		"bound to nowhere": {written(one, map[string]config.Pointer{"name": "/xx"}), `.bind.name: "/xx" leads to no field of the form`},
		"twice":            {arguments("name"), `: the argument "name" is asked for by an earlier question`},
	} {
		list := []config.Input{tt.input}
		if name == "twice" {
			list = append(list, tt.input)
		}
		_, err := newInputs(list, w)
		if err == nil || err.index != len(list)-1 || !strings.HasPrefix(err.key+": "+err.Error(), tt.want) {
			t.Errorf("%s: %+v, want %s", name, err, tt.want)
		}
		if name == "a secret" {
			tt.input.NoSecrets = true
			if _, err := newInputs([]config.Input{tt.input}, w); err != nil {
				t.Errorf("a secret that is none: %v", err)
			}
		}
	}
}

// TestUnusableInputs holds that what can't be asked is among the problems of the API, for rules and for documents, whose
// texts hold nothing unseen.
func TestUnusableInputs(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	defer service.Close()
	g := start(t, `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /a: {get: {operationId: a, parameters: [&p {name: name, in: query, schema: {type: string}}], x-mcp-inputs: [{key: k, arguments: [nam]}], responses: {"200": {description: ok}}}}
  /b: {get: {operationId: b, parameters: [*p], x-mcp-inputs: [{key: k, kind: url, message: Go, url: "https://evil.example"}], responses: {"200": {description: ok}}}}
  /c: {get: {operationId: c, parameters: [*p], x-mcp-inputs: [{key: k, kind: roots, bind: {name: /roots}}], responses: {"200": {description: ok}}}}
  /d: {get: {operationId: d, parameters: [*p], x-mcp-inputs: [{key: k, no_secrets: true, arguments: [name]}], responses: {"200": {description: ok}}}}
  /e: {get: {operationId: e, parameters: [*p], x-mcp-inputs: [{key: k, schema: {type: object, properties: {name: {type: string, title: "a\u202eb"}}}}], responses: {"200": {description: ok}}}}
  /f: {get: {operationId: f, parameters: [*p], x-mcp-inputs: [{key: k, arguments: [name]}], responses: {"200": {description: ok}}}}
`, `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]
rules: [{match: {operation: f}, set: {inputs: [{key: k, arguments: [nome]}]}}]
`, service.URL)
	report, ok := g.Report("shop")
	if !ok {
		t.Fatal("no report")
	}
	var got []string
	for _, p := range report.Problems {
		got = append(got, p.Code+" "+p.Message)
	}
	want := []string{
		`extension x-mcp-inputs[0].arguments[0]: there is no argument "nam"; did you mean "name"?`,
		`extension x-mcp-inputs[0].kind: is url: only the configuration can send users to a page`,
		`extension x-mcp-inputs[0].kind: roots needs tools.deprecated_inputs: true, because the protocol has deprecated it`,
		`extension x-mcp-inputs[0].no_secrets: can't be set by a document`,
		`extension x-mcp-inputs[0].schema: holds characters that can't be seen`,
		`inputs rules[0].set.inputs[0].arguments[0]: there is no argument "nome"; did you mean "name"?`,
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v %s", err, text)
	}
	for _, op := range report.Operations {
		if op.Fate != admin.Exposed {
			t.Errorf("%s is %v", op.ID, op.Fate)
		}
	}
}
