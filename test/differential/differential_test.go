package differential

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write differences.md anew; reasons are kept, and missing ones have to be written")

// table is where the differences stand.
const table = "differences.md"

const head = `# Where the gateway answers differently from the official Go SDK (v1.8.0)

Each row is a difference in one answer of a conversation in testdata, and the clause that decides for the gateway. The test
fails for a difference without a row, a row without a difference, and a row without a reason. Words, names, times and opaque values
are not compared. A row of * is for every conversation, and for every place that ends like that.

| conversation | step | where | SDK | gateway | why |
|---|---|---|---|---|---|
`

// row is a row of the table but for its reason.
type row struct {
	conversation, step string
	difference
}

func (r row) String() string {
	code := func(text string) string {
		if text == "" {
			return "nothing"
		}
		return "`" + text + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", r.conversation, r.step, r.where, code(r.sdk), code(r.ours))
}

func TestDifferential(t *testing.T) {
	ours := newGateway(t)
	sdk := newSDK(t, ours)
	conversations := readConversations(t)
	var rows []row
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(conversations)) {
		theirs, mine := sdk.answers(t, conversations[name]), ours.answers(t, conversations[name])
		for _, step := range conversations[name] {
			compared++
			if testing.Verbose() {
				t.Logf("%s %s: %s", name, step.name, brief(mine[step.name]))
			}
			for _, d := range compare("", theirs[step.name], mine[step.name]) {
				rows = append(rows, row{name, step.name, d})
			}
		}
	}
	t.Logf("%d answers compared in %d conversations, %d differences", compared, len(conversations), len(rows))

	reasons := readTable(t)
	var lines []string
	for _, r := range rows {
		line := r.String()
		for general := range reasons {
			if strings.HasPrefix(general, "| * | * |") && r.general(general) {
				line = general
			}
		}
		if slices.Contains(lines, line) {
			continue
		}
		lines = append(lines, line)
		switch reason, found := reasons[line]; {
		case *update:
		case !found:
			t.Errorf("a difference that is not in %s:\n%s", table, line)
		case reason == "":
			t.Errorf("a difference without a reason in %s:\n%s", table, line)
		}
	}
	if *update {
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:3], b[:3]) }) // * first
		text := head
		for _, line := range lines {
			text += fmt.Sprintf("%s %s |\n", line, reasons[line])
		}
		if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for line := range reasons {
		if !slices.Contains(lines, line) {
			t.Errorf("a row of %s is no difference any more:\n%s", table, line)
		}
	}
}

// general tells whether a row of the table that is for all conversations covers this difference.
func (r row) general(line string) bool {
	where := strings.TrimSpace(strings.Split(line, " | ")[2])
	if !strings.HasSuffix(r.where, where) {
		return false
	}
	r.conversation, r.step, r.where = "*", "*", where
	return r.String() == line
}

// readTable returns the reasons by the rows that they are for.
func readTable(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil && !*update {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "|---|---|---|---|---|---|\n")
	reasons := map[string]string{}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(strings.TrimSpace(line), "|")
		at := strings.LastIndex(strings.ReplaceAll(line, "\\|", "  "), "|")
		if at < 0 {
			t.Fatalf("%s: %q is not a row", table, line)
		}
		reasons[line[:at+1]] = strings.TrimSpace(line[at+1:])
	}
	return reasons
}
