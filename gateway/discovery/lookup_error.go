package discovery

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"drawbridge/openapi/text"
)

// refusedRequest is a request of a lookup that was answered with 401 or 403.
type refusedRequest struct {
	status int
	url    *url.URL
}

// protectedError reports that no document was found, and that one may be at a place where the service rejects requests.
type protectedError struct {
	base    *url.URL
	refused []refusedRequest
}

// maxRefused is the maximum number of places that the error names.
const maxRefused = 5

func (e *protectedError) Error() string {
	var places []string
	for _, r := range e.refused {
		place := r.url.EscapedPath()
		if r.url.Host != e.base.Host {
			place = r.url.Redacted()
		}
		places = append(places, fmt.Sprintf("%d at %.100s", r.status, place))
	}
	return fmt.Sprintf("%v; the service answered %s", errNoDocument, text.List(places, maxRefused))
}

// Unwrap makes it one of the errors of services that have responded.
func (e *protectedError) Unwrap() error { return errNoDocument }

// remedyFor returns the advice that leads to the document; "" if another attempt does.
func remedyFor(err error) string {
	var protected *protectedError
	switch {
	case errors.As(err, &protected):
		for _, r := range protected.refused {
			if r.status == http.StatusUnauthorized {
				return "give the service a spec_credential in credentials of its provider, or let it serve its document without authentication"
			}
		}
		return "let the service serve its document to this gateway, name it in the registration, or add its path to documents.paths"
	case errors.Is(err, errNoDocument):
		return "name it in the registration, or add its path to documents.paths"
	}
	return ""
}
