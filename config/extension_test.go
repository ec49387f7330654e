package config

import (
	"strings"
	"testing"
)

// TestParseExtension holds what a document may say of its operations: settings that the file has too, and nothing that is
// the operator's alone.
func TestParseExtension(t *testing.T) {
	for _, c := range []struct{ name, value, problems string }{
		{"x-mcp-confirm", `true`, ""},
		{"x-mcp-confirm", `false`, "x-mcp-confirm: is false: a document can ask for consent, and can't do without it"},
		{"x-mcp-confirm", `"${HOME}"`, `x-mcp-confirm: expected true or false, got the string "${HOME}"`},
		{"x-mcp-confirm", `{"a":1}`, "x-mcp-confirm: expected true or false, got a mapping"},
		{"x-mcp-confirm", `null`, "x-mcp-confirm: expected true or false, got nothing; give it a value or remove it"},
		{"x-mcp-confirm", strings.Repeat("[", 100) + strings.Repeat("]", 100), "x-mcp-confirm: can't be read"},
		{"x-mcp-progress", `{"progress":"/done","result":"/r"}`, ""},
		{"x-mcp-progress", `{"progress":"${HOME}"}`, "x-mcp-progress.progress: must be a JSON Pointer, such as /items/0/name, got \"${HOME}\""},
		{"x-mcp-confrim", ``, `x-mcp-confrim: unknown extension; did you mean "x-mcp-confirm"?`},
		{"x-mcp-tool", ``, "x-mcp-tool: unknown extension; those of the gateway are x-mcp-annotations, x-mcp-async, x-mcp-confirm, x-mcp-inputs, x-mcp-job, x-mcp-progress, " +
			"x-mcp-resource, x-sensitive-fields"},
		{"x-mcp-progress", `{}`, "x-mcp-progress: is empty; leave it out"},
		{"x-mcp-progress", `true`, "x-mcp-progress: is empty; leave it out"},
		{"x-mcp-inputs", `[]`, "x-mcp-inputs: is empty; leave it out"},
		{"x-mcp-inputs", `false`, "x-mcp-inputs: expected a list, got false"},
		{"x-mcp-job", `{}`, ""},
		{"x-mcp-annotations", `{"read_only":false,"destructive":true}`, ""},
		{"x-mcp-annotations", `{"read_only":true}`, "x-mcp-annotations.read_only: is true: a document can set read_only to false and destructive to true; the rest is for a rule to say"},
		{"x-mcp-annotations", `{"destructive":false,"idempotent":false,"open_world":false}`, "x-mcp-annotations.destructive: is false: a document can set read_only to false and destructive to true; the rest is for a rule to say\n" +
			"x-mcp-annotations.idempotent: decides about retries: a document can set read_only to false and destructive to true; the rest is for a rule to say\n" +
			"x-mcp-annotations.open_world: is false: a document can set read_only to false and destructive to true; the rest is for a rule to say"},
	} {
		set, problems := ParseExtension(c.name, []byte(c.value))
		var lines []string
		for _, p := range problems {
			lines = append(lines, p.Key+": "+p.Message)
		}
		if got := strings.Join(lines, "\n"); got != c.problems {
			t.Errorf("%s: %.40s:\n%s\nwant\n%s", c.name, c.value, got, c.problems)
		}
		if c.problems == "" && c.name == "x-mcp-confirm" && (set.Confirm == nil || !*set.Confirm) {
			t.Errorf("%s: %s: %+v", c.name, c.value, set)
		}
	}
}

// FuzzParseExtension holds that no value of a document does harm, or reads what is the operator's.
func FuzzParseExtension(f *testing.F) {
	for _, name := range Extensions() {
		f.Add(name, []byte(`true`))
		f.Add(name, []byte(`{"key":"${HOME}","schema":{"type":"object"}}`))
		f.Add(name, []byte(`[{"a":[1,2,{"b":null}]}]`))
	}
	f.Setenv("HOME", "canary-in-the-environment")
	f.Fuzz(func(t *testing.T, name string, value []byte) {
		set, problems := ParseExtension(name, value)
		if text := problems.String(); strings.Contains(text, "canary-in-the-environment") {
			t.Fatalf("a variable was read: %s", text)
		}
		if set.Confirm != nil && !*set.Confirm && len(problems.Errors()) == 0 {
			t.Fatal("a document does without consent")
		}
		if a := set.Annotations; a != nil && len(problems.Errors()) == 0 && (isTrue(a.ReadOnly) || a.Destructive != nil && !*a.Destructive || a.Idempotent != nil) {
			t.Fatal("a document promises what its calls don't do")
		}
	})
}
