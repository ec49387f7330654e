package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestDefaultChanges holds the table of changed defaults: each key exists, its former value is one that the key takes and another one than
// now, and what restores the former value does so. CHANGELOG.md has the same table (pains row 200).
func TestDefaultChanges(t *testing.T) {
	changelog, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	const base = "apis: [{spec: api.yaml}]\n"
	load := func(text string, o LoadOptions) *Config {
		t.Helper()
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := LoadWith(file, func(string) string { return "" }, o)
		if c == nil {
			t.Fatalf("%s%s", text, problems)
		}
		return c
	}
	plain, former := load(base, LoadOptions{}), load(base, LoadOptions{AsOf: &Release{}})
	bare, _ := LoadWith("https://things.example.com/openapi.json", func(string) string { return "" }, LoadOptions{AsOf: &Release{}})
	for _, change := range DefaultChanges(Release{}) {
		t.Run(change.What, func(t *testing.T) {
			text := base + change.Restore + "\n"
			if strings.HasPrefix(change.Key, "apis[]") {
				text = strings.Replace(base, "}", ", "+change.Restore+"}", 1)
			}
			restored := load(text, LoadOptions{})
			if !plain.IsDefault(change) || restored.IsDefault(change) {
				t.Errorf("the default applies: %t without the key and %t with %s", plain.IsDefault(change), restored.IsDefault(change), change.Restore)
			}
			if change.What == change.Key {
				want := valueAt(t, restored, change.Key)
				if got := valueAt(t, former, change.Key); got != want {
					t.Errorf("%s with the former defaults is %s, and %s with %s", change.Key, got, want, change.Restore)
				}
				if got := valueAt(t, bare, change.Key); got != want {
					t.Errorf("%s of a document alone is %s with the former defaults, want %s", change.Key, got, want)
				}
				if got := valueAt(t, plain, change.Key); got == want {
					t.Errorf("%s is %s before and now", change.Key, got)
				}
			}
			for _, line := range strings.Split(string(changelog), "\n") {
				if strings.HasPrefix(line, "| ") && strings.Contains(line, change.Key+"`") && strings.Contains(line, "`"+change.Restore+"`") {
					return
				}
			}
			t.Errorf("no row of a table in CHANGELOG.md has `%s` and `%s`", change.Key, change.Restore)
		})
	}
	if changes := DefaultChanges(firstRelease); len(changes) != 0 {
		t.Errorf("%d changes since the release that has them", len(changes))
	}
}

// valueAt returns the value of a key, of the first item of lists.
func valueAt(t *testing.T, c *Config, key string) string {
	t.Helper()
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(strings.ReplaceAll(key, "[]", ""), ".") {
		if v.Kind() == reflect.Slice {
			v = v.Index(0)
		}
		for _, f := range fieldsOf(v.Type()) {
			if f.name == name {
				v = v.Field(f.index)
				break
			}
		}
	}
	return fmt.Sprint(v.Interface())
}

// TestParseRelease has versions as packages, tags and people write them.
func TestParseRelease(t *testing.T) {
	for text, want := range map[string]Release{
		"0": {}, "0.1": {Minor: 1}, "v1.2.3": {Major: 1, Minor: 2, Patch: 3}, "0.2.0-rc.1": {Minor: 2, Pre: true},
		"0.1.1-dev.1430.gc711b8ead6dd": {Minor: 1, Patch: 1, Pre: true}, "1.0.0+build.5": {Major: 1},
	} {
		if got, ok := ParseRelease(text); !ok || got != want {
			t.Errorf("%q: %v, %t; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "v", "dev", "tools.json", "1.2.3.4", "./1", "1.", "9999999", "-1", "0.1 "} {
		if got, ok := ParseRelease(text); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	order := []string{"0", "0.1.0-rc.1", "0.1.0", "0.1.1-dev.1", "0.1.1", "0.2", "1"}
	for i := range order {
		for j := range order {
			a, _ := ParseRelease(order[i])
			b, _ := ParseRelease(order[j])
			if a.Before(b) != (i < j) {
				t.Errorf("%s before %s: %t", order[i], order[j], a.Before(b))
			}
		}
	}
}
