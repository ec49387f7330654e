package toolsearch

import (
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi/text"
)

// lineLength is the length of a sentence about a hit, in characters.
const lineLength = 120

// describeHits writes two lines for each tool: its signature, with the arguments that the query names first, and what it does.
func describeHits(hits []*catalog.Tool, query string) string {
	lines := make([]string, len(hits))
	same := map[string]int{}
	for i, t := range hits {
		lines[i] = line(t)
		same[lines[i]]++
	}
	var b strings.Builder
	for i, t := range hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.Signature(query))
		b.WriteString("\n  ")
		if t.Annotations.ReadOnly {
			b.WriteString("read-only: ")
		}
		b.WriteString(lines[i])
		if same[lines[i]] > 1 && t.Path != "" {
			b.WriteString(" (" + text.Truncate(t.Method+" "+t.Path, lineLength) + ")") // nothing else tells it from its twin
		}
	}
	return b.String()
}

// line returns the first sentence of a tool's description, and its caution, in one line.
func line(t *catalog.Tool) string {
	all := strings.TrimSuffix(text.TruncateWords(t.FirstSentence(), lineLength), ".")
	if caution := t.Caution(); caution != "" {
		all += ". " + strings.TrimSuffix(text.TruncateWords(caution, lineLength), ".")
	}
	return all
}
