package render

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"drawbridge/gateway/upstream"
)

// hint returns the advice on what to try next. It is worded for the model, which can change arguments, wait, or tell
// its user. safe means that the call can't have changed anything; owner is the party whose credentials it carried.
func hint(resp *http.Response, safe bool, owner CredentialOwner, now time.Time) string {
	code := resp.StatusCode
	wait := retryAfter(resp, now)
	switch {
	case code == http.StatusNotModified:
		return "Nothing has changed since the version that the arguments name: leave them out to get it."
	case code == http.StatusMultipleChoices:
		return "The service has several versions of this; an argument may choose one."
	case code < 300:
		return strings.TrimSpace("Look at what the service says, and correct the arguments by it. " + wait)
	case code < 400:
		return redirectHint(resp, "")
	case upstream.IsRateLimited(resp, now) || code == http.StatusServiceUnavailable:
		text := cmp.Or(wait, "Wait a while before the next call.")
		if code == http.StatusForbidden {
			text = "This is a rate limit of the service, not a lack of rights. " + text
		}
		return text
	}
	text := advice(code, owner)
	if code >= 500 && code != http.StatusNotImplemented && !safe {
		text += " The call may have taken effect all the same: look before you repeat it."
	}
	if wait != "" {
		text += " " + wait
	}
	return text
}

// advice returns the sentence of hint for a status, by which a model can choose its next step.
func advice(code int, owner CredentialOwner) string {
	if code == http.StatusUnauthorized || code == http.StatusForbidden {
		return owner.refused(code)
	}
	if text, ok := adviceOn[code]; ok {
		return text
	}
	if code < 500 {
		return "Look at what the service says, and correct the arguments by it."
	}
	return "The service failed; the same call may work later."
}

const (
	correctArguments = "Correct the arguments by what the service says, then call again."
	wrongCredential  = "The service does not accept the gateway's credential; tell the user that the operator must look at it."
)

// adviceOn is the advice on the status codes of RFC 9110 and later ones but 401 and 403, see [CredentialOwner].
var adviceOn = map[int]string{
	http.StatusBadRequest:                   correctArguments,
	http.StatusUnprocessableEntity:          correctArguments,
	http.StatusProxyAuthRequired:            wrongCredential,
	http.StatusPaymentRequired:              "The account at the service does not cover this; tell the user, repeating the call does not help.",
	http.StatusNotFound:                     "Check the identifiers in the arguments; a list or search tool may tell which exist.",
	http.StatusMethodNotAllowed:             "The service does not do this with this resource; use another tool, or another resource.",
	http.StatusNotAcceptable:                "The service has no answer in a format that was asked for; an argument that chooses the format may help.",
	http.StatusRequestTimeout:               "The request took the service too long to receive; the same call may work now, or one with less in it.",
	http.StatusConflict:                     "The resource is in another state than this call needs; read it, then decide.",
	http.StatusGone:                         "What the arguments name existed and was removed; look for another with a list or search tool.",
	http.StatusLengthRequired:               "The service wants a body, or its length; if the tool has arguments for a body, give one.",
	http.StatusPreconditionFailed:           "The resource has changed since the version that the arguments name; read it again, then decide.",
	http.StatusRequestEntityTooLarge:        "Send less in one call.",
	http.StatusRequestURITooLong:            "The arguments are too long for a URL; use fewer or shorter ones, or several calls.",
	http.StatusUnsupportedMediaType:         "The service does not take a body in this format; if an argument chooses the format, choose another, else tell the user.",
	http.StatusRequestedRangeNotSatisfiable: "The range in the arguments lies outside the resource; ask for less, or from the start.",
	http.StatusExpectationFailed:            "The service can't do what a header of the request expects; leave such an argument out.",
	http.StatusMisdirectedRequest:           "The service is not the one for this request; the operator must look at base_url.",
	http.StatusLocked:                       "Somebody else has locked the resource; try again later, or unlock it if there is a tool for that.",
	http.StatusFailedDependency:             "Another action, on which this one depends, failed; do that first.",
	http.StatusTooEarly:                     "The service does not want to risk a repeated request; the same call may work in a moment.",
	http.StatusUpgradeRequired:              "The service wants another protocol; the operator must look at base_url.",
	http.StatusPreconditionRequired:         "Read the resource first, then give its version (an ETag, usually) in the argument that is made for it.",
	http.StatusRequestHeaderFieldsTooLarge:  "The arguments that are sent as headers are too long; shorten them.",
	http.StatusUnavailableForLegalReasons:   "The service may not give this out for legal reasons; repeating the call does not help, tell the user.",
	http.StatusNotImplemented:               "The service does not have this function; use another tool.",
	http.StatusBadGateway:                   "A service behind the service did not answer as it should; the same call may work in a minute.",
	http.StatusGatewayTimeout:               "A service behind the service was too slow; ask for less, or try again in a minute.",
	http.StatusInsufficientStorage:          "The service has no room for this; something must be removed there first, tell the user.",
}
