package targetgroup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/discovery"
	"drawbridge/test/cases"
	"drawbridge/test/race"
	"drawbridge/test/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCases reads the lists in testdata: a case has a list, as list.json or list.yaml, and what it is read as.
func TestCases(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, _ string, a *txtar.Archive) {
		var got, want string
		for _, f := range a.Files {
			switch f.Name {
			case "list.json":
				got += read(ParseJSON(f.Data))
			case "list.yaml":
				got += read(ParseYAML(f.Data))
			case "services":
				want = string(f.Data)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func read(targets []discovery.Target, err error) string {
	var b bytes.Buffer
	for i := range targets {
		t := &targets[i]
		fmt.Fprintf(&b, "%s/%s %s %s %q %q %q%s\n", t.Namespace, t.Name, t.Scheme, t.Instances, t.BasePath, t.Document, t.Tags, registrytest.Context(t))
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %s\n", err)
	}
	return b.String()
}

// A list of a hundred thousand groups and one more is read as far as that, and says so.
func TestManyGroups(t *testing.T) {
	groups := make([]group, maxGroups+1)
	for i := range groups {
		groups[i] = group{Targets: []string{"10.0.0.1:80"}, Labels: map[string]string{"job": fmt.Sprint("s", i)}}
	}
	text, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := ParseJSON(text)
	if len(targets) != maxGroups || err == nil || !strings.Contains(err.Error(), "has 100001 groups") {
		t.Errorf("%d services, %v", len(targets), err)
	}
}

// A list in YAML takes time in proportion to its size, whatever it consists of: a parser that compares each name with all others would
// take minutes for these.
func TestLargeYAML(t *testing.T) {
	var labels strings.Builder
	for i := range race.Fewer(100_000, 10_000) {
		fmt.Fprintf(&labels, "    k%d: x\n", i)
	}
	targets, err := ParseYAML([]byte("- targets: [10.0.0.1:80]\n  labels:\n    job: orders\n" + labels.String()))
	if err != nil || len(targets) != 1 {
		t.Errorf("%d services, %v", len(targets), err)
	}
	aliases := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		aliases += fmt.Sprintf("a%d: &a%[1]d [%s*a%d]\n", i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	if _, err := ParseYAML([]byte(aliases)); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"targets": ["a:1"], "labels": {"job": "x"}}]`))
	f.Add([]byte("- targets: [a:1]\n  labels: {service: x, tags: 'a,b'}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, parse := range []func([]byte) ([]discovery.Target, error){ParseJSON, ParseYAML} {
			targets, _ := parse(text)
			seen := map[[2]string]bool{}
			for i := range targets {
				key := [2]string{targets[i].Namespace, targets[i].Name}
				if targets[i].Name == "" || seen[key] {
					t.Errorf("service %q", key)
				}
				seen[key] = true
			}
		}
	})
}
