package openapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
)

// curated compiles one operation that has parameters and a body.
func curated(t *testing.T, operation string) *Operation {
	t.Helper()
	return curatedAt(t, "/orders/{id}", operation)
}

// curatedAt compiles one operation of a path.
func curatedAt(t *testing.T, path, operation string) *Operation {
	t.Helper()
	doc, err := Load(t.Context(), writeFile(t, `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"servers":[{"url":"https://api.example"}],
		"components":{"schemas":{"Base":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}},
		"paths":{"`+path+`":{"post":`+operation+`}}}`), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 1 {
		t.Fatal(err, api.Skipped)
	}
	return api.Operations[0]
}

const curatedParameters = `{"operationId":"x","parameters":[
	{"name":"id","in":"path","required":true,"schema":{"type":"string"},"description":"ID."},
	{"name":"tenant","in":"query","required":true,"schema":{"type":"string","enum":["acme","other"]}},
	{"name":"lang","in":"header","schema":{"type":"string","default":"en"}},
	{"name":"page","in":"query","schema":{"type":"integer"}}],
	"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}},
	"responses":{"204":{"description":"ok"}}}`

// TestCurate checks that callers see only the changed arguments, and that the request is that of the document.
func TestCurate(t *testing.T) {
	op := curated(t, curatedParameters)
	before := string(op.Input)
	all, given, err := op.Curate(Curation{
		Arguments: map[string]CuratedArgument{
			"id":   {Name: "order_id", Description: "The number on the invoice.", Example: json.RawMessage(`"A-1"`)},
			"lang": {Default: json.RawMessage(`"de"`)}, "body": {Name: "lines"},
		},
		Hidden: []string{"tenant", "page"}, Optional: []string{"lang"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const input = `{"type":"object","properties":{` +
		`"order_id":{"type":"string","pattern":"^([^/]*[^/.][^/]*|\\.{3,})$","description":"The number on the invoice.","examples":["A-1"]},` +
		`"lang":{"type":"string","pattern":"^[ -~]*$","default":"de"},"lines":{"type":"array","items":{"type":"object","properties":{}}}},` +
		`"required":["order_id","lines"],"additionalProperties":false}`
	if got := string(given.Input); got != input {
		t.Errorf("callers see\n%s\nwant\n%s", got, input)
	}
	if string(op.Input) != before {
		t.Error("the operation itself has changed")
	}
	for _, args := range []string{
		`{"order_id":"1","lines":[],"tenant":"acme"}`, `{"id":"1","lines":[]}`, `{"order_id":"1","lines":[],"page":1}`, `{"order_id":"1","body":[]}`,
	} {
		_, _, err := given.Check(json.RawMessage(args))
		if err == nil {
			t.Errorf("%s is accepted", args)
			continue
		}
		text := strings.ReplaceAll(err.Error(), `unknown argument "tenant"`, "")
		if strings.Contains(text, "acme") || strings.Contains(text, "not for callers") {
			t.Errorf("%s: %v tells of what is hidden", args, err)
		}
	}
	base := &url.URL{Scheme: "https", Host: "api.example"}
	_, err = all.NewRequest(t.Context(), base, json.RawMessage(`{"order_id":"a/b","lines":[{}],"tenant":"acme","lang":"de"}`))
	var bad *ArgumentError
	if !errors.As(err, &bad) || !strings.Contains(bad.ToolMessage(), "/order_id") || strings.Contains(bad.ToolMessage(), "tenant") {
		t.Fatalf("a slash: %v; it must name the argument as callers do, and nothing that is hidden", err)
	}
	req, err := all.NewRequest(t.Context(), base, json.RawMessage(`{"order_id":"7","lines":[{}],"tenant":"acme","lang":"de"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(req.Body)
	if got := req.URL.String() + " " + req.Header.Get("lang") + " " + string(body); got != "https://api.example/orders/7?tenant=acme de [{}]" {
		t.Error(got)
	}
}

// TestCurateRoot checks that a member of a body that is all arguments can have another name, wherever its schema names
// it.
func TestCurateRoot(t *testing.T) {
	doc := `{"operationId":"x","requestBody":{"required":true,"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Base"}],"type":"object",
		"properties":{"page[size]":{"type":"integer"},"next":{"$ref":"#/components/schemas/Base"}},"additionalProperties":true,
		"if":{"required":["id"]},"then":{"required":["page[size]"]}}}}},"responses":{"204":{"description":"ok"}}}`
	op := curatedAt(t, "/orders", doc)
	all, given, err := op.Curate(Curation{Arguments: map[string]CuratedArgument{"id": {Name: "number"}, "page_size": {Name: "size"}}, Hidden: []string{"next"}})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]bool{
		`{"number":"1","size":2}`:                       true,
		`{"number":"1"}`:                                false,
		`{"size":2}`:                                    false,
		`{"number":"1","size":2,"id":"2"}`:              false,
		`{"number":"1","size":2,"next":{"id":"2"}}`:     false,
		`{"number":"1","size":2,"page[size]":3}`:        false,
		`{"number":"1","size":2,"more":{"number":"x"}}`: true,
	} {
		if _, _, err := given.Check(json.RawMessage(args)); (err == nil) != want {
			t.Errorf("%s: %v", args, err)
		}
	}
	req, err := all.NewRequest(t.Context(), nil, json.RawMessage(`{"number":"1","size":2,"next":{"id":"2"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(req.Body); string(body) != `{"id":"1","page[size]":2,"next":{"id":"2"}}` {
		t.Error(string(body))
	}
}

// TestCurateFaults checks that invalid names are refused.
func TestCurateFaults(t *testing.T) {
	op := curated(t, curatedParameters)
	for name, tt := range map[string]struct {
		changes map[string]CuratedArgument
		want    string
	}{
		"taken":   {map[string]CuratedArgument{"id": {Name: "page"}}, `the operation has an argument "page" already`},
		"twice":   {map[string]CuratedArgument{"id": {Name: "a"}, "page": {Name: "a"}}, `two arguments would have the name "a"`},
		"illegal": {map[string]CuratedArgument{"id": {Name: "order id"}}, `"order id" can't be the name of an argument: at most 64 letters, digits, _, . and -`},
	} {
		if _, _, err := op.Curate(Curation{Arguments: tt.changes}); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	patterned := curatedAt(t, "/orders", `{"operationId":"x","requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object",
		"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"string"}}}}}},"responses":{"204":{"description":"ok"}}}`)
	if _, _, err := patterned.Curate(Curation{Arguments: map[string]CuratedArgument{"a": {Name: "b"}}}); err == nil {
		t.Error("an argument of an operation with patterns has another name")
	}
}

// TestFitArgument checks that a value is validated against the schema of its argument and the limits of the request.
func TestFitArgument(t *testing.T) {
	op := curated(t, curatedParameters)
	for _, tt := range []struct{ name, value, want, fault string }{
		{"tenant", `"acme"`, `"acme"`, ""},
		{"tenant", `"evil"`, "", `expected one of "acme", "other", got string "evil"`},
		{"page", `"3"`, `3`, ""},
		{"page", `"x"`, "", `expected integer, got string "x"`},
		{"page", `null`, "", "it counts as absent"},
		{"id", `".."`, "", `must not contain the path segment`},
		{"lang", `"a\nb"`, "", `must not contain control characters`},
	} {
		got, err := op.FitArgument(tt.name, json.RawMessage(tt.value))
		if (err == nil) != (tt.fault == "") || err == nil && string(got) != tt.want {
			t.Errorf("%s %s: %s %v", tt.name, tt.value, got, err)
		} else if err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s %s: %v", tt.name, tt.value, err)
		}
	}
}

// TestCorpusCurate checks that an operation whose arguments all have other names sends the same requests, and accepts
// none of the former names.
func TestCorpusCurate(t *testing.T) {
	documents := corpus(t, "testdata/corpus")
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		documents = append(documents, corpus(t, dir)...)
	}
	compared, refused := 0, 0
	for _, name := range documents {
		doc, err := Load(t.Context(), name, LoadOptions{})
		if err != nil {
			continue // checked by TestCorpus
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			args := op.ExampleCall()
			if args == nil || op.body != nil && op.body.codec.begin != nil { // whose boundary is random
				continue
			}
			want, err := op.NewRequest(t.Context(), &url.URL{Scheme: "https", Host: "api.example"}, args)
			if err != nil {
				continue
			}
			names, changes := map[string]string{}, map[string]CuratedArgument{}
			for argument := range op.Names() {
				names[argument] = suffixed(argument, "x")
				changes[argument] = CuratedArgument{Name: names[argument]}
			}
			curated, given, err := op.Curate(Curation{Arguments: changes})
			if err != nil {
				refused++
				continue
			}
			if curated != given {
				t.Errorf("%s: %s %s: two operations though nothing is hidden", name, op.Method, op.Path)
			}
			got, err := curated.NewRequest(t.Context(), &url.URL{Scheme: "https", Host: "api.example"}, renameMembers(args, names))
			if err != nil {
				t.Errorf("%s: %s %s: %v", name, op.Method, op.Path, err)
				continue
			}
			compared++
			if a, b := dumped(t, want), dumped(t, got); a != b {
				t.Errorf("%s: %s %s sends\n%s\ninstead of\n%s", name, op.Method, op.Path, b, a)
			}
			for argument := range given.Names() {
				if _, before := names[argument]; before {
					t.Errorf("%s: %s %s still has the argument %q", name, op.Method, op.Path, argument)
				}
			}
		}
	}
	t.Logf("%d operations compared, %d not renamable", compared, refused)
	if compared < 20 {
		t.Errorf("only %d operations were compared", compared)
	}
}

func dumped(t *testing.T, r *http.Request) string {
	t.Helper()
	text, err := httputil.DumpRequest(r, true)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
