package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRunbook: the page has the commands that each fault is looked at and mended with, below the heading of an alert that exists, without a night.
func TestRunbook(t *testing.T) {
	t.Chdir("../..")
	page, err := readRunbook()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	idp, err := authtest.Start(authtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer idp.Close()
	pairs := map[string]*pair{}
	for _, name := range []string{"services", "issuer", "audit", "queue", "limit"} {
		pairs[name] = &pair{name: name, idp: idp, replicas: [2]*replica{{disk: &process.Disk{}}, {disk: &process.Disk{}}}}
	}
	faults := (&services{orders: &restartable{}}).faults(options{}, "", pairs, &process.Redis{})
	if len(faults) != 10 {
		t.Errorf("%d faults", len(faults))
	}
	for _, f := range faults {
		if err := page.has(f); err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(rules), "- alert: "+f.alert+"\n") {
			t.Errorf("%s: there is no such alert", f.alert)
		}
	}
}

// TestBlock: comments and other languages are no commands, and a section ends at the next heading.
func TestBlock(t *testing.T) {
	const page = runbook("# Page\n\n### A\n\ntext\n\n```json\n{}\n```\n\n```sh\ncurl a   # what it shows\n# nothing\n\ngrep '#b' c\n```\n\n```yaml\nd: e\n```\n\n```sh skip=\"why\"\nf\n```\n\n### B\n\n```sh\ng\n```\n")
	for heading, want := range map[string][]string{"### A": {"curl a", "grep '#b' c", "f"}, "### B": {"g"}, "### C": nil} {
		if got := page.block(heading); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", heading, got, want)
		}
	}
	f := &fault{alert: "A", looks: []look{{"curl a", ""}, {"grep '#b' c", ""}}, mend: []string{"f"}}
	if err := page.has(f); err != nil {
		t.Error(err)
	}
	f.mend = append(f.mend, "g")
	if err := page.has(f); err == nil || err.Error() != "A: the page does not have the command g" {
		t.Error(err)
	}
	f.mend = nil
	if err := page.has(f); err == nil || err.Error() != "A: the page has a command that is not tried: f" {
		t.Error(err)
	}
}
