package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Block is a fenced block of code on a page. Its info string is the language, then marks that readers of the page do not see:
// `yaml fragment`, `sh skip="needs a cluster"`, `sh test="TestReadme"`.
type Block struct {
	Page     string // path relative to the root of the repository
	Line     int    // of the fence
	Language string
	Fragment bool   // a part of a configuration, whose other parts the page shows elsewhere
	Skip     string // why a test does not run it; empty if one must
	Test     string // the test that runs it, where it is not the general one
	Text     string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Pages returns the Markdown files that users and contributors read, relative to the root of the repository.
func Pages(root string) ([]string, error) {
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "docs/contributing/adr/*.md", "deploy/*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no pages in %s: %w", pattern, err)
		}
		for _, file := range found {
			page, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			all = append(all, filepath.ToSlash(page))
		}
	}
	return all, nil
}

var (
	fence = regexp.MustCompile("^( *)```+(.*)$")
	mark  = regexp.MustCompile(` (skip|test)="([^"]*)"`)
	other = regexp.MustCompile(`^[a-z]*$`)
)

// Blocks returns the fenced blocks of a page, without the indentation of the list item that a block is in.
func Blocks(root, page string) ([]Block, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		return nil, err
	}
	var all []Block
	inside, indent := false, ""
	for i, line := range strings.Split(string(text), "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case m != nil && inside:
			inside = false
		case m != nil:
			inside, indent = true, m[1]
			b := Block{Page: page, Line: i + 1}
			for _, a := range mark.FindAllStringSubmatch(m[2], -1) {
				if a[1] == "skip" {
					b.Skip = a[2]
				} else {
					b.Test = a[2]
				}
			}
			b.Language, b.Fragment = strings.CutSuffix(mark.ReplaceAllString(m[2], ""), " fragment")
			if !other.MatchString(b.Language) {
				return nil, fmt.Errorf("%v: the info string %q is not a language with the marks fragment, skip=\"…\" or test=\"…\"", b, m[2])
			}
			all = append(all, b)
		case inside:
			all[len(all)-1].Text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	if inside {
		return nil, fmt.Errorf("%v: the block does not end", all[len(all)-1])
	}
	return all, nil
}

// NotShown returns the first part of what a page shows that the output of a command does not have, or "" if it has all, in order. "…" stands
// for what the page leaves out.
func NotShown(output, shown string) string {
	for part := range strings.SplitSeq(shown, "…") {
		part = strings.TrimSpace(part)
		_, rest, found := strings.Cut(output, part)
		if !found {
			return part
		}
		output = rest
	}
	return ""
}
