package main

import (
	"regexp"
	"strings"
)

// normalizer replaces what differs from run to run.
type normalizer struct{ replacements []replacement }

type replacement struct {
	what *regexp.Regexp
	by   string
}

func newNormalizer(dir string) *normalizer {
	n := &normalizer{}
	for _, r := range [][2]string{
		{regexp.QuoteMeta(dir), "DIR"},
		{`/tmp/drawbridge-demo-\d+`, "DEMO"},
		{`:[1-9]\d{4}\b`, ":PORT"},                                      // a line may end before it
		{`\b(\d\n?){4}-\n?(\d\n?){2}-\n?(\d\n?){2}T[\d:.\n]+Z`, "TIME"}, // a line may end within it
		{`\b\d\d:\d\d:\d\d(\.\d{3})?\b`, "TIME"},
		{`drawbridge (v?\d[\w.+-]*|[0-9a-f]{7,}(-dirty)?|dev)$`, "drawbridge VERSION"},
		{`sign in with the token [A-Z2-7]{26}`, "sign in with the token TOKEN"},
		{`version=\S+`, "version=VERSION"},
		{`User-Agent: drawbridge/\S+`, "User-Agent: drawbridge/VERSION"},
		{`"version": "(v?\d[\w.+-]*|[0-9a-f]{7,}(-dirty)?|dev)"`, `"version": "VERSION"`},
		{`[|/\\-] (\[[= ]*\] )?(reading|waiting|stopping|compiling)(.*), \d+ s$`, "* $1$2$3, N s"},
	} {
		n.replacements = append(n.replacements, replacement{regexp.MustCompile(`(?m)` + r[0]), r[1]})
	}
	return n
}

// text returns a screen without trailing spaces and empty lines at its end.
func (n *normalizer) text(screen string) string {
	lines := strings.Split(screen, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
	for _, r := range n.replacements {
		text = r.what.ReplaceAllString(text, r.by)
	}
	return text
}
