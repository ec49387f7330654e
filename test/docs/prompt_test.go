package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestPrompts: what the page on prompts shows can be pasted, the file of Markdown too. A block without apis is completed by
// those of the page's first one.
func TestPrompts(t *testing.T) {
	const page = "docs/prompts.md"
	_, markdown, _ := strings.Cut(read(t, page), "```\n---\n")
	markdown, _, found := strings.Cut(markdown, "```\n")
	if !found {
		t.Fatalf("%s shows no Markdown", page)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"review.md": "---\n" + markdown, "support/refund.md": "Refund it."} {
		file := filepath.Join(dir, "prompts", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apis := ""
	for n, b := range blocks(t, page) {
		if n == 0 {
			apis = b.Text[:strings.Index(b.Text, "prompts:")]
		} else if !strings.HasPrefix(b.Text, "apis:") {
			b.Text = apis + b.Text
		}
		file := filepath.Join(dir, "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(file, func(string) string { return "" })
		if len(problems) > 0 {
			t.Errorf("%v: %v", b, problems)
		} else if n == 0 && len(c.Prompts) != 4 {
			t.Errorf("%v: %d prompts", b, len(c.Prompts))
		}
	}
}
