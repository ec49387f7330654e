package toolsearch

import (
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/openapi/text"
)

// lineLength is the length of a sentence about a hit, in characters.
const lineLength = 120

// maxTwins is the number of other versions of a hit that are named.
const maxTwins = 3

// describeHits writes two or three lines for each hit: its signature, with the arguments that the query names first, what it does, and its
// other versions.
func (s *Scope) describeHits(found finder.Result, query string) string {
	lines := make([]string, len(found.Hits))
	same := map[string]int{}
	for i, hit := range found.Hits {
		lines[i] = line(s.Tools[hit.Tool])
		same[lines[i]]++
	}
	var b strings.Builder
	for i, hit := range found.Hits {
		t := s.Tools[hit.Tool]
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
		if twins := found.Twins[hit.Tool]; len(twins) > 0 {
			names := make([]string, len(twins))
			for i, twin := range twins {
				names[i] = s.Tools[twin].Name
			}
			b.WriteString("\n  other versions: " + text.List(names, maxTwins))
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
