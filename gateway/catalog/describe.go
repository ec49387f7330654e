package catalog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

const (
	maxTitle       = 100
	longTitle      = 60   // above this length, the words of an operation's id, if it has several, are the better title
	maxDescription = 1024 // some clients reject longer ones
)

// title returns the display name: the configured one, else the first sentence of the summary, else
// the operation's id in words, else method and path. The first sentence of the description comes before an id that
// is made of a path, and before method and path. It is one line without Markdown, because
// clients show it unchanged. A sentence too long for a list of names is replaced by the operation's
// id.
func title(op *openapi.Operation, choice Choice) string {
	if raw := oneLine(clean(choice.Title)); raw != "" {
		return text.TruncateWords(raw, maxTitle)
	}
	first, _, _ := strings.Cut(oneLine(unmarked(clean(op.Summary))), ". ")
	raw, id := strings.TrimRight(first, ". "), words(clean(op.ID))
	if raw != "" && (utf8.RuneCountInString(raw) <= longTitle || !strings.Contains(id, " ") || utf8.RuneCountInString(id) > longTitle) {
		return text.TruncateWords(raw, maxTitle)
	}
	if said, _, _ := strings.Cut(oneLine(unmarked(clean(op.Description))), ". "); raw == "" && said != "" && utf8.RuneCountInString(said) <= maxTitle && (id == "" || isPathID(op.ID)) {
		return strings.TrimRight(said, ". ")
	}
	if id != "" {
		return text.TruncateWords(id, maxTitle)
	}
	return text.TruncateWords(endpoint(op), maxTitle)
}

// isPathID tells whether an operation's id holds a path instead of words, as "get_/berths/{id}" and FastAPI's
// "read_berth_berths__id__get" do.
func isPathID(id string) bool {
	return strings.ContainsAny(id, "{}") || strings.HasPrefix(id, "/") ||
		slices.ContainsFunc([]string{"__", "_/", "-/", " /"}, func(sign string) bool { return strings.Contains(id, sign) })
}

// describe returns the description for models. It begins with the document's text and ends with
// what a call returns, and with an example call if the document has one, preceded by aside, which
// may be "". A configured description is used unchanged.
func describe(op *openapi.Operation, choice Choice, aside string) string {
	if raw := clean(choice.Description); raw != "" {
		return text.TruncateWords(raw, maxDescription)
	}
	body := documentText(op)
	if op.Deprecated && !hasPrefixFold(body, "deprecated.") {
		body = "Deprecated. " + body
	}
	returns := "the answer of the service"
	if raw := strings.TrimRight(oneLine(clean(op.Returns)), ". "); raw != "" {
		returns = raw
	}
	tail := "Returns " + text.TruncateWords(returns, maxDescription/4) + "."
	if aside != "" {
		tail = aside + " " + tail
	}
	separator := " "
	if strings.Contains(body, "\n") {
		separator = "\n\n" // the body may end in a list or a table, which must not absorb the sentence
	}
	if len(op.Example) > 0 {
		// An example call is worth less than the words that it would displace.
		if raw := separator + openapi.ExampleText(op.Example, op.ExampleInvented); utf8.RuneCountInString(body+separator+tail+raw) <= maxDescription {
			tail += raw
		}
	}
	return text.TruncateWords(body, maxDescription-utf8.RuneCountInString(separator+tail)) + separator + tail
}

// documentText returns summary and description as complete sentences; method and path if there is
// neither.
func documentText(op *openapi.Operation) string {
	summary, description := oneLine(clean(op.Summary)), clean(op.Description)
	switch {
	case summary == "" && description == "":
		return sentence(endpoint(op))
	case summary == "" || hasPrefixFold(description, strings.TrimRight(summary, ".")):
		return sentence(description)
	case description == "":
		return sentence(summary)
	}
	return sentence(summary) + "\n\n" + sentence(description)
}

// endpoint describes an operation by method and path.
func endpoint(op *openapi.Operation) string { return oneLine(clean(op.Method + " " + op.Path)) }

// sentence adds a full stop to a text that ends with a letter or a digit, a bracket, a quote or a
// slash.
func sentence(text string) string {
	if r, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`)]}"'/`, r) {
		return text + "."
	}
	return text
}

// words splits an identifier into words: "listOrdersByID" and "list-orders_by.ID" become "List
// orders by ID".
func words(id string) string {
	var b strings.Builder
	runes := []rune(id)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
			continue
		}
		// A word begins at a capital after a small letter, and at a capital before a small letter:
		// "getHTTPHeaders", "v1Get".
		if i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	all := strings.Fields(b.String())
	for i, word := range all {
		first, size := utf8.DecodeRuneInString(word)
		switch {
		case len(word) > 1 && word == strings.ToUpper(word): // an abbreviation
		case i == 0:
			all[i] = string(unicode.ToUpper(first)) + word[size:]
		default:
			all[i] = strings.ToLower(word)
		}
	}
	return strings.Join(all, " ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
