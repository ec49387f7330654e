package docs

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	support = "docs/openapi-support.md"
	asked   = "docs/contributing/pains.md"
)

// A row is one line of a table.
type row struct {
	page  string
	line  int
	cells []string
}

func (r row) String() string { return fmt.Sprintf("%s:%d", r.page, r.line) }

// cases returns the files that the last cell links to, relative to the root; each is a case or a test.
func (r row) cases(t *testing.T) (files, names []string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(r.cells[len(r.cells)-1], -1) {
		file := filepath.ToSlash(filepath.Join(filepath.Dir(r.page), m[2]))
		if !strings.HasSuffix(file, ".txtar") && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%v: %s is neither a case nor a test", r, file)
			continue
		}
		files, names = append(files, file), append(names, m[1])
	}
	return files, names
}

// rows returns those of all tables of a page. Each table has to end in a column named case.
func rows(t *testing.T, page string) (all []row) {
	t.Helper()
	inside := false
	for i, line := range lines(t, page) {
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		r := row{page, i + 1, cells}
		switch {
		case !inside:
			inside = true
			if last := cells[len(cells)-1]; last != "case" {
				t.Errorf("%v: the last column is %q, and must be that of the cases", r, last)
			}
		case strings.Trim(cells[0], "-: ") == "":
		default:
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no tables", page)
	}
	return all
}

// TestSupport: what nothing shows is not claimed.
func TestSupport(t *testing.T) {
	const most = 500
	if n := len(lines(t, support)); n > most {
		t.Errorf("%s has %d lines; nobody reads more than %d", support, n, most)
	}
	for _, r := range rows(t, support) {
		if files, _ := r.cases(t); len(files) == 0 {
			t.Errorf("%v: the row %q has no case", r, r.cells[0])
		}
	}
}

var citation = regexp.MustCompile(`(?i)\bpains\s+rows?((?:,?\s+(?:and\s+)?(?:row\s+)?\d+)+)`)

// cited returns the rows that a text cites: "pains row 3", "pains rows 3, 4 and 5".
func cited(text string) (all []int) {
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		for _, digits := range regexp.MustCompile(`\d+`).FindAllString(m[1], -1) {
			n, err := strconv.Atoi(digits)
			if err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// says returns what a case or test says of itself: the first paragraph of a case, the comment of a test.
func says(t *testing.T, file, name string) string {
	t.Helper()
	text := read(t, file)
	if strings.HasSuffix(file, ".txtar") {
		head, _, _ := strings.Cut(text, "\n-- ")
		return head
	}
	before, _, _ := strings.Cut(text, "\nfunc "+name+"(")
	comment := before[strings.LastIndex(before, "\n\n")+1:]
	return strings.ReplaceAll(comment, "\n// ", " ")
}

// TestAsked: what users ask for is proved by cases that say so, and cases cite no row that isn't there.
func TestAsked(t *testing.T) {
	known := make(map[int]bool)
	for _, r := range rows(t, asked) {
		n, err := strconv.Atoi(r.cells[0])
		if err != nil || known[n] {
			t.Errorf("%v: %q is no number of its own", r, r.cells[0])
		}
		known[n] = true
		files, names := r.cases(t)
		if len(files) == 0 && !strings.HasPrefix(r.cells[2], "not built yet") {
			t.Errorf("%v: row %d has no case", r, n)
		}
		for i, file := range files {
			if !slices.Contains(cited(says(t, file, names[i])), n) {
				t.Errorf("%v: %s does not cite pains row %d", r, file, n)
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "out" || d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			file := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
			for _, n := range cited(says(t, file, "")) {
				if !known[n] {
					t.Errorf("%s cites pains row %d, which %s doesn't have", file, n, asked)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
