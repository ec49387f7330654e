package config

import "strings"

// AnswerError says when a successful response reports a failure.
type AnswerError struct {
	// A jq expression over a JSON response, at most 4096 bytes, in the subset that result.select has. The call failed if
	// its value is neither false nor null, such as .success == false or .error.
	When string `yaml:"when" required:"true" length:"4096"`
	// A jq expression that gives the text of the error, at most 4096 bytes, such as .message or "\(.code): \(.message)".
	Message string `yaml:"message,omitempty" absent:"the response, as for a status of 400 or more" length:"4096"`

	off bool // written as false
}

func (e *AnswerError) short() short { return switchedOff(&e.off) }

// On reports whether something is said: it may be nil, or written as false.
func (e *AnswerError) On() bool { return e != nil && !e.off }

// Expressions are compiled by the code that evaluates them.
func (e *AnswerError) validate(c cursor) {
	if c.given("when") && c.ok("when") && strings.TrimSpace(e.When) == "" {
		c.errorf("when", "is empty; say when a response reports a failure, such as .success == false")
	}
}
