package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi"
)

func TestSignatures(t *testing.T) {
	const name = "testdata/signature/orders.txtar"
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "document.yaml")
	if err := os.WriteFile(file, a.Files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Load(context.Background(), file, openapi.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := d.Compile(context.Background(), openapi.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	every := func(*openapi.Operation) (Choice, bool) { return Choice{}, true }
	var got strings.Builder
	for _, tool := range Build([]API{{Name: "shop", Operations: api.Operations, Choose: every}}, Options{APIs: 1, MaxName: 64}).All() {
		got.WriteString(tool.Signature() + "\n")
	}
	if *update {
		a.Files[1].Data = []byte(got.String())
		if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(a.Files[1].Data); got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}
