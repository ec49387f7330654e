package openapi

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/test/judges/generate"
)

// maxNarrowed is the maximum share of arguments that a full schema accepts and the compatible one refuses: those of an
// alternative that leaves open the declarations of another, and empty texts of an enum.
const maxNarrowed = 0.002

// TestCorpusFits checks that arguments made from a full schema are valid for the compatible one, so that a model can
// use everything that the service accepts (pains rows 170 and 171).
func TestCorpusFits(t *testing.T) {
	documents := corpus(t, "testdata/corpus")
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		documents = append(documents, corpus(t, dir)...)
	}
	calls, narrowed, tools, kept := 0, 0, 0, 0
	for _, name := range documents {
		doc, err := Load(t.Context(), name, LoadOptions{})
		if err != nil {
			continue // checked by TestCorpus
		}
		api, err := doc.Compile(t.Context(), CompileOptions{Output: OutputOff, Profile: ProfileCompatible})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range api.Operations {
			tools++
			published, _ := op.Published(ProfileFull)
			compatible, err := schema.Compile(published)
			if err != nil {
				t.Fatalf("%s %s %s: %v", filepath.Base(name), op.Method, op.Path, err)
			}
			if parsed := jsonschema.Parse(op.Input); schema.IsCompatible(parsed, 0) {
				if kept++; !bytes.Equal(schema.Compatible(parsed, 0), schema.Open(op.Input)) {
					t.Errorf("%s %s %s is not what IsCompatible says", filepath.Base(name), op.Method, op.Path)
				}
			}
			full, err := generate.New(op.Input)
			if err != nil {
				t.Fatal(err)
			}
			hash := fnv.New64()
			fmt.Fprint(hash, op.Method, op.Path)
			r := rand.New(rand.NewPCG(2, hash.Sum64()))
			for i := range 4 {
				args, err := full.Instance(r, generate.Options{Plain: i%2 == 0, NoExamples: i < 2})
				if err != nil {
					continue
				}
				calls++
				if faults := compatible.Validate(schema.Decode(args)); len(faults) > 0 {
					if narrowed++; narrowed < 20 {
						t.Logf("%s %s %s: %v\n\t%.300s", filepath.Base(name), op.Method, op.Path, faults[0], args)
					}
				}
			}
		}
	}
	t.Logf("%d tools, %d of them as they are but for the root, %d calls, %d don't fit", tools, kept, calls, narrowed)
	if float64(narrowed) > max(2, maxNarrowed*float64(calls)) {
		t.Errorf("%d of %d calls don't fit", narrowed, calls)
	}
}
