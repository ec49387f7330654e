package credential

import (
	"context"
	"net/http"
)

// Accounts are the accounts that callers have at one service. Implementations are safe for
// concurrent use, and find the caller in the context ([auth.FromContext]).
type Accounts interface {
	// Token returns the access token of the caller's account. The error is a [*TokenError] with
	// [NoAccount] if the caller has none.
	Token(ctx context.Context) (string, error)
	// Renew returns another token than one that the service has rejected; "" if there is none, after
	// which the caller has no account any more.
	Renew(ctx context.Context, rejected string) (string, error)
	// Forget removes the caller's account if it still has the token.
	Forget(ctx context.Context, rejected string)
}

// sendFromAccount sends a request with the token of the caller's account. If the service rejects the
// token, the request is sent once more with another one. If it rejects that, too, the account is
// forgotten, so that the caller is asked to log in at the service again.
func sendFromAccount(a Accounts, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	ctx := req.Context()
	text, err := a.Token(ctx)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface of RoundTripper demands
		}
		return nil, err
	}
	resp, err := next.RoundTrip(withAccount(req, text))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !blamesToken(resp.Header) {
		return resp, err
	}
	other, err := a.Renew(ctx, text)
	if err != nil || other == "" || !replayable(req) {
		return resp, nil // the service's response stands
	}
	again := withAccount(req, other)
	resp, err = resend(next, again, resp)
	if err == nil && resp.Request == again && resp.StatusCode == http.StatusUnauthorized && blamesToken(resp.Header) {
		a.Forget(ctx, other)
	}
	return resp, err
}

func withAccount(req *http.Request, text string) *http.Request {
	return withToken(req, field{Header, "Authorization"}, &token{header: seal([]string{"Bearer " + text})})
}
