package projection

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A Failure finds out whether a successful answer reports a failure. It is immutable.
type Failure struct {
	When    *Program
	Message *Program // nil if the answer itself is the text of the error
}

// Reported reports whether an answer, which must be valid JSON, reports a failure: the value of When is neither false nor null. An answer
// of a shape that When does not expect reports none. The error means that When can't be evaluated on the answer, because it takes too much work or
// the answer is too large.
func (f *Failure) Reported(ctx context.Context, data []byte) (bool, error) {
	value, err := f.When.Run(ctx, data)
	switch {
	case errors.Is(err, errShape) || errors.Is(err, errNoValue):
		return false, nil
	case err != nil:
		return false, err
	}
	value = bytes.TrimSpace(value)
	return string(value) != "false" && string(value) != "null", nil
}

// Text returns the text of the error of an answer that reports one; "" if Message gives none. A value that is no string is given as JSON.
func (f *Failure) Text(ctx context.Context, data []byte) string {
	if f.Message == nil {
		return ""
	}
	value, err := f.Message.Run(ctx, data)
	if err != nil || jsonscan.KindOf(value) == jsonscan.Null {
		return ""
	}
	if jsonscan.KindOf(value) == jsonscan.String {
		value = jsonscan.Unquote(bytes.TrimSpace(value))
	}
	return strings.TrimSpace(string(value))
}

// IsNeverFalse reports whether the value of the program is neither false nor null whatever the answer is, so that it decides nothing.
func (p *Program) IsNeverFalse() bool {
	c := checker{}
	sure := c.query(p.query, value{}).sure
	return sure != 0 && !sure.Has(jsonscan.Bool) && !sure.Has(jsonscan.Null)
}
