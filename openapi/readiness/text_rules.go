package readiness

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

const (
	longDescription = 1_000 // characters; the description of a tool has room for little more
	wantsSummary    = 120   // characters of a description above which a summary is missed
	longName        = 40    // characters of a tool's name
	wordyName       = 7     // words of a tool's name
)

// text returns the node of the text that a model reads first: the description, or else the summary; nil if both are
// missing.
func (s *subject) text() *tree.Node {
	for _, name := range []string{"description", "summary"} {
		for _, n := range []*tree.Node{s.node, s.item} {
			if text := n.Get(name); strings.TrimSpace(text.Text()) != "" {
				return text
			}
		}
	}
	return nil
}

// checkTexts looks at the summary and the description. Those that Compile leaves out, such as "GET /orders", count as
// missing.
func (s *subject) checkTexts() {
	if s.Described {
		return
	}
	summary, description := s.Operation.Summary, s.Operation.Description
	switch {
	case summary == "" && description == "":
		s.find(DescriptionMissing, nil, "it has neither a summary nor a description; say what it does, to what, and when to use it")
		return
	case s.restates():
		s.find(DescriptionRestates, s.text(), "%q says nothing that the name and the path don't say; say what it does, to what, and when to use it", short(cmp.Or(description, summary)))
	}
	switch n := utf8.RuneCountInString(description); {
	case n > longDescription:
		s.find(DescriptionLong, s.node.Get("description"), "the description has %d characters; models read the first %d: begin with what a caller must know", n, longDescription)
	case n > wantsSummary && summary == "":
		s.find(SummaryMissing, s.node.Get("description"), "beside a description of %d characters there is no summary; lists and search results show one", n)
	}
}

// restates reports whether the texts have no word that is not in the name or the path.
func (s *subject) restates() bool {
	op := s.Operation
	known := map[string]bool{strings.ToLower(op.Method): true}
	for _, text := range []string{op.ID, op.Path} {
		for _, word := range words(text) {
			known[stem(word)] = true
		}
	}
	said := meaning(op.Summary + " " + op.Description)
	for _, word := range said {
		if !known[stem(word)] {
			return false
		}
	}
	// A verb and a resource are all that a simple operation needs: "Delete a pet".
	return len(said) < 2 || len(words(op.Summary+" "+op.Description)) < 3 && op.Description != "" && op.Summary != "" || len(said) < 3 && isOneWord(op.Summary, op.Description)
}

// isOneWord reports whether texts have no spaces, as identifiers.
func isOneWord(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return strings.ContainsAny(strings.TrimSpace(t), " \t\n") })
}

// generated are names that a framework made: of Spring, go-swagger, FastAPI and handlers without one.
var generated = regexp.MustCompile(`(?i)(using(get|post|put|delete|patch)(_\d+)?$)|(__[a-z0-9]+_(get|post|put|delete|patch)$)|([a-z]params$)|(^(get|post|put|delete|patch)_?api_)|(^(operation|handler|endpoint|func)_?\d+$)|(_[0-9a-f]{8}$)`)

// checkName looks at the name of the tool.
func (s *subject) checkName() {
	name := s.Name
	if name == "" {
		name = s.Operation.ID
	}
	at := s.node.Get("operationId")
	switch n := words(name); {
	case name == "":
		s.find(ToolName, nil, "it has no operationId, so that its name is made of the method and the path; give one with a verb and a resource, such as listOrders")
	case generated.MatchString(name):
		s.find(ToolName, at, "the name %q is a framework's; a verb and a resource are enough, such as listOrders", short(name))
	case utf8.RuneCountInString(name) > longName || len(n) > wordyName:
		s.find(ToolName, at, "the name %q has %d characters and %d words; a verb and a resource are enough, such as listOrders", short(name), utf8.RuneCountInString(name), len(n))
	case len(n) < 2 && utf8.RuneCountInString(name) < 4:
		s.find(ToolName, at, "the name %q says nothing; give one with a verb and a resource, such as listOrders", name)
	}
}

// short returns a text for a message.
func short(raw string) string {
	return text.TruncateRunes(strings.Join(strings.Fields(raw), " "), 60)
}
