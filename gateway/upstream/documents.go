package upstream

import (
	"errors"
	"fmt"
	"net/http"

	"drawbridge/gateway/origin"
)

// documentRedirects is how many redirects of a document are followed (S1).
const documentRedirects = 3

// Documents returns a client that loads spec documents, and key sets, through
// the same pool, guard and credential: bodies are decoded, up to the client's
// MaxBytes; the whole takes at most its Timeout, and so may the head; up to three
// redirects within one origin are followed.
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

// documents makes a client's chain usable by [http.Client].
type documents struct{ c *Client }

// RoundTrip implements [http.RoundTripper].
func (d documents) RoundTrip(req *http.Request) (*http.Response, error) {
	own := req.WithContext(req.Context()) // a RoundTripper must not write to the request's header
	own.Response = nil                    // of a redirect, which is no matter of the credential
	own.Header = req.Header.Clone()
	if own.Header == nil {
		own.Header = make(http.Header)
	}
	resp, _, err := d.c.do(own, d.c.limits, ByMethod, Patient)
	if err != nil {
		return nil, err
	}
	resp.Request = req
	return resp, nil
}
