package docs

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

var (
	link   = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	inCode = regexp.MustCompile("`[^`]*`")
	scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// pages returns the Markdown files of the project, relative to its root.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lines returns the lines of a page without its blocks of code, which hold no links; what is code within a line is blank.
func lines(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	all := strings.Split(string(text), "\n")
	for i, line := range all {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			all[i] = ""
		} else if fenced {
			all[i] = ""
		} else {
			all[i] = inCode.ReplaceAllStringFunc(line, func(s string) string { return strings.Repeat("x", len(s)) })
		}
	}
	return all
}

// TestMakeTargets checks that the Makefile has each target that a page names.
func TestMakeTargets(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, page := range pages(t) {
		for _, m := range regexp.MustCompile("`make ([a-z][a-z0-9-]*)").FindAllStringSubmatch(read(t, page), -1) {
			if !regexp.MustCompile(`(?m)^([a-z0-9-]+ )*` + m[1] + `( [a-z0-9 -]+)?:`).MatchString(makefile) {
				t.Errorf("%s: there is no target %q", page, m[1])
			}
		}
	}
}

// TestLinks: a page that moves takes its readers along, or the test says where they are lost.
func TestLinks(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for i, line := range lines(t, page) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target, heading, _ := strings.Cut(m[2], "#")
				if scheme.MatchString(target) {
					if u, err := url.Parse(m[2]); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
						t.Errorf("%s:%d: %q is not an absolute URL: %v", page, i+1, m[2], err)
					}
					continue
				}
				checked++
				file := page
				if target != "" {
					file = filepath.ToSlash(filepath.Join(filepath.Dir(page), target))
				}
				if _, err := os.Stat(filepath.Join(root, file)); err != nil || strings.HasPrefix(file, "..") {
					t.Errorf("%s:%d: %q leads to no file", page, i+1, m[2])
					continue
				}
				if heading != "" && !slices.Contains(headings(t, file), heading) {
					t.Errorf("%s:%d: %q leads to no heading", page, i+1, m[2])
				}
				if (strings.HasPrefix(m[1], "Test") || strings.HasPrefix(m[1], "Fuzz")) && strings.HasSuffix(file, "_test.go") && !strings.Contains(read(t, file), "\nfunc "+m[1]+"(") {
					t.Errorf("%s:%d: %s has no %s", page, i+1, file, m[1])
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no links were found")
	}
}

// headings returns the names by which headings of a page can be linked to: lower case, blanks as hyphens, without signs.
func headings(t *testing.T, page string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(read(t, page)) {
		text := strings.TrimLeft(line, "#")
		if text == line || !strings.HasPrefix(text, " ") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(text)))
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
