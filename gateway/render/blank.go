package render

import "drawbridge/openapi/answer"

// Texts instead of one that is white space alone, or has nothing else to see in it. The interfaces of models refuse such a text block, and
// every later message of the conversation.
const (
	blankAnswer = "The service answered with a text that is empty or consists of white space alone."
	blankFile   = "This resource is empty or consists of white space alone."
	blankText   = "(This text is empty or consists of white space alone.)"
)

// seen returns a text of a service, or a sentence if there is nothing to see in it.
func seen(text []byte) []byte {
	if answer.IsBlank(text) {
		return []byte(blankAnswer)
	}
	return text
}

// seenText returns any other text, or a sentence if there is nothing to see in it.
func seenText(text []byte) []byte {
	if answer.IsBlank(text) {
		return []byte(blankText)
	}
	return text
}
