package deploy

import (
	"flag"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "accept the errors of testdata/refused as they are now")

// section returns the text of a file of a case, "" if there is none.
func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return strings.TrimSpace(string(f.Data))
		}
	}
	return ""
}

// TestRefused: mistakes that can be known are errors before anything is installed, and name their key (the file key). A file never
// has a text that the error must not show.
func TestRefused(t *testing.T) {
	helm := tool(t, "HELM")
	position := regexp.MustCompile(`(?m)^Error: (execution error at \(.*?\): )?|^Use --debug flag .*$|^coalesce.go:.*\n`)
	cases.Run(t, "testdata/refused/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		values := write(t, t.TempDir(), "values.yaml", section(a, "values.yaml"))
		text, ok := output(t, nil, helm, "template", "mcp", chart, "--kube-version", cluster, "-f", values)
		text = strings.TrimSpace(position.ReplaceAllString(text, ""))
		if key := section(a, "key"); ok || key == "" || !strings.Contains(text, key) {
			t.Fatalf("%q is not in the error: %.3000s", key, text)
		}
		if never := section(a, "never"); never != "" && strings.Contains(text, never) {
			t.Errorf("the error shows %q", never)
		}
		if *update {
			last := &a.Files[len(a.Files)-1]
			if last.Name != "error" {
				a.Files = append(a.Files, txtar.File{Name: "error"})
				last = &a.Files[len(a.Files)-1]
			}
			last.Data = []byte(text + "\n")
			cases.Write(t, file, a)
		}
		if want := section(a, "error"); text != want {
			t.Errorf("got %s\nwant %s", text, want)
		}
	})
}

// TestAccepted: the gateway loads what these values make, and the manifests have each line of the file manifests.
func TestAccepted(t *testing.T) {
	tool(t, "HELM")
	cases.Run(t, "testdata/accepted/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		text := accept(t, write(t, t.TempDir(), "values.yaml", section(a, "values.yaml")))
		for line := range strings.Lines(section(a, "manifests")) {
			if line = strings.TrimSpace(line); !strings.Contains(text, line) {
				t.Errorf("the manifests have no %q", line)
			}
		}
	})
}
