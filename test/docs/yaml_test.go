package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/config"
)

// A block is a piece of configuration that a page shows.
type block struct {
	line int // of its fence
	text string
}

// blocks returns the fenced YAML of a page.
func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	inside := false
	for i, line := range strings.Split(read(t, page), "\n") {
		switch {
		case strings.HasPrefix(line, "```yaml"):
			inside = true
			all = append(all, block{line: i + 1})
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			all[len(all)-1].text += line + "\n"
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s shows no YAML", page)
	}
	return all
}

// TestYAML: what the page on tokens shows can be pasted. A block without server or apis is completed by those of the
// page's first one, as the page says.
func TestYAML(t *testing.T) {
	const page = "docs/auth.md"
	dir := t.TempDir()
	ca := read(t, "config/testdata/auth_kinds.txtar")
	ca = ca[strings.Index(ca, "-----BEGIN"):strings.Index(ca, "-- drawbridge.yaml")]
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(ca), 0o600); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"CA_FILE": "ca.pem", "INTROSPECTION_SECRET": "introspection-secret"}
	var server, apis string
	presets, conditions := map[config.Preset]bool{}, 0
	for n, b := range blocks(t, page) {
		if n == 0 {
			at := strings.Index(b.text, "apis:")
			server, apis = b.text[:at], b.text[at:]
			continue
		}
		text := b.text
		if !strings.HasPrefix(text, "server:") && !strings.Contains(text, "\nserver:") {
			text = server + text
		}
		if !strings.Contains(text, "\napis:") {
			text += apis
		}
		file := filepath.Join(dir, "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(file, func(name string) string { return values[name] })
		if len(problems) > 0 || c == nil || c.Auth == nil {
			t.Errorf("%s:%d: %v", page, b.line, problems)
			continue
		}
		for _, is := range c.Auth.Issuers {
			presets[is.Preset] = true
		}
		for _, r := range c.Rules {
			if r.Set.Condition == "" {
				continue
			}
			conditions++
			if _, err := auth.NewCondition(r.Set.Condition); err != nil {
				t.Errorf("%s:%d: %s: %v", page, b.line, r.Set.Condition, err)
			}
		}
	}
	for _, name := range auth.Presets() {
		if !presets[config.Preset(name)] {
			t.Errorf("%s shows no configuration for %s", page, name)
		}
	}
	if conditions < 5 {
		t.Errorf("%s shows %d conditions", page, conditions)
	}
}
