package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestShortPages loads every YAML example of pages that show few.
func TestShortPages(t *testing.T) {
	pages, err := filepath.Glob("../docs/guides/discovery-*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "../docs/guides/service-discovery.md", "../docs/replicas.md", "../docs/extensions.md", "../docs/manifest.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
		if len(examples) == 0 {
			t.Errorf("%s shows no YAML", name)
		}
		certificate, err := os.ReadFile("testdata/certificate.pem")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range examples {
			t.Run(filepath.Base(name)+" "+strconv.Itoa(i), func(t *testing.T) { loadExample(t, string(m[1]), certificate) })
		}
	}
}
