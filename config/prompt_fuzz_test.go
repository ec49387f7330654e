package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTemplate: a template that is taken gives back its own text where every place is filled with itself, and what fills a
// place opens no other.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"", "{{a}}", "a {{ b }} {{{{c}} {{{{{{d}}", "{{", "{{{{", "{{a", "}}{{a-b.c_9}}", "{{\t a}}", "{{é}}"} {
		f.Add(text, "{{a}}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		tmpl, err := ParseTemplate(text)
		if err != nil {
			var bad *templateError
			if !errors.As(err, &bad) || bad.offset < 0 || !strings.HasPrefix(text[bad.offset:], "{{") {
				t.Fatalf("%q: the error is at %d", text, bad.offset)
			}
			return
		}
		var pieces []string
		literal := 0
		for _, p := range tmpl.parts {
			pieces = append(pieces, p.text)
			if p.name != "" {
				pieces[len(pieces)-1] = value
				if !isPlace.MatchString(p.name) {
					t.Fatalf("%q has the place %q", text, p.name)
				}
			}
			literal += len(p.text)
		}
		fill := func(string) string { return value }
		got := tmpl.Fill(fill)
		if got != strings.Join(pieces, "") || len(got) != tmpl.Size(fill) || literal > len(text) {
			t.Fatalf("%q filled with %q is %q", text, value, got)
		}
		if len(tmpl.Places()) == 0 && got != strings.ReplaceAll(text, "{{{{", "{{") {
			t.Fatalf("%q without places is %q", text, got)
		}
	})
}

// FuzzPromptFile: any file is read or refused with a place in it, and what is read are good templates.
func FuzzPromptFile(f *testing.F) {
	for _, text := range []string{
		"Hello.", "---\nname: a\n---\nText {{b}}", "---\narguments: [{name: b}]\n---\n\n{{b}}\n", "---\n", "---\n---\n", "--- \nname: x\n---\nx",
		"---\nmessages: [{tool: t, arguments: {a: [1, {b: '{{c}}'}]}}]\n---\n", "---\n<<: *a\n---\n", "\ufeff---\r\nname: a\r\n---\r\nb\r\n", "---\nfile: x\n---\ny",
	} {
		f.Add([]byte(text), true)
	}
	f.Add([]byte("name: a\nmessages: [{text: hello}]"), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, markdown bool) {
		path := filepath.Join(dir, "prompt.yaml")
		if markdown {
			path = filepath.Join(dir, "prompt.md")
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		l := &loader{file: "drawbridge.yaml", rootType: reflect.TypeFor[Config]()}
		p, ok := l.promptFile(&Config{}, "prompts[0]", path, &Prompt{})
		if !ok {
			if len(l.problems.Errors()) == 0 {
				t.Fatal("refused without a reason")
			}
			return
		}
		if !promptID.MatchString(p.Name) || len(p.Messages) == 0 {
			t.Fatalf("%+v", p)
		}
		for _, m := range p.Messages {
			if !utf8.ValidString(m.Text.String()) || m.Text.IsZero() == (m.Tool == "" && m.Resource.IsZero()) {
				t.Fatalf("%+v", m)
			}
		}
	})
}
