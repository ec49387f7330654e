package openapi

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/pacing"
)

// TestCorpusBudget checks that no real document uses more than a quarter of its loading budget. It prints the largest
// shares.
func TestCorpusBudget(t *testing.T) {
	type share struct {
		name string
		used pacing.Used
		of   float64
		kept int64
	}
	var shares []share
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	for _, path := range corpus(t, dir) {
		doc, err := Load(t.Context(), path, LoadOptions{})
		if err != nil {
			continue // TestCorpus reports the error
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		u := api.Used
		s := share{name: filepath.Base(path), used: u, of: float64(u.Steps) / float64(u.Allowed), kept: api.Size}
		shares = append(shares, s)
		if s.of > 0.25 {
			t.Errorf("%s uses %d of %d steps", s.name, u.Steps, u.Allowed)
		}
	}
	slices.SortFunc(shares, func(a, b share) int { return int(1e6 * (b.of - a.of)) })
	var b strings.Builder
	for i, s := range shares {
		fmt.Fprintf(&b, "%5.1f %% of its budget: %s, %d steps of %d, %d bytes, %.1f steps a byte; keeps %d\n", 100*s.of, s.name, s.used.Steps, s.used.Allowed, s.used.Bytes, float64(s.used.Steps)/float64(s.used.Bytes), s.kept)
		if i == 9 {
			break
		}
	}
	t.Log("the largest shares\n" + b.String())
}
