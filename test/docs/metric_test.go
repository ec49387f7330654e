package docs

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// metric is the name of one of the gateway's metrics, with what Prometheus appends to those of a histogram.
var metric = regexp.MustCompile(`\bdrawbridge_[a-z_]+[a-z]\b`)

// TestMetrics: every metric that an operator is told to look at exists.
func TestMetrics(t *testing.T) {
	have := map[string]bool{}
	for _, dir := range []string{"gateway", "cmd/drawbridge", "auth"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			for _, m := range regexp.MustCompile(`"(drawbridge_[a-z_]+)"`).FindAllStringSubmatch(read(t, name), -1) {
				have[m[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"docs/operations.md", "deploy/helm/drawbridge/files/alerts.yaml"} {
		names := metric.FindAllString(read(t, page), -1)
		if len(names) < 5 {
			t.Errorf("%s names %d metrics", page, len(names))
		}
		for _, name := range names {
			if !have[name] && !have[regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")] {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
	}
}
