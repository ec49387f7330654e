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
)

// trip is one token request. It bounds the answer and remembers what is told of
// a failure: the errors of x/oauth2 hold whatever the server wrote.
type trip struct {
	next       http.RoundTripper
	now        func() time.Time
	connected  atomic.Bool // from here on an error may hold what the server wrote
	err        error
	status     int
	retryAfter time.Duration
	body       *bounded
}

// RoundTrip implements [http.RoundTripper].
func (t *trip) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	})
	req = req.WithContext(ctx) // a shallow copy
	req.Header = req.Header.Clone()
	req.Header.Set("Accept", "application/json")
	// Not sent, but net/http then tries again if the server has closed the
	// connection that was kept. To ask twice for a token does no harm.
	req.Header["Idempotency-Key"] = []string{}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		t.err = err
		return nil, err
	}
	t.status = resp.StatusCode
	t.retryAfter = retryAfter(resp.Header.Get("Retry-After"), t.now())
	t.body = &bounded{ReadCloser: resp.Body, left: maxAnswer}
	resp.Body = t.body
	readAnswer(resp)
	return resp, nil
}

// retryAfter reads that header (RFC 9110 section 10.2.3); 0 for what can't be read.
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

// bounded is a body of a bounded size.
type bounded struct {
	io.ReadCloser
	left int64
	err  error
}

// Read implements [io.Reader]; it fails where the body goes on after the bound.
func (b *bounded) Read(p []byte) (int, error) {
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

const late = "no answer in time"

// explain makes an error of a failed request that holds no secret and nothing
// that the server wrote.
func (g *grant) explain(ctx context.Context, t *trip, err error) error {
	e := &TokenError{Failure: Unavailable, Kind: g.kind, Endpoint: g.endpoint, Status: t.status, RetryAfter: t.retryAfter}
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused):
		e.Code = knownCode(refused.ErrorCode)
		switch {
		case t.status >= 300 && t.status < 400:
			e.Failure, e.detail = Unusable, "it redirects, and that is not followed"
		case t.status < 500 && t.status != http.StatusTooManyRequests && t.status != http.StatusRequestTimeout &&
			e.Code != "temporarily_unavailable" && e.Code != "server_error":
			e.Failure = Refused
			if g.exchange != nil && (e.Code == "invalid_grant" || e.Code == "invalid_token") {
				e.Failure = SubjectRefused // of all that was sent, the subject token alone is a grant
			}
		}
		if refused.ErrorCode != "" && e.Code == "" {
			e.detail = "the error code is none of the standards"
		}
	case t.body != nil && errors.Is(t.body.err, errTooLong):
		e.Failure, e.detail = Unusable, "the answer is longer than 64 KiB"
	case ctx.Err() != nil:
		e.cause, e.detail = ctx.Err(), late
	case t.err != nil && !t.connected.Load():
		e.cause, e.detail = t.err, t.err.Error()
	case t.err != nil || t.body != nil && t.body.err != nil:
		e.detail = "the connection broke off before the answer was complete"
	default:
		e.Failure, e.detail = Unusable, "the answer is not that of RFC 6749 section 5.1"
	}
	return e
}

// told makes an error of a call that had no more time to wait for a token; one
// that was canceled stays what it is.
func (g *grant) told(err error) error {
	var known *TokenError
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &known) {
		return &TokenError{Failure: Unavailable, Kind: g.kind, Endpoint: g.endpoint, cause: err, detail: late}
	}
	return err
}

// patience is how long an error stands before the server is asked again.
func patience(err error) time.Duration {
	var e *TokenError
	switch {
	case !errors.As(err, &e):
	case e.Failure == SubjectRefused: // the same token gets no better
		return maxCoolDown
	case e.RetryAfter > 0:
		return min(e.RetryAfter, maxCoolDown)
	}
	return coolDown
}
