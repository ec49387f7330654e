package htmltemplate_test

import (
	"errors"
	"html/template"
	"maps"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/htmltemplate"
)

// page has a value in each context that a template may have one in, and each construct that a template may use.
const page = `{{define "row"}}<li class="a {{.Name}}">{{.Name}}{{if .Tags}}: {{join .Tags ", "}}{{end}}</li>{{end}}<!DOCTYPE html>
<html><head><title>{{block "title" .}}{{.Text}}{{end}} · x</title><script src="/a.js" defer></script><style>p > b { color: red }</style></head>
<body{{with .Text}} hx-headers='{"X":"{{.}}"}'{{end}} lang=en>
<p title="{{.Text}}" class='{{.Text}}'>{{.Text}} {{.Number}} {{.Kind}}</p>
<a href="{{.Text}}">start</a> <a href="/p/{{.Text}}/q">path</a> <a href="/p?q={{.Text}}&amp;r={{.Text}}">query</a> <a href="#{{.Text}}">fragment</a>
<form action="{{if eq .Kind "k"}}/a/{{.Text}}{{else}}/b/{{.Text}}{{end}}"><input value="{{.Text}}"{{if .Yes}} checked{{end}} disabled></form>
<textarea rows="3">{{.Text}}</textarea>
{{range $i, $row := .Rows}}{{if $i}}, {{end}}{{template "row" $row}}{{$name := $row.Name}}{{if eq $name $.Text}}same{{else if ne $i 1}}other{{end}}{{else}}none{{end}}
{{range .None}}x{{else}}none{{end}}{{with .Missing}}x{{else}}nil{{end}}{{with index .Map "a"}}{{.}}{{end}}{{number (len .Rows)}}{{if gt .Number 1}}more{{end}}
{{or .Empty "default"}}{{if and .Yes (not .Empty)}}both{{end}}{{.At | clock}}{{marked .Text}}<input value="{{marked .Text}}">
</body></html>`

type row struct {
	Name string
	Tags []string
}

type kind string

func data(text string) any {
	type inner struct{ Rows []row }
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return struct {
		inner
		Text, Empty string
		Number      int
		Kind        kind
		Yes         bool
		None        []string
		Missing     *row
		Map         map[string]string
		At          *time.Time
	}{inner{[]row{{text, nil}, {"b", []string{"x", text}}}}, text, "", 2, "k", true, nil, nil, map[string]string{"a": text}, &at}
}

func functions() map[string]any {
	return map[string]any{
		"join":   strings.Join,
		"number": func(n int) string { return strings.Repeat("i", n) },
		"clock":  func(t time.Time) string { return t.Format("15:04") },
	}
}

// marked is markup that both packages write alike: html/template writes a plus sign in an attribute as a reference.
func marked(s string) string { return strings.ReplaceAll(template.HTMLEscapeString(s), "+", "&#43;") }

// both executes a page by this package and by html/template.
func both(t *testing.T, text string, data any) (ours, theirs string) {
	t.Helper()
	own := htmltemplate.Functions{"marked": func(s string) htmltemplate.HTML { return htmltemplate.HTML(marked(s)) }}
	maps.Copy(own, functions())
	mine, err := htmltemplate.Parse(own, htmltemplate.File{Name: "page", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := mine.Execute(&b, "page", data); err != nil {
		t.Fatal(err)
	}
	judge := template.FuncMap{"marked": func(s string) template.HTML { return template.HTML(marked(s)) }} //nolint:gosec // escaped
	maps.Copy(judge, functions())
	var c strings.Builder
	if err := template.Must(template.New("page").Funcs(judge).Parse(text)).Execute(&c, data); err != nil {
		t.Fatal(err)
	}
	return b.String(), c.String()
}

// FuzzExecute: html/template writes the same bytes, whatever a value holds.
func FuzzExecute(f *testing.F) {
	for _, s := range []string{"", "a b", `"><script>alert(1)</script>`, "' onload='x", "javascript:alert(1)", "JaVaScRiPt:x", "https://a.example/?a=b&c=d#e", "mailto:a@b", "/a%2Fb%zz%", "a+b", "</textarea><b>", "</title>", "\x00", "\xff", "é😀", "//evil.example", ":x", "data:text/html,x", "a/b:c", "&amp;", "{{.}}", "k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ours, theirs := both(t, page, data(s)); ours != theirs {
			t.Errorf("for %q:\n%s\nhtml/template:\n%s", s, ours, theirs)
		}
	})
}

// TestRefused: a value where it can't be escaped, and what templates must not have, is an error of Parse.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		`<script>{{.}}</script>`:                     "text and in attributes with quotes only",
		`<style>{{.}}</style>`:                       "text and in attributes with quotes only",
		`<a href={{.}}>`:                             "text and in attributes with quotes only",
		`<a href=/x/{{.}}>`:                          "text and in attributes with quotes only",
		`<{{.}}>`:                                    "text and in attributes with quotes only",
		`<a {{.}}>`:                                  "text and in attributes with quotes only",
		`<a hr{{.}}ef="x">`:                          "text and in attributes with quotes only",
		`<a hr{{if .}}{{end}}="{{.}}">`:              "text and in attributes with quotes only",
		`<!-- {{.}} -->`:                             "text and in attributes with quotes only",
		`<a onclick="{{.}}">`:                        "in the attribute onclick",
		`<a style="{{.}}">`:                          "in the attribute style",
		`<iframe srcdoc="{{.}}">`:                    "in the attribute srcdoc",
		`{{if .}}<a href="{{end}}">`:                 "different contexts",
		`<a href="`:                                  "ends inside of a tag",
		`<textarea>`:                                 "ends inside of a tag",
		`<a{{template "x" .}}>{{define "x"}}{{end}}`: "in text only",
		`{{template "missing" .}}`:                   `no template "missing"`,
		`{{range .}}{{break}}{{end}}`:                "not supported",
		`{{missing .}}`:                              `"missing" not defined`,
		`{{printf "%s" .}}`:                          `"printf" not defined`,
	} {
		if _, err := htmltemplate.Parse(nil, htmltemplate.File{Name: "page", Text: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestErrors: an execution that fails writes nothing and names the place.
func TestErrors(t *testing.T) {
	failing := htmltemplate.Functions{"fail": func() (string, error) { return "", errors.New("no") }}
	for text, want := range map[string]string{
		"x{{.Missing}}":            "page:1:3: the type struct { Text string; Number int; None *int } has no field Missing",
		"x{{.Text.Field}}":         "has no field Field",
		"x{{fail}}":                "fail: no",
		"x{{len .Number}}":         "has no length",
		"x{{index .Text 1}}":       "has no index",
		"x{{range .Text}}{{end}}":  "range over string",
		"x{{.Missing.Name}}":       "has no field Missing",
		"x{{template \"page\" .}}": "executes itself",
		"x{{not 1 2}}":             "expected 1 arguments, got 2",
		"x{{gt .Text 1}}":          "argument 1 is of type string",
		"x{{.None}}":               "is nil",
	} {
		page, err := htmltemplate.Parse(failing, htmltemplate.File{Name: "page", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		err = page.Execute(&b, "page", struct {
			Text   string
			Number int
			None   *int
		}{"t", 1, nil})
		if err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("%s: got %q and %v, want %q", text, b.String(), err, want)
		}
	}
}
