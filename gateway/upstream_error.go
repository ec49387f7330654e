package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// maxErrorBody is the most bytes of an error response's body that are passed on. Error pages can be large and rarely
// say more on their second page.
const maxErrorBody = 8 << 10

// refused returns the failure for a response with a status of 300 or more: what the service said, the document's
// description of the status, and what to try next.
func (c *call) refused(resp *http.Response) error {
	return c.refusedOf(resp, c.plan.Operation.Answers.Meaning(resp.StatusCode))
}

// refusedOf is refused with the document's description of the status, meaning, which may be empty.
func (c *call) refusedOf(resp *http.Response, meaning string) error {
	var body []byte
	lead, other, short := "", "", false
	err := c.readResponse(resp, func(part answer.Part) error {
		switch {
		case part.Kind != answer.JSON && part.Kind != answer.Text:
			other = orUnknown(part.MediaType)
			return nil
		case short:
			return nil
		case part.Kind == answer.JSON && lead == "":
			lead = leadOf(part, c.redactor().Error)
		}
		if len(body) > 0 {
			body = append(body, '\n')
		}
		// The longest secret is added so that a secret at the cut is recognized.
		limit := maxErrorBody + c.redactor().Longest() - len(body)
		if short = len(part.Data) > limit; short {
			part.Data = part.Data[:max(0, limit)]
		}
		body = append(body, part.Data...)
		return nil
	})
	large := isTooLarge(err)
	if err != nil && !large {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s answered %s", c.plan.Tool.API, answeredStatus(resp))
	said := c.redactor().Error(string(body), short)
	if limit := maxErrorBody - len(lead); len(said) > limit {
		said, short = truncate.Prefix(said, limit), true
	}
	switch {
	case strings.TrimSpace(said) != "":
		b.WriteByte(':')
		if lead != "" {
			b.WriteByte(' ')
			b.WriteString(lead)
		}
		b.WriteByte('\n')
		b.WriteString(said)
		if short {
			fmt.Fprintf(&b, "… (only the first %d bytes are shown)", len(said))
		}
	case large:
		b.WriteString(", with a body that is too large.")
	case other != "":
		fmt.Fprintf(&b, ", with a body that is no text (%s).", truncate.Bytes(strings.ToValidUTF8(other, ""), 100))
	default:
		b.WriteString(", without a body.")
	}
	if meaning != "" {
		fmt.Fprintf(&b, "\nThe API's document says of %d: %s", resp.StatusCode, meaning)
	}
	b.WriteByte('\n')
	if c.unfollowed != "" && resp.StatusCode < 400 {
		b.WriteString(redirectHint(resp, c.unfollowed))
	} else {
		b.WriteString(hint(resp, c.plan.safe, time.Now()))
	}
	o := telemetry.OutcomeServerError
	switch {
	case resp.StatusCode < 400:
		o = telemetry.OutcomeRedirect
	case resp.StatusCode < 500:
		o = telemetry.OutcomeClientError
	}
	return &failure{outcome: o, text: b.String()}
}

// isTooLarge reports whether reading a response failed because it, or all responses in progress together, are too
// large.
func isTooLarge(err error) bool {
	var limit *upstream.Error
	var failed *failure
	return errors.As(err, &limit) && limit.Kind == upstream.TooLarge ||
		errors.As(err, &failed) && (failed.outcome == telemetry.Outcome(upstream.TooLarge.String()) || failed.outcome == telemetry.Outcome(upstream.Overloaded.String()))
}

const (
	maxTitle  = 200 // bytes
	maxDetail = 600
	// readAtOnce is the length in bytes up to which a body needs no lead: its text is seen at a glance.
	readAtOnce = 300
)

// textMembers are the members in which error formats have their text, the best first; nestedMembers are those that
// contain another object of this kind, or a list of them.
var (
	textMembers   = []string{"message", "error_description", "errorMessage", "detail", "error", "msg", "title", "reason", "description"}
	nestedMembers = []string{"error", "errors"}
)

// leadOf returns the text of an error in JSON: title and detail of RFC 9457, or the corresponding members of other
// formats. It comes first in the message because the body may have much else around it, and a long one is cut. redacted
// redacts a text; cut means that the text is incomplete.
func leadOf(p answer.Part, redacted func(text string, cut bool) string) string {
	words := func(value []byte, most int) string { return words(value, most, redacted) }
	values := membersOf(p.Data)
	if title, detail := words(values["title"], maxTitle), words(values["detail"], maxDetail); p.MediaType == "application/problem+json" || title != "" && detail != "" {
		if title != "" && detail != "" && title != detail {
			return strings.TrimRight(title, ".:") + ": " + detail
		}
		return cmp.Or(detail, title)
	}
	if len(p.Data) <= readAtOnce {
		return ""
	}
	if said := firstWords(values, words); said != "" {
		return said
	}
	for _, name := range nestedMembers {
		inner := values[name]
		for first := range jsonscan.Elements(inner) {
			inner = first
			break
		}
		if said := cmp.Or(words(inner, maxDetail), firstWords(membersOf(inner), words)); said != "" {
			return said
		}
	}
	return ""
}

// membersOf returns the members of an object that may hold the text of an error, found in one pass.
func membersOf(object []byte) map[string][]byte {
	values := map[string][]byte{}
	for name, value := range jsonscan.Members(object) {
		if slices.Contains(textMembers, string(name)) || slices.Contains(nestedMembers, string(name)) {
			values[string(name)] = value
		}
	}
	return values
}

// firstWords returns the text of the best of textMembers that has any, or "".
func firstWords(values map[string][]byte, words func(value []byte, most int) string) string {
	for _, name := range textMembers {
		if said := words(values[name], maxDetail); said != "" {
			return said
		}
	}
	return ""
}

// words returns the beginning of a JSON string on one line, or "" if value is not a string.
func words(value []byte, most int, redacted func(text string, cut bool) string) string {
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	value = bytes.TrimSpace(value)
	short := len(value) > 8*maxDetail
	if short {
		value = append(bytes.Clone(value[:8*maxDetail]), '"') // an escape sequence that is cut ends the text
	}
	return truncate.Bytes(strings.Join(strings.Fields(redacted(string(jsonscan.Unquote(value)), short)), " "), most)
}

// hint returns the advice on what to try next. It is worded for the model, which can change arguments, wait, or tell
// its user. safe means that the call can't have changed anything.
func hint(resp *http.Response, safe bool, now time.Time) string {
	code := resp.StatusCode
	wait := retryAfter(resp, now)
	switch {
	case code == http.StatusNotModified:
		return "Nothing has changed since the version that the arguments name: leave them out to get it."
	case code == http.StatusMultipleChoices:
		return "The service has several versions of this; an argument may choose one."
	case code < 400:
		return redirectHint(resp, "")
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		if wait == "" {
			wait = "Wait a while before the next call."
		}
		return wait
	}
	text := advice(code)
	if code >= 500 && code != http.StatusNotImplemented && !safe {
		text += " The call may have taken effect all the same: look before you repeat it."
	}
	if wait != "" {
		text += " " + wait
	}
	return text
}

// advice returns the sentence of hint for a status of RFC 9110 or a later one, by which a model can choose its next
// step.
func advice(code int) string {
	switch code {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "Correct the arguments by what the service says, then call again."
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		return "The service does not accept the gateway's credential; tell the user that the operator must look at it."
	case http.StatusPaymentRequired:
		return "The account at the service does not cover this; tell the user, repeating the call does not help."
	case http.StatusForbidden:
		return "The service does not let the gateway do this; other arguments may be allowed, else the operator must help."
	case http.StatusNotFound:
		return "Check the identifiers in the arguments; a list or search tool may tell which exist."
	case http.StatusMethodNotAllowed:
		return "The service does not do this with this resource; use another tool, or another resource."
	case http.StatusNotAcceptable:
		return "The service has no answer in a format that was asked for; an argument that chooses the format may help."
	case http.StatusRequestTimeout:
		return "The request took the service too long to receive; the same call may work now, or one with less in it."
	case http.StatusConflict:
		return "The resource is in another state than this call needs; read it, then decide."
	case http.StatusGone:
		return "What the arguments name existed and was removed; look for another with a list or search tool."
	case http.StatusLengthRequired:
		return "The service wants a body, or its length; if the tool has arguments for a body, give one."
	case http.StatusPreconditionFailed:
		return "The resource has changed since the version that the arguments name; read it again, then decide."
	case http.StatusRequestEntityTooLarge:
		return "Send less in one call."
	case http.StatusRequestURITooLong:
		return "The arguments are too long for a URL; use fewer or shorter ones, or several calls."
	case http.StatusUnsupportedMediaType:
		return "The service does not take a body in this format; if an argument chooses the format, choose another, else tell the user."
	case http.StatusRequestedRangeNotSatisfiable:
		return "The range in the arguments lies outside the resource; ask for less, or from the start."
	case http.StatusExpectationFailed:
		return "The service can't do what a header of the request expects; leave such an argument out."
	case http.StatusMisdirectedRequest:
		return "The service is not the one for this request; the operator must look at base_url."
	case http.StatusLocked:
		return "Somebody else has locked the resource; try again later, or unlock it if there is a tool for that."
	case http.StatusFailedDependency:
		return "Another action, on which this one depends, failed; do that first."
	case http.StatusTooEarly:
		return "The service does not want to risk a repeated request; the same call may work in a moment."
	case http.StatusUpgradeRequired:
		return "The service wants another protocol; the operator must look at base_url."
	case http.StatusPreconditionRequired:
		return "Read the resource first, then give its version (an ETag, usually) in the argument that is made for it."
	case http.StatusRequestHeaderFieldsTooLarge:
		return "The arguments that are sent as headers are too long; shorten them."
	case http.StatusUnavailableForLegalReasons:
		return "The service may not give this out for legal reasons; repeating the call does not help, tell the user."
	case http.StatusNotImplemented:
		return "The service does not have this function; use another tool."
	case http.StatusBadGateway:
		return "A service behind the service did not answer as it should; the same call may work in a minute."
	case http.StatusGatewayTimeout:
		return "A service behind the service was too slow; ask for less, or try again in a minute."
	case http.StatusInsufficientStorage:
		return "The service has no room for this; something must be removed there first, tell the user."
	}
	if code < 500 {
		return "Look at what the service says, and correct the arguments by it."
	}
	return "The service failed; the same call may work later."
}

// longestWait is the longest time that a model is told to wait; longer waits are for people.
const longestWait = 24 * time.Hour

// retryAfter returns the Retry-After header, in seconds or as a date (RFC 9110 section 10.2.3), as a sentence, or "" if
// there is none.
func retryAfter(resp *http.Response, now time.Time) string {
	wait, ok := upstream.RetryAfter(resp.Header, now)
	if !ok {
		return ""
	}
	switch {
	case wait > longestWait:
		return "The service asks to wait more than a day; tell the user."
	case wait > 2*time.Hour:
		return fmt.Sprintf("Wait %d hours before the next call.", int(math.Ceil(wait.Hours())))
	case wait > 10*time.Minute:
		return fmt.Sprintf("Wait %d minutes before the next call.", int(math.Ceil(wait.Minutes())))
	case wait <= time.Second:
		return "Wait 1 second before the next call."
	}
	return fmt.Sprintf("Wait %d seconds before the next call.", int(math.Ceil(wait.Seconds())))
}

// retryTime returns the time that the service asks to wait, at most longestWait, or 0 if it does not ask.
func retryTime(resp *http.Response, now time.Time) time.Duration {
	wait, ok := upstream.RetryAfter(resp.Header, now)
	if !ok {
		return 0
	}
	return min(max(wait, time.Millisecond), longestWait)
}
