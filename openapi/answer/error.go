package answer

import (
	"fmt"
	"strings"

	"drawbridge/openapi/text"
)

// Error is the fault of a response that is complete by the rules of HTTP and malformed by those of its media type, so
// that a part of it must not be passed on as the whole (P2). It contains no bytes of the response.
type Error struct {
	Truncated bool // the response ends too early; otherwise it is malformed, or exceeds a limit
	// Reason is the end of a sentence that begins with the media type: "ends within its second part".
	Reason    string
	MediaType string
}

func (e *Error) Error() string {
	return fmt.Sprintf("answer of type %q %s", e.MediaType, e.Reason)
}

// ToolMessage returns the text for the model.
func (e *Error) ToolMessage() string { return e.ToolMessageFor(false) }

// ToolMessageFor is ToolMessage for a call whose method is or is not safe (RFC 9110 section 9.2.1): a safe one changes
// nothing and can be repeated.
func (e *Error) ToolMessageFor(safe bool) string {
	text := fmt.Sprintf("The service sent an answer that can't be used: its %s %s.", text.Truncate(strings.ToValidUTF8(e.MediaType, ""), 100), e.Reason)
	switch {
	case safe && e.Truncated:
		return text + " The call changed nothing and can be repeated."
	case safe:
		return text + " The call changed nothing."
	}
	text += " The call may have taken effect all the same: if it changes data, look before you repeat it."
	if e.Truncated {
		return text + " If it reads data, try again."
	}
	return text
}
