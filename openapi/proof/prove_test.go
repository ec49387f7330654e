package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi"
	"drawbridge/openapi/overlay"
	"drawbridge/test/cases"
)

// loader returns a loader of a document.
func loader(t *testing.T, document []byte) Loader {
	t.Helper()
	dir := t.TempDir()
	location := filepath.Join(dir, "openapi.yaml")
	if err := os.WriteFile(location, document, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return func(ctx context.Context, data []byte) (*openapi.Document, *openapi.API, error) {
		if err := os.WriteFile(Location, data, 0o600); err != nil {
			return nil, nil, err
		}
		d, err := openapi.Load(ctx, location, openapi.LoadOptions{Overlays: []string{Location}})
		if err != nil {
			return nil, nil, err
		}
		api, err := d.Compile(ctx, openapi.CompileOptions{})
		return d, api, err
	}
}

// changesOf reads changes, one a line in JSON.
func changesOf(t *testing.T, lines []byte) (all []overlay.Change) {
	t.Helper()
	for line := range strings.Lines(string(lines)) {
		var c overlay.Change
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// TestProve proves the changes of each case in testdata. The judge refuses those whose reason begins with "bad"; "after N" refuses a change
// once the change with that index is gone. The file "proven" is what is kept, and why the others are not.
func TestProve(t *testing.T) {
	files, err := filepath.Abs("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	cases.Run(t, files, func(t *testing.T, _ string, a *txtar.Archive) {
		changes := changesOf(t, a.Files[1].Data)
		load := loader(t, a.Files[0].Data)
		proven, err := Prove(t.Context(), Proposal{Title: "A proposal", Changes: changes}, load, func(_ *openapi.Document, _ *openapi.API, tried []int) (map[int]string, error) {
			failed := map[int]string{}
			for _, i := range tried {
				var before int
				if _, err := fmt.Sscanf(changes[i].Reason, "after %d", &before); strings.HasPrefix(changes[i].Reason, "bad") || err == nil && !slices.Contains(tried, before) {
					failed[i] = "judged " + changes[i].Reason
				}
			}
			return failed, nil
		})
		var got strings.Builder
		if err != nil {
			fmt.Fprintf(&got, "error: %v\n", err)
		} else {
			fmt.Fprintf(&got, "kept %d\n", proven.Kept)
			for _, line := range proven.Dropped {
				fmt.Fprintln(&got, line)
			}
			if (proven.Data == nil) != (len(proven.Kept) == 0) || strings.Count(string(proven.Data), "target:") != len(proven.Kept) {
				t.Errorf("kept %d in\n%s", proven.Kept, proven.Data)
			}
		}
		if want := string(a.Files[2].Data); got.String() != want {
			t.Errorf("got:\n%swant:\n%s", got.String(), want)
		}
	})
}

// TestErrors checks that an error that no change is the cause of ends the proof: of the document, and of the judge.
func TestErrors(t *testing.T) {
	broken := errors.New("the disk is full")
	p := Proposal{Changes: []overlay.Change{{Target: "$.info", Value: json.RawMessage(`{"title":"x"}`)}}}
	accept := func(*openapi.Document, *openapi.API, []int) (map[int]string, error) { return nil, nil }
	fail := func(context.Context, []byte) (*openapi.Document, *openapi.API, error) { return nil, nil, broken }
	if _, err := Prove(t.Context(), p, fail, accept); !errors.Is(err, broken) {
		t.Errorf("an error of the document: %v", err)
	}
	load := loader(t, []byte("openapi: 3.1.0\ninfo: {title: Things, version: '1'}\npaths: {}\n"))
	if _, err := Prove(t.Context(), p, load, func(*openapi.Document, *openapi.API, []int) (map[int]string, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("an error of the judge: %v", err)
	}
}
