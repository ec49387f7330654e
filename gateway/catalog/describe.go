package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi"
	"drawbridge/openapi/truncate"
)

const (
	maxTitle       = 100
	longTitle      = 60   // where the words of an operation's id, if it has several, are the better title
	maxDescription = 1024 // some clients refuse longer ones
)

// title returns the name for people: the configured one, else the first sentence of the summary, else the operation's id
// in words, else method and path. It is one line, without Markdown: clients show it as it is. A sentence that is too long
// for a list of names gives way to the operation's id.
func title(op *openapi.Operation, choice Choice) string {
	if text := oneLine(clean(choice.Title)); text != "" {
		return truncate.Words(text, maxTitle)
	}
	first, _, _ := strings.Cut(oneLine(unmarked(clean(op.Summary))), ". ")
	text, id := strings.TrimRight(first, ". "), words(clean(op.ID))
	if text != "" && (utf8.RuneCountInString(text) <= longTitle || !strings.Contains(id, " ") || utf8.RuneCountInString(id) > longTitle) {
		return truncate.Words(text, maxTitle)
	}
	if id != "" {
		return truncate.Words(id, maxTitle)
	}
	return truncate.Words(endpoint(op), maxTitle)
}

// describe returns the text for models. It begins with what the document says and ends with what a call returns, and with
// an example of a call if the document has one; aside, which may be "", stands before that. A configured description stands
// for itself.
func describe(op *openapi.Operation, choice Choice, aside string) string {
	if text := clean(choice.Description); text != "" {
		return truncate.Words(text, maxDescription)
	}
	body := says(op)
	if op.Deprecated && !hasPrefixFold(body, "deprecated.") {
		body = "Deprecated. " + body
	}
	returns := "the answer of the service"
	if text := strings.TrimRight(oneLine(clean(op.Returns)), ". "); text != "" {
		returns = text
	}
	tail := "Returns " + truncate.Words(returns, maxDescription/4) + "."
	if aside != "" {
		tail = aside + " " + tail
	}
	separator := " "
	if strings.Contains(body, "\n") {
		separator = "\n\n" // the body may end in a list or a table, which the sentence must not become a part of
	}
	if text := string(op.Example); text != "" {
		// A call to copy is worth less than the words that it would push out.
		if text = separator + "Example: " + text; utf8.RuneCountInString(body+separator+tail+text) <= maxDescription {
			tail += text
		}
	}
	return truncate.Words(body, maxDescription-utf8.RuneCountInString(separator+tail)) + separator + tail
}

// says returns summary and description as one text of whole sentences; method and path when there is neither.
func says(op *openapi.Operation) string {
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

// endpoint names an operation of which nothing else is known.
func endpoint(op *openapi.Operation) string { return oneLine(clean(op.Method + " " + op.Path)) }

// sentence ends text with a full stop if it ends with a letter or a digit, a bracket, a quote or a slash.
func sentence(text string) string {
	if r, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`)]}"'/`, r) {
		return text + "."
	}
	return text
}

// words turns an identifier into words: "listOrdersByID" and "list-orders_by.ID" become "List orders by ID".
func words(id string) string {
	var b strings.Builder
	runes := []rune(id)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
			continue
		}
		// A word begins at a capital after a small letter, and at a capital before a small letter: "getHTTPHeaders", "v1Get".
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
