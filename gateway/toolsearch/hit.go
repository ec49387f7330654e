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

const (
	// hitLength is the length of a hit in bytes, in the mean of all hits of an answer; that of one is from minHitLength to maxHitLength.
	hitLength, minHitLength, maxHitLength = 370, 200, 700
)

// describeHits writes two or three lines for each hit: its signature, with the arguments that the query names first, what it does, and its
// other versions. The first hits get more of the room for all.
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
		below := s.below(hit.Tool, found, lines[i], same[lines[i]] > 1)
		if i > 0 {
			b.WriteByte('\n')
		}
		left := len(lines) - i
		share := 2 * (hitLength*len(lines) - b.Len()) / (left + 1)
		b.WriteString(t.SignatureFor(query, min(max(share, minHitLength), maxHitLength)-len(below)))
		b.WriteString(below)
	}
	return b.String()
}

// below returns the lines below the signature of a hit.
func (s *Scope) below(hit int, found finder.Result, line string, repeated bool) string {
	t := s.Tools[hit]
	lines := "\n  "
	if t.Annotations.ReadOnly {
		lines += "read-only: "
	}
	lines += line
	if repeated && t.Path != "" {
		lines += " (" + text.Truncate(t.Method+" "+t.Path, lineLength) + ")" // nothing else tells it from its twin
	}
	if twins := found.Twins[hit]; len(twins) > 0 {
		names := make([]string, len(twins))
		for i, twin := range twins {
			names[i] = s.Tools[twin].Name
		}
		lines += "\n  other versions: " + text.List(names, maxTwins)
	}
	return lines
}

// line returns the first sentence of a tool's description, and its caution, in one line.
func line(t *catalog.Tool) string {
	all := strings.TrimSuffix(text.TruncateWords(t.FirstSentence(), lineLength), ".")
	if caution := t.Caution(); caution != "" {
		all += ". " + strings.TrimSuffix(text.TruncateWords(caution, lineLength), ".")
	}
	return all
}
