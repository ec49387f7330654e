package arazzo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

// TestDescriptions runs testdata/descriptions/*.txtar. The result has the workflows and steps of each description, and its faults.
func TestDescriptions(t *testing.T) {
	cases.Run(t, "testdata/descriptions/*.txtar", func(t *testing.T, name string, archive *txtar.Archive) {
		got := &txtar.Archive{Comment: archive.Comment}
		var result strings.Builder
		for _, f := range archive.Files {
			if f.Name != "result" {
				got.Files = append(got.Files, f)
				describe(&result, f.Name, f.Data)
			}
		}
		got.Files = append(got.Files, txtar.File{Name: "result", Data: []byte(result.String())})
		if *update {
			cases.Write(t, name, got)
			return
		}
		if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
			t.Error("-want +got:\n" + diff)
		}
	})
}

func describe(w *strings.Builder, name string, data []byte) {
	d, err := Read(name, bytes.Clone(data))
	if err != nil {
		fmt.Fprintf(w, "%v\n", err)
		return
	}
	for _, f := range d.Workflows {
		fmt.Fprintf(w, "workflow %s, inputs %s\n", f.ID, f.Inputs)
		for _, s := range f.Steps {
			fmt.Fprintf(w, "\tstep %s calls %s%s%s: %d parameters, %d criteria, %d actions of success, %d of failure, %d outputs, timeout %v\n",
				s.ID, s.OperationID, s.OperationPath, s.WorkflowID, len(s.Parameters), len(s.Success), len(s.OnSuccess), len(s.OnFailure), len(s.Outputs), s.Timeout)
		}
	}
	for _, f := range d.Faults {
		fmt.Fprintln(w, f)
	}
}

// FuzzRead holds that a description has workflows or an error, and that the values of each step can be evaluated.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"arazzo":"1.1.0","info":{"title":"a","version":"1"},"sourceDescriptions":[{"name":"a","url":"a.json"}],"workflows":[{"workflowId":"w","inputs":{"properties":{"a":{}}},` +
		`"steps":[{"stepId":"s","operationId":"o","parameters":[{"name":"p","in":"query","value":"$inputs.a"}],"successCriteria":[{"condition":"$statusCode == 200"}],"outputs":{"b":"$response.body#/b"}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Read("a.json", data)
		if err != nil {
			return
		}
		if len(d.Workflows) == 0 && len(d.Faults) == 0 {
			t.Error("neither workflows nor faults")
		}
		for _, w := range d.Workflows {
			for _, s := range w.Steps {
				for i := range s.Parameters {
					_, _ = s.Parameters[i].Value.Evaluate(values(`{}`))
				}
				for _, c := range s.Success {
					_, _ = c.Holds(values(`{}`))
				}
			}
		}
	})
}
