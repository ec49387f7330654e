package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"drawbridge/openapi/origin"
)

// RequestValue is a header or a query parameter that every request to a service has.
type RequestValue struct {
	// Name is the name of the header or parameter.
	Name string
	// Value is its value if Claim is empty.
	Value string
	// Claim is the claim of the caller's token whose value it has.
	Claim string
}

// RequestValuesOptions configure what is added to every request to a service.
type RequestValuesOptions struct {
	Headers, Query []RequestValue
	// Claim returns the text of a claim of the caller to which ctx belongs. found reports whether there is a caller with the
	// claim, ok whether it has a text. It is required if a value is that of a claim.
	Claim func(ctx context.Context, name string) (text string, found, ok bool)
	// Origin is the service; the values are sent to no other.
	Origin *url.URL
}

// ClaimError reports that a call needs a claim of its caller's token, which is missing or can't be sent. Nothing was sent
// to the service.
type ClaimError struct {
	// Claim is the name of the claim.
	Claim string
	// Unfit reports whether the token has the claim with a value that can't be sent.
	Unfit bool
}

// Error implements error.
func (e *ClaimError) Error() string {
	if e.Unfit {
		return fmt.Sprintf("the claim %q of the caller's token has a value that can't be sent to the service", e.Claim)
	}
	return fmt.Sprintf("the caller's token has no claim %q, which the service needs", e.Claim)
}

// ToolMessage returns the text for the model.
func (e *ClaimError) ToolMessage() string {
	what := "does not have"
	if e.Unfit {
		what = "has with a value that can't be sent"
	}
	return fmt.Sprintf("Calls of this tool are made for the owner of the access token by its claim %q, which this token %s. Nothing was sent to the service."+
		" Other arguments do not help: tell the user that this account can't use the tool.", e.Claim, what)
}

// NewRequestValues returns a wrapper that adds values to requests for the service. Anything else with these names is
// removed from the request, so that no argument can set it. The wrapper fails, and sends nothing, with a *[ClaimError].
func NewRequestValues(o RequestValuesOptions) (func(http.RoundTripper) http.RoundTripper, error) {
	v := &requestValues{headers: o.Headers, query: o.Query, claim: o.Claim}
	var err error
	if v.origin, err = parseOrigin(o.Origin); err != nil {
		return nil, err
	}
	for i := range v.headers {
		h := &v.headers[i]
		if h.Name == "" || !isToken(h.Name) {
			return nil, fmt.Errorf("credential: %q is not a name for a header", h.Name)
		}
		h.Name = http.CanonicalHeaderKey(h.Name)
		if !isFieldValue(h.Value) {
			return nil, fmt.Errorf("credential: the value of header %q holds a control character", h.Name)
		}
	}
	for _, value := range slices.Concat(v.headers, v.query) {
		if value.Claim != "" && o.Claim == nil {
			return nil, errors.New("credential: nobody tells claims")
		}
	}
	return func(next http.RoundTripper) http.RoundTripper {
		own := *v
		own.next = next
		return &own
	}, nil
}

func isToken(name string) bool {
	for i := range len(name) {
		if !isTokenByte(name[i]) {
			return false
		}
	}
	return true
}

// isFieldValue reports whether a text can be the value of a header.
func isFieldValue(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// requestValues adds headers and query parameters.
type requestValues struct {
	next           http.RoundTripper
	origin         origin.Origin
	headers, query []RequestValue // headers have canonical names
	claim          func(ctx context.Context, name string) (text string, found, ok bool)
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (v *requestValues) RoundTrip(req *http.Request) (*http.Response, error) {
	if !goesTo(req, v.origin) {
		return v.next.RoundTrip(req)
	}
	own, err := v.apply(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface demands
		}
		return nil, err
	}
	resp, err := v.next.RoundTrip(own)
	return restoreRequest(req, resp), err
}

func (v *requestValues) apply(req *http.Request) (*http.Request, error) {
	ctx := req.Context()
	own := req.WithContext(ctx) // a shallow copy
	for i, h := range v.headers {
		if i == 0 || hasField(own.Header, h.Name) {
			own.Header = cloneHeader(own.Header, h.Name)
		}
		text, err := v.text(ctx, h)
		if err == nil && !isFieldValue(text) {
			err = &ClaimError{Claim: h.Claim, Unfit: true}
		}
		if err != nil {
			return nil, err
		}
		own.Header[h.Name] = []string{text}
	}
	if len(v.query) > 0 {
		u := *req.URL
		for _, q := range v.query {
			text, err := v.text(ctx, q)
			if err != nil {
				return nil, err
			}
			u.RawQuery = setQuery(u.RawQuery, q.Name, text)
		}
		own.URL = &u
	}
	return own, nil
}

func (v *requestValues) text(ctx context.Context, value RequestValue) (string, error) {
	if value.Claim == "" {
		return value.Value, nil
	}
	text, found, ok := v.claim(ctx, value.Claim)
	if !ok || text == "" || len(text) > maxPassed {
		return "", &ClaimError{Claim: value.Claim, Unfit: found}
	}
	return text, nil
}
