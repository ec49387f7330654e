package openapi

import (
	"fmt"
	"strings"

	"drawbridge/openapi/truncate"
)

// An AnswerError is an answer that came whole by the rules of HTTP, and is broken by those of its media type, so that
// passing on a part of it would pass it off as the whole (P2). It holds nothing of the answer's bytes.
type AnswerError struct {
	// Truncated tells that the answer ends too early; else it is malformed, or over a limit.
	Truncated bool
	// Reason says what is wrong with it, as the end of a sentence that begins with the media type: "ends within its
	// second part".
	Reason string
	// MediaType is that of the answer.
	MediaType string
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("answer of type %q %s", e.MediaType, e.Reason)
}

// ToolMessage returns the text for the model.
func (e *AnswerError) ToolMessage() string {
	text := fmt.Sprintf("The service sent an answer that can't be used: its %s %s. The call may have taken effect all the same: if it changes data, look before you repeat it.",
		truncate.Bytes(strings.ToValidUTF8(e.MediaType, ""), 100), e.Reason)
	if e.Truncated {
		return text + " If it reads data, try again."
	}
	return text
}
