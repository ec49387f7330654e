package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/auth"
	"drawbridge/config"
)

// blocks returns the fenced YAML of a page that is not skipped.
func blocks(t *testing.T, page string) []Block {
	t.Helper()
	all, err := Blocks(root, page)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(b Block) bool { return b.Language != "yaml" || b.Skip != "" })
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
	values := map[string]string{"CA_FILE": "ca.pem", "INTROSPECTION_SECRET": "introspection-secret", "OKTA_CLIENT_SECRET": "client-secret"}
	var server, apis string
	presets, conditions := map[config.Preset]bool{}, 0
	for n, b := range blocks(t, page) {
		if n == 0 {
			at := strings.Index(b.Text, "apis:")
			server, apis = b.Text[:at], b.Text[at:]
			continue
		}
		text := b.Text
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
			t.Errorf("%v: %v", b, problems)
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
				t.Errorf("%v: %s: %v", b, r.Set.Condition, err)
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

// TestRegistrationGuides: the configuration of each guide loads as it stands there, and registers clients.
func TestRegistrationGuides(t *testing.T) {
	for _, page := range []string{"docs/guides/entra-id.md", "docs/guides/okta.md"} {
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(blocks(t, page)[0].Text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(file, func(string) string { return "client-secret" })
		if len(problems) > 0 || c == nil || c.Auth.Provider() == nil {
			t.Errorf("%s: %v", page, problems)
		}
	}
}
