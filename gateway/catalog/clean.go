package catalog

import (
	"strings"

	"drawbridge/openapi"
)

// clean sanitizes a text for a model (S8), and reduces blank lines to one. It keeps Markdown.
func clean(text string) string {
	text = openapi.Clean(text)
	var b strings.Builder
	b.Grow(len(text))
	blank := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(blank+1, 2)])
		}
		blank = 0
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}
