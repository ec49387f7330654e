package gateway

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/fetch"
	"drawbridge/openapi/jsonscan"
)

// errSpeaksTLS is the cause of a failed call to a port of TLS in the clear, which the service tells in the words of its server.
var errSpeaksTLS = errors.New("the port of the service speaks https, not http: begin base_url with https://")

// causeOf returns the cause of a failed call with the next step for the operator; result is what a model reads.
func causeOf(p *plan.Plan, cause error, result []byte) error {
	plain := p.Base != nil && p.Base.Scheme == "http"
	var failure *upstream.Error
	if !errors.As(cause, &failure) {
		if cause == nil && plain && string(jsonscan.At(result, "/isError")) == "true" && fetch.SpeaksTLS(result) {
			return errSpeaksTLS
		}
		return cause
	}
	advice := ""
	switch text := failure.Error(); {
	case failure.Kind == upstream.Timeout:
		advice = "if the service needs longer, set timeout in a rule or of the API; limits.first_byte_timeout and limits.timeout are those of all"
	case failure.Kind == upstream.Truncated && plain && errors.Is(failure, io.EOF), failure.Kind == upstream.Protocol && plain && strings.Contains(text, `\x15\x03`):
		advice = "if the port speaks https, begin base_url with https://"
	case failure.Kind == upstream.Connect && strings.HasSuffix(text, "connection refused"):
		advice = "nothing listens there: check base_url, and that the service runs"
	case failure.Kind == upstream.Connect && strings.HasSuffix(text, "no such host"):
		advice = "check the host in base_url"
	}
	if advice == "" {
		return cause
	}
	return fmt.Errorf("%w; %s", cause, advice)
}
