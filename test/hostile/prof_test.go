package hostile

import (
	"flag"
	"testing"
	"time"

	"drawbridge/openapi"
)

var file = flag.String("file", "", "")

func TestP(t *testing.T) {
	start := time.Now()
	d, err := openapi.Load(t.Context(), *file, openapi.LoadOptions{})
	t.Log("load", time.Since(start))
	if err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	a, err := d.Compile(t.Context(), openapi.CompileOptions{})
	t.Log("compile", time.Since(start))
	if err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	for _, o := range a.Operations {
		_ = o.CheckSchema()
	}
	t.Log("check", time.Since(start))
	t.Log(len(a.Operations), len(a.Skipped), len(a.Problems), a.Size)
}
