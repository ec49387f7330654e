package readiness

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
	"drawbridge/openapi/proof"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loaded is a document with the means to load it again with an overlay.
type loaded struct {
	*Assessment
	document *openapi.Document
	api      *openapi.API
	load     proof.Loader
}

// assess loads and assesses the document in a file.
func assess(t *testing.T, location string) *loaded {
	t.Helper()
	o := openapi.LoadOptions{Keep: true}
	d, err := openapi.Load(t.Context(), location, o)
	if err != nil {
		t.Fatal(err)
	}
	api, err := d.Compile(t.Context(), openapi.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &loaded{Assess(d, api, ToolsOf(api), api.Skipped), d, api, func(ctx context.Context, data []byte) (*openapi.Document, *openapi.API, error) {
		with, o := *d.Copy, o
		with.Overlays = []fetch.File{{Location: proof.Location, Data: data}}
		o.Overlays = []string{proof.Location}
		again, err := openapi.LoadCopy(ctx, location, &with, o)
		if err != nil {
			return nil, nil, err
		}
		api, err := again.Compile(ctx, openapi.CompileOptions{})
		return again, api, err
	}}
}

// written writes a document into a file and returns its path.
func written(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
