package render

import "drawbridge/openapi/answer"

// Texts that replace one without visible characters. Model APIs refuse such a text block, and every later message of
// the conversation.
const (
	blankAnswer = "The service answered with a text that is empty or consists of white space alone."
	blankFile   = "This resource is empty or consists of white space alone."
	blankText   = "(This text is empty or consists of white space alone.)"
)

// nonBlank returns a text of a service, or a sentence if it has no visible characters.
func nonBlank(text []byte) []byte {
	if answer.IsBlank(text) {
		return []byte(blankAnswer)
	}
	return text
}

// nonBlankText returns any other text, or a sentence if it has no visible characters.
func nonBlankText(text []byte) []byte {
	if answer.IsBlank(text) {
		return []byte(blankText)
	}
	return text
}
