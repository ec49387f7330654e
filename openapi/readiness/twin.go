package readiness

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// findTwins finds operations whose texts are those of others, or nearly.
func findTwins(subjects []*subject) {
	same, near := map[string][]*subject{}, map[string][]*subject{}
	for _, s := range subjects {
		if text := s.allWords(); text != "" {
			same[text] = append(same[text], s)
		}
		if said := s.firstWords(); said != "" {
			near[said] = append(near[said], s)
		}
	}
	for _, s := range subjects {
		if group := same[s.allWords()]; len(group) > 1 {
			s.twins = near[s.firstWords()]
			s.find(DescriptionRepeated, s.text(), "%s has the same text; say what tells them apart", others(group, s))
		} else if group := near[s.firstWords()]; len(group) > 1 {
			s.twins = group
			s.find(NearTwin, s.text(), "the text of %s begins with the same words; say what tells them apart", others(group, s))
		}
	}
}

// allWords returns the words of the document's texts, or "" if the configuration has others.
func (s *subject) allWords() string {
	if s.Described {
		return ""
	}
	return strings.Join(words(s.Operation.Summary+" "+s.Operation.Description), " ")
}

// firstWords returns the meaning of the text that a list shows, or "".
func (s *subject) firstWords() string {
	if s.Described {
		return ""
	}
	return strings.Join(meaning(firstSentence(cmp.Or(s.Operation.Summary, s.Operation.Description))), " ")
}

// others names another operation of a group.
func others(group []*subject, but *subject) string {
	for _, s := range group {
		if s != but {
			name := s.Operation.Method + " " + s.Operation.Path
			if len(group) > 2 {
				return name + " (and others)"
			}
			return name
		}
	}
	return ""
}

const (
	longestMark = 60  // characters of the words that tell an operation from its twins
	mostTwins   = 100 // operations with the same words that are compared
)

// mark returns the words of the tag, the path and the method that tell an operation from its twins, such as "actions,
// by name"; "" if it has none that no other one has.
func (s *subject) mark() string {
	if len(s.twins) > mostTwins {
		return ""
	}
	mark := s.ownWords()
	for _, t := range s.twins {
		if mark == "" || t != s && t.ownWords() == mark {
			return ""
		}
	}
	return mark
}

// ownWords returns the words of the tag, the path and the method that not all twins have, without those that the text
// has.
func (s *subject) ownWords() string {
	said := map[string]bool{}
	for _, word := range words(s.Operation.Summary + " " + s.Operation.Description) {
		said[stem(word)] = true
	}
	isNew := func(text string) bool {
		return slices.ContainsFunc(words(text), func(w string) bool { return !said[stem(w)] && !slices.Contains(fillers, w) })
	}
	if tag := s.tag(); isNew(tag) && !slices.ContainsFunc(s.twins, func(t *subject) bool { return t != s && t.tag() == tag }) {
		return bounded(tag)
	}
	var marks []string
	for _, segment := range s.segments() {
		if isNew(segment) && !slices.Contains(marks, segment) && slices.ContainsFunc(s.twins, func(t *subject) bool { return !slices.Contains(t.segments(), segment) }) {
			marks = append(marks, segment)
		}
	}
	if slices.ContainsFunc(s.twins, func(t *subject) bool { return t.Operation.Method != s.Operation.Method }) {
		switch s.Operation.Method { // RFC 9110 section 9.3.4, RFC 5789
		case "PUT":
			marks = append(marks, "replaces it")
		case "PATCH":
			marks = append(marks, "changes parts of it")
		}
	}
	return bounded(strings.Join(marks, ", "))
}

// bounded returns a text, "" if it is too long for a mark.
func bounded(mark string) string {
	if utf8.RuneCountInString(mark) > longestMark {
		return ""
	}
	return mark
}

func (s *subject) tag() string {
	if len(s.Operation.Tags) == 0 {
		return ""
	}
	return s.Operation.Tags[0]
}

// segments returns the segments of the path in words, variables as "by NAME".
func (s *subject) segments() (all []string) {
	for segment := range strings.SplitSeq(strings.Trim(s.Operation.Path, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			segment = "by " + strings.Join(words(name), " ")
		} else {
			segment = strings.Join(words(segment), " ")
		}
		if segment != "" && segment != "by " {
			all = append(all, segment)
		}
	}
	return all
}
