package catalog

import (
	"regexp"
	"strings"
	"unicode"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
)

// maxCautionRead is the length in bytes of the beginning of a description in which cautions are looked for.
const maxCautionRead = 2000

// absence finds what is said of a call without an argument that then concerns everything.
var absence = regexp.MustCompile(`(?i)\b(if|when|unless)\b.*\b(no|none|empty|omitted|absent|missing|left out|not (set|given|provided|specified|supplied|present|passed))\b.*\b(all|every|everything|entire|whole)\b` +
	`|\bwithout\b.*\b(all|every|everything|entire|whole)\b` +
	`|\b(all|every|everything|entire|whole)\b.*\b(if|when|unless)\b.*\b(no|none|empty|omitted|absent|missing|left out|not (set|given|provided|specified|supplied|present|passed))\b`)

// cautions find sentences that a caller must know and a summary hides, the most important first: what a call does without an argument, what it
// does besides, what is lost, and what it needs.
var cautions = []*regexp.Regexp{
	absence,
	regexp.MustCompile(`(?i)\bmark(s|ed|ing)?\b[^,;]*\bas\b|\b(also|will (be )?automatically|automatically be|implicitly|side effects?)\b.*\b(mark|delet|remov|creat|updat|send|reset|cancel|clos|trigger|notif|revok|invalidat|overwrit|replac|stop|start|charg)`),
	regexp.MustCompile(`(?i)\b(cannot|can't|can not|can never) be (undone|reversed|recovered|restored)|\birreversibl[ey]|\bpermanently\b|\boverwrit|\breplaces (the|all|any|every)\b|\bwill be lost\b`),
	regexp.MustCompile(`(?i)\b(if|when|unless)\b[^,;]*\b(omitted|absent|left out|not (set|given|provided|specified|supplied|present|passed)|is empty|are empty|no \w+ (is|are) )`),
	regexp.MustCompile(`(?i)\bmust (first|have been|be in|not)\b|\bonly (works|available|possible|allowed) (if|when|for|on|in)\b`),
}

// losses is the one of cautions that is about calls that change something.
const losses = 2

// beside finds sentences that say nothing of the effect of a call: examples, other ways, statuses, and permissions, which an error tells.
var beside = regexp.MustCompile(`(?i)^(see|to) |\b(can|could|may|might|must) also\b|\balso (be|been|requires?|supports?|possible|accessible|available)\b|` +
	`\ballows? (the|to|users?)\b|\b[345]\d\d\b|\bafter \w+ days\b|\bidentity provider\b|\bis useful\b|\|.*\||(…|\.\.\.|:)$|^(returns|examples?|for example|for instance|e\.g)\b|\b(permissions?|owner|admins?|administrators?|tokens?|scopes?|authenticat\w+|test mode)\b`)

// Caution returns a sentence of the document that a caller must know and the first sentence of the description hides: a side effect, or the
// effect of a call without an optional argument. It is "" if there is none. It is looked for at the first call, and kept.
func (t *Tool) Caution() string {
	if known := t.caution.Load(); known != nil {
		return *known
	}
	found := t.findCaution()
	t.caution.Store(&found)
	return found
}

func (t *Tool) findCaution() string {
	raw := t.Description
	if len(raw) > maxCautionRead {
		raw = raw[:maxCautionRead]
	}
	all := sentences(raw)
	first := t.FirstSentence()
	all = all[min(len(all), 1):]
	for i, caution := range cautions {
		if i == losses && t.Annotations.ReadOnly {
			continue
		}
		for _, s := range all {
			if caution.MatchString(s) && !beside.MatchString(s) && !repeats(s, first) {
				return s
			}
		}
	}
	if !t.Annotations.Destructive {
		return ""
	}
	input, _ := t.Published(openapi.ProfileFull)
	for _, m := range jsonschema.Parse(input).Members() {
		if m.Required {
			continue
		}
		for _, s := range sentences(clean(m.Schema.Resolve().Text("description"))) {
			if len(s) < maxCautionRead && absence.MatchString(s) {
				return m.Name + ": " + s
			}
		}
	}
	return ""
}

const (
	// stem is the number of bytes by which words are compared, so that "deletes" is "delete". Shorter ones say little.
	stem = 4
	// repeated is the percentage of the words of a sentence that repeat another.
	repeated = 75
)

// repeats reports whether a sentence says little that another does not.
func repeats(s, other string) bool {
	known := map[string]bool{}
	for _, word := range stems(other) {
		known[word] = true
	}
	words, again := stems(s), 0
	for _, word := range words {
		if known[word] {
			again++
		}
	}
	return again*100 >= len(words)*repeated
}

func stems(s string) (all []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) >= stem {
			all = append(all, word[:stem])
		}
	}
	return all
}

// FirstSentence returns the first sentence of the description, without its full stop.
func (t *Tool) FirstSentence() string {
	all := sentences(t.Description)
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1 && all[0] == "Deprecated":
		return all[0] + ": " + all[1]
	}
	return all[0]
}

// noteMark removes the marks of notes that GitHub has in Markdown.
var noteMark = strings.NewReplacer("[!NOTE]", "", "[!IMPORTANT]", "", "[!WARNING]", "", "[!CAUTION]", "", "[!TIP]", "")

// sentences splits a text into its sentences and the items of its lists, each in one line without Markdown and without its full stop.
func sentences(text string) (all []string) {
	add := func(s string) {
		s = strings.TrimLeft(noteMark.Replace(unmarked(s)), "->* \n")
		if s = strings.TrimRight(oneLine(s), "."); s != "" {
			all = append(all, s)
		}
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		for {
			end := sentenceEnd(paragraph)
			if end < 0 {
				break
			}
			add(paragraph[:end])
			paragraph = paragraph[end+1:]
		}
		add(paragraph)
	}
	return all
}

// sentenceEnd returns the offset of the first full stop that ends a sentence before another, -1 if there is none.
func sentenceEnd(text string) int {
	for i := 0; i+1 < len(text); i++ {
		next := text[i+1]
		if (text[i] == '.' || text[i] == '\n') && (next == ' ' || next == '\n' || text[i] == '\n' && (next == '-' || next == '*')) {
			if text[i] == '.' && (strings.HasSuffix(text[:i], "e.g") || strings.HasSuffix(text[:i], "i.e") || strings.HasSuffix(text[:i], "etc")) {
				continue
			}
			return i
		}
	}
	return -1
}
