package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"drawbridge/config"
)

// allBlocks returns the blocks of code of all pages.
func allBlocks(t *testing.T) (all []Block) {
	t.Helper()
	pages, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		found, err := Blocks(root, page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// configurationOf returns the configuration that a block shows: a list of documents, a mapping of keys, or the values of the Helm chart
// with one. It is completed by what a configuration must have. A document of another kind has none.
func configurationOf(t *testing.T, b Block) (text string, ok bool) {
	var list []any
	if yaml.Unmarshal([]byte(b.Text), &list) == nil {
		return b.Text, true
	}
	var given map[string]any
	if err := yaml.Unmarshal([]byte(b.Text), &given); err != nil {
		t.Errorf("%v: %v", b, err)
		return "", false
	}
	if given["overlay"] != nil || given["openapi"] != nil || given["paths"] != nil || given["arazzo"] != nil {
		return "", false
	}
	if strings.HasPrefix(b.Page, "deploy/helm/") {
		chart, ok := given["config"].(map[string]any)
		if !ok {
			return "", false
		}
		given = chart
		out, err := yaml.Marshal(chart)
		if err != nil {
			t.Fatal(err)
		}
		b.Text = string(out)
	}
	if given["apis"] == nil {
		b.Text += "\napis:\n  - {spec: https://orders.internal/openapi.json, name: orders}\n"
	}
	if b.Fragment && given["auth"] == nil {
		b.Text += "\nauth: {issuers: [{issuer: https://idp.example.com}], default_scopes: [mcp:tools]}\n"
	}
	if auth, ok := given["auth"].(map[string]any); ok && auth["issuers"] != nil && given["server"] == nil {
		b.Text += "\nserver: {public_url: https://mcp.example.com}\n"
	}
	return b.Text, true
}

// configurationFiles writes the files beside a configuration that it must refer to: those that a check without secrets wants, too.
func configurationFiles(t *testing.T, dir, text string) string {
	t.Helper()
	ca := read(t, "config/testdata/auth_kinds.txtar")
	ca = ca[strings.Index(ca, "-----BEGIN"):strings.Index(ca, "-- drawbridge.yaml")]
	authority := filepath.Join(dir, "ca.pem")
	for name, content := range map[string]string{"ca.pem": ca, "prompts/review.md": "Review it.", "prompts/support/refund.md": "Refund it.", "cancel.arazzo.yaml": "arazzo: 1.0.1\n",
		"skills/late-orders/SKILL.md": "---\nname: late-orders\ndescription: d\n---\n", "teams/billing/refunds/SKILL.md": "---\nname: refunds\ndescription: d\n---\n"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return regexp.MustCompile(`(ca_file: *)(\$\{[^}]*\}|[^\s,}]+)`).ReplaceAllString(text, "${1}"+authority)
}

// TestConfigurationBlocks loads each YAML block of the pages that is a configuration, as `drawbridge check --no-secrets` does before it reads
// documents. A block that is none says so in its info string: skip="a manifest of Kubernetes".
func TestConfigurationBlocks(t *testing.T) {
	loaded, skipped := 0, 0
	for _, b := range allBlocks(t) {
		if b.Language != "yaml" && b.Language != "" {
			continue
		}
		faults, configuration := faultsOf(t, b)
		switch {
		case len(faults) > 0:
			t.Errorf("%v: %s", b, strings.Join(faults, "\n\t"))
		case configuration:
			loaded++
		case b.Language == "yaml":
			skipped++
		}
	}
	t.Logf("%d configurations loaded, %d blocks of other YAML", loaded, skipped)
	if loaded < 50 {
		t.Errorf("%d configurations were found", loaded)
	}
}

// faultsOf returns what is wrong with a block of YAML, and whether it is a configuration.
func faultsOf(t *testing.T, b Block) (faults []string, configuration bool) {
	t.Helper()
	if b.Language == "" {
		if strings.HasPrefix(b.Page, "docs/contributing/") || !looksLikeYAML(b.Text) {
			return nil, false
		}
		return []string{"a YAML block without its language"}, false
	}
	text, ok := configurationOf(t, b)
	if !ok || b.Skip != "" {
		return nil, false
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(configurationFiles(t, dir, text)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := config.LoadWith(file, func(string) string { return "" }, config.LoadOptions{WithoutSecrets: true})
	for _, p := range problems {
		if p.Severity == config.Error {
			faults = append(faults, p.String())
		}
	}
	return faults, true
}

// looksLikeYAML reports whether a text is a mapping of several lines.
func looksLikeYAML(text string) bool {
	var mapping map[string]any
	return !strings.HasPrefix(text, "---\n") && yaml.Unmarshal([]byte(text), &mapping) == nil && len(mapping) > 0 && strings.Count(text, "\n") > 1
}
