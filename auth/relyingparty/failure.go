package relyingparty

import (
	"errors"
	"fmt"
	"net/url"

	"golang.org/x/oauth2"

	"drawbridge/auth"
	"drawbridge/openapi/text"
)

// Failure is an error of a login at an OpenID provider.
type Failure struct {
	// Reason is for the person who logs in, as a sentence.
	Reason string
	// Code is the error code of the provider's authorization response, or invalid_grant if it no longer accepts a code or refresh
	// token; "" for other failures.
	Code string
	// Unavailable reports that the provider failed, not the person.
	Unavailable bool
	cause       error // for the log
}

// Error returns the reason and the cause, without any part of a token or code.
func (f *Failure) Error() string {
	if f.cause == nil {
		return f.Reason
	}
	return f.Reason + " (" + f.cause.Error() + ")"
}

// Unwrap returns the cause; nil if there is none.
func (f *Failure) Unwrap() error { return f.cause }

func failed(format string, args ...any) *Failure {
	return &Failure{Reason: fmt.Sprintf(format, args...)}
}

func unavailable(cause error, reason string) *Failure {
	return &Failure{Reason: reason, cause: cause, Unavailable: true}
}

// tokenError returns the error of a request to the token endpoint, without the body of the response and without any URL: a provider may repeat
// the code, the refresh token or the client secret in an error code or in the target of a redirect. gone is the reason for the person if
// the provider no longer accepts the code or refresh token.
func tokenError(err error, gone string) *Failure {
	var retrieve *oauth2.RetrieveError
	if !errors.As(err, &retrieve) {
		var network *url.Error
		if errors.As(err, &network) {
			err = network.Err
		}
		return unavailable(errors.New(shorten(err.Error())), "The provider does not answer. The log says why.")
	}
	code := auth.TokenErrorCode(retrieve.ErrorCode)
	if code == "" && retrieve.ErrorCode != "" {
		code = "not one of OAuth 2.0"
	}
	cause := fmt.Errorf("token endpoint: status %d, error %q", retrieve.Response.StatusCode, code)
	if retrieve.ErrorCode == "invalid_grant" {
		return &Failure{Reason: gone, Code: "invalid_grant", cause: cause}
	}
	return unavailable(cause, "The provider does not accept this gateway as its client. The log says why.")
}

// shorten shortens a text of a provider for the log.
func shorten(raw string) string {
	const limit = 300
	return text.Truncate(raw, limit)
}
