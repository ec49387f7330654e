package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxMedianWords is the limit of house style for the median sentence.
const maxMedianWords = 20

// sentenceEnd is a mark and a blank; abbreviations within a sentence end none.
var (
	sentenceEnd  = regexp.MustCompile(`[.?!](?:\s+|$)`)
	abbreviation = regexp.MustCompile(`\b(e\.g|i\.e|etc|vs|cf)\.`)
	listItem     = regexp.MustCompile(`(?m)^\s*(?:[-*]|\d+\.) `)
)

// prose returns the lengths of the sentences of a page in words, those within tables apart, without code and headings, and the number of all
// words.
func prose(t *testing.T, page string) (sentences, cells []int, words int) {
	t.Helper()
	text := strings.Join(lines(t, page), "\n")
	words = len(strings.Fields(text))
	text = listItem.ReplaceAllString(abbreviation.ReplaceAllString(text, "$1"), "\n\n")
	text = link.ReplaceAllString(text, "$1")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		switch {
		case strings.HasPrefix(paragraph, "#"):
		case strings.HasPrefix(paragraph, "|"):
			for cell := range strings.SplitSeq(strings.ReplaceAll(paragraph, "\n", "|"), "|") {
				cells = append(cells, lengths(cell)...)
			}
		default:
			sentences = append(sentences, lengths(paragraph)...)
		}
	}
	slices.Sort(sentences)
	return sentences, cells, words
}

// lengths returns the number of words of each sentence; one or two words are a label.
func lengths(text string) (all []int) {
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if n := len(strings.Fields(sentence)); n > 2 {
			all = append(all, n)
		}
	}
	return all
}

// TestSentences bounds the median length of the sentences on each page for users, and of all of them. With -v it prints the figures.
func TestSentences(t *testing.T) {
	var all, tables []int
	total := 0
	t.Logf("%-36s %6s %9s %7s %4s", "page", "words", "sentences", "median", "p90")
	report := func(page string, sentences []int, words int) {
		if len(sentences) == 0 {
			t.Logf("%-36s %6d", page, words)
			return
		}
		median, p90 := sentences[len(sentences)/2], sentences[len(sentences)*9/10]
		t.Logf("%-36s %6d %9d %7d %4d", page, words, len(sentences), median, p90)
		if median > maxMedianWords {
			t.Errorf("%s: the median sentence has %d words, the limit is %d", page, median, maxMedianWords)
		}
	}
	for _, page := range pages(t) {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "docs/contributing/") {
			continue
		}
		sentences, cells, words := prose(t, page)
		all, tables, total = append(all, sentences...), append(tables, cells...), total+words
		report(page, sentences, words)
	}
	slices.Sort(all)
	slices.Sort(tables)
	report("all, in tables", tables, total)
	report("all, outside of tables", all, total)
}
