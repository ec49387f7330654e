package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// choiceOf returns the media types from which the callers of an operation choose.
func choiceOf(t *testing.T, parameters, content string) []string {
	t.Helper()
	doc, err := Load(t.Context(), writeFile(t, `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"servers":[{"url":"https://api.example"}],
		"components":{"schemas":{"A":{"type":"object","properties":{"a":{"type":"string"}}}}},
		"paths":{"/x":{"get":{"operationId":"x","parameters":[`+parameters+`],"responses":{"200":{"description":"ok","content":`+content+`}}}}}}`), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 1 {
		t.Fatal(err, api.Skipped)
	}
	var input struct {
		Properties map[string]struct{ Enum []string }
	}
	if err := json.Unmarshal(api.Operations[0].Input, &input); err != nil {
		t.Fatal(err)
	}
	return input.Properties["accept"].Enum
}

// TestAnswerChoice checks that there is a choice only if the responses differ in kind. JSON represents all forms of the
// same data, including a type that frameworks list with the schema of JSON (pains row 160).
func TestAnswerChoice(t *testing.T) {
	const a, inline = `{"schema":{"$ref":"#/components/schemas/A"}}`, `{"schema":{"type":"object","properties":{"b":{"type":"string"}}}}`
	const text = `{"schema":{"type":"string"}}`
	enum := func(types ...string) string {
		list, _ := json.Marshal(types)
		return `{"name":"accept","in":"header","schema":{"type":"string","enum":` + string(list) + `}}`
	}
	for _, tt := range []struct{ parameters, content, want string }{
		{"", `{"application/json":` + a + `}`, ""},
		{"", `{"application/json":` + a + `,"application/xml":` + a + `,"text/xml":` + text + `,"application/yaml":{},"application/x-protobuf":{}}`, ""},
		{"", `{"application/json":` + a + `,"application/hal+json":` + inline + `,"text/event-stream":{},"application/x-ndjson":{}}`, ""},
		{"", `{"text/plain":` + a + `,"application/json":` + a + `,"text/json":` + a + `}`, ""},
		{"", `{"text/plain":` + inline + `,"application/json":` + inline + `}`, ""},
		{"", `{"application/json":{},"text/plain":{}}`, ""},
		{"", `{"application/json":` + a + `,"text/html":` + text + `,"*/*":{},"image/*":{}}`, ""},
		{"", `{"image/png":{},"image/jpeg":{},"image/webp":{}}`, ""},
		{"", `{"text/plain":` + text + `,"text/html":` + text + `}`, ""},
		{"", `{"application/json":` + a + `,"text/csv":` + a + `}`, "application/json text/csv"},
		{"", `{"text/csv":{},"application/xml":` + a + `,"application/json":` + a + `}`, "application/json text/csv"},
		{"", `{"application/json":` + a + `,"text/plain":` + text + `,"application/pdf":{},"image/svg+xml":{},"image/png":{}}`, "application/json text/plain application/pdf image/svg+xml image/png"},
		{"", `{"image/png":{},"image/svg+xml":{},"image/jpeg":{}}`, "image/png image/svg+xml"},
		{"", `{"application/xml":` + a + `,"text/csv":{}}`, "application/xml text/csv"},
		{"", `{"*/*":` + a + `,"application/pdf":{}}`, "application/json application/pdf"},
		{"", `{"application/json; charset=utf-8":` + a + `,"application/json; version=2":` + inline + `,"text/csv; header=present":{}}`, "application/json text/csv"},
		{enum("application/json", "application/xml"), `{"application/json":` + a + `}`, ""},
		{enum("application/json", "text/csv"), `{"application/json":` + a + `}`, "application/json text/csv"},
		{enum("application/json", "application/x-unknown", "*/*", "text/csv, text/plain", "text/csv\r\nX: y", "csv"), `{"application/json":` + a + `}`, ""},
		{enum("text/csv"), `{"application/json":` + a + `,"application/pdf":{}}`, "application/json application/pdf text/csv"},
	} {
		if got := strings.Join(choiceOf(t, tt.parameters, tt.content), " "); got != tt.want {
			t.Errorf("%s %s:\n%q, want %q", tt.parameters, tt.content, got, tt.want)
		}
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`"image/x-%d":{}`, i))
	}
	if got := choiceOf(t, "", `{"application/json":{},`+strings.Join(many, ",")+`}`); len(got) != maxChoice {
		t.Errorf("%d types, want %d", len(got), maxChoice)
	}
}

// FuzzAnswerChoice checks that for any media types of a document, a choice has at least two that differ and are valid
// in a header, and that each of them makes a request.
func FuzzAnswerChoice(f *testing.F) {
	f.Add("text/csv", "application/pdf")
	f.Add("image/*", "a/b\r\nX: y")
	f.Add("text/calendar; x=\"a,b\"", "text/calendar;x=1")
	f.Fuzz(func(t *testing.T, one, other string) {
		if !utf8.ValidString(one) || !utf8.ValidString(other) || one == other || len(one)+len(other) > 200 {
			return
		}
		first, _ := json.Marshal(one)
		second, _ := json.Marshal(other)
		got := choiceOf(t, `{"name":"Accept","in":"header","schema":{"enum":[`+string(first)+`]}}`, `{"application/json":{},`+string(second)+`:{}}`)
		if len(got) == 1 || len(got) > 3 || !slices.Equal(slices.Compact(slices.Sorted(slices.Values(got))), slices.Sorted(slices.Values(got))) {
			t.Fatalf("%q", got)
		}
		for _, media := range got {
			if strings.ContainsAny(media, "\r\n,*") {
				t.Fatalf("%q", got)
			}
		}
	})
}
