package credential

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"drawbridge/auth"
)

// tokenTransport is the transport of one token request. It limits the size of the response and
// records why the request failed, because errors of x/oauth2 contain what the server wrote.
type tokenTransport struct {
	next       http.RoundTripper
	now        func() time.Time
	connected  atomic.Bool // from here on an error may contain what the server wrote
	err        error
	status     int
	retryAfter time.Duration
	body       *limitedBody
}

// RoundTrip implements [http.RoundTripper].
func (t *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	})
	req = req.WithContext(ctx) // a shallow copy
	req.Header = req.Header.Clone()
	req.Header.Set("Accept", "application/json")
	// Not sent, but lets net/http retry if the server has closed a kept-alive connection. A second
	// token request does no harm.
	req.Header["Idempotency-Key"] = []string{}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		t.err = err
		return nil, err
	}
	t.status = resp.StatusCode
	t.retryAfter = retryAfter(resp.Header.Get("Retry-After"), t.now())
	t.body = &limitedBody{ReadCloser: resp.Body, left: maxResponse}
	resp.Body = t.body
	normalizeBody(resp)
	return resp, nil
}

// retryAfter parses Retry-After (RFC 9110 section 10.2.3); it returns 0 for an invalid value.
func retryAfter(text string, now time.Time) time.Duration {
	var d time.Duration
	if seconds, err := strconv.Atoi(text); err == nil {
		d = time.Duration(max(0, min(seconds, int(maxLife/time.Second)))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return max(0, min(d, maxLife))
}

var errTooLong = errors.New("credential: the answer is too long")

// limitedBody limits the size of a body.
type limitedBody struct {
	io.ReadCloser
	left int64
	err  error
}

// Read implements [io.Reader]; it fails if the body exceeds the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = n-1, errTooLong
		b.left = 0
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

const timeoutDetail = "no answer in time"

// tokenError converts the error of a failed request to one without secrets and without text from
// the server.
func (g *grant) tokenError(ctx context.Context, t *tokenTransport, err error) error {
	e := &TokenError{Failure: Unavailable, Kind: g.kind, Endpoint: g.endpoint, Status: t.status, RetryAfter: t.retryAfter}
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		e.Code = auth.TokenErrorCode(refused.ErrorCode)
		switch {
		case t.status >= 300 && t.status < 400:
			e.Failure, e.detail = Unusable, "it redirects, and that is not followed"
		case t.status < 500 && t.status != http.StatusTooManyRequests && t.status != http.StatusRequestTimeout &&
			e.Code != "temporarily_unavailable" && e.Code != "server_error":
			e.Failure = Refused
			if g.onBehalf != nil {
				g.onBehalf.refused(e, refused.Body)
			} else if g.exchange != nil && (e.Code == "invalid_grant" || e.Code == "invalid_token") {
				e.Failure = SubjectRefused // the subject token is the only grant that was sent
			}
		}
		if refused.ErrorCode != "" && e.Code == "" && e.detail == "" {
			e.detail = "the error code is none of the standards"
		}
	case !t.interrupted(ctx, e):
		e.Failure, e.detail = Unusable, "the answer is not that of RFC 6749 section 5.1"
	}
	return e
}

// interrupted completes the error, which is Unavailable, of a request without a complete response. It
// returns false if the response was complete.
func (t *tokenTransport) interrupted(ctx context.Context, e *TokenError) bool {
	switch {
	case t.body != nil && errors.Is(t.body.err, errTooLong):
		e.Failure, e.detail = Unusable, "the answer is longer than 64 KiB"
	case ctx.Err() != nil:
		e.cause, e.detail = ctx.Err(), timeoutDetail
	case t.err != nil && !t.connected.Load():
		e.cause, e.detail = t.err, t.err.Error()
	case t.err != nil || t.body != nil && t.body.err != nil:
		e.detail = "the connection broke off before the answer was complete"
	default:
		return false
	}
	return true
}

func (g *grant) timeoutError(err error) error { return timeoutError(err, g.kind, g.endpoint) }

// timeoutError converts the error of a call whose deadline ended while it waited for a token. A
// cancellation is returned unchanged.
func timeoutError(err error, kind Kind, endpoint string) error {
	var known *TokenError
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &known) {
		return &TokenError{Failure: Unavailable, Kind: kind, Endpoint: endpoint, cause: err, detail: timeoutDetail}
	}
	return err
}

// failureTTL returns how long an error is returned before the server is asked again.
func failureTTL(err error) time.Duration {
	var e *TokenError
	switch {
	case !errors.As(err, &e):
	case e.Failure == SubjectRefused, e.Failure == NoCaller: // the same token would be rejected again
		return maxRetryDelay
	case e.Kind == LoginRequest && e.Failure == Refused: // the service may lock the account
		return maxRetryDelay
	case e.RetryAfter > 0:
		return min(e.RetryAfter, maxRetryDelay)
	}
	return retryDelay
}
