package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"drawbridge/openapi/origin"
)

// documentRedirects is the maximum number of redirects when fetching a document (S1).
const documentRedirects = 3

// Documents returns a client that fetches OpenAPI documents and key sets through the same pool,
// SSRF protection and credential: bodies are decoded, up to the client's MaxBytes; the whole
// request takes at most its Timeout, and so may the header; up to three redirects within one origin
// are followed.
func (c *Client) Documents() *http.Client {
	return &http.Client{
		Transport:     documents{c},
		CheckRedirect: sameOrigin,
		Timeout:       c.timeout,
	}
}

// sameOrigin is the redirect rule of E3.
func sameOrigin(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case !origin.Same(req.URL, from):
		return errors.New("redirect to another origin")
	case len(via) > documentRedirects:
		return fmt.Errorf("more than %d redirects", documentRedirects)
	}
	return nil
}

// documents adapts a client to [http.Client].
type documents struct{ c *Client }

// RoundTrip implements [http.RoundTripper].
func (d documents) RoundTrip(req *http.Request) (*http.Response, error) {
	// A RoundTripper must not modify the request's header, and a request for a token is not the call that an observer waits for.
	own := req.WithContext(WithObserver(req.Context(), nil))
	own.Response = nil // set by http.Client after a redirect, not by the credential
	own.Header = req.Header.Clone()
	if own.Header == nil {
		own.Header = make(http.Header)
	}
	resp, _, err := d.c.do(own, d.c.limits, RetryByMethod, NoHeaderTimeout)
	if err != nil {
		return nil, documentError(err)
	}
	resp.Request = req
	return resp, nil
}

// documentError returns the error of a fetch, which is no call of an API.
func documentError(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &fetchError{e}
	}
	return err
}

// fetchError is an [Error] without the name of the API in its text: the caller names the document.
type fetchError struct{ e *Error }

func (f *fetchError) Error() string {
	kind, text := f.e.Kind.String()+": ", f.e.Err.Error()
	if strings.HasPrefix(text, "dial ") || strings.HasPrefix(text, kind) { // the cause names the step that failed
		return text
	}
	return kind + text
}

// Unwrap returns the error of the client.
func (f *fetchError) Unwrap() error { return f.e }

// Timeout reports whether the fetch timed out, as in net.Error.
func (f *fetchError) Timeout() bool { return f.e.Timeout() }
