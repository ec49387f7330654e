package listener

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// The pace of [DefaultBodyPace] (H7).
const (
	// BodyStall is the maximum time without a byte of a body.
	BodyStall = 10 * time.Second
	// bodyGrace is the time in which a body may arrive at any rate. A waiting body costs less than an error and the retry after it.
	bodyGrace = 30 * time.Second
	// bodyRate is the minimum average rate, in bytes a second, of a body that takes longer.
	bodyRate = 240
)

// BodyPace is the minimum pace of request bodies: with a length or in chunks, over HTTP/1, TLS or HTTP/2. Reading a slower one fails
// with [os.ErrDeadlineExceeded], which a handler answers with 408. A body that no handler reads is bounded too, because net/http reads it
// before it responds.
type BodyPace struct {
	Stall, Grace time.Duration
	Rate         int64 // bytes a second
	// GaveUp is called for each body that is too slow; it may be nil.
	GaveUp func()
}

// DefaultBodyPace is the pace of the gateway's listeners.
func DefaultBodyPace(gaveUp func()) BodyPace {
	return BodyPace{Stall: BodyStall, Grace: bodyGrace, Rate: bodyRate, GaveUp: gaveUp}
}

// Handler applies the pace to the bodies of requests. No other handler sets read deadlines.
func (p BodyPace) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			b := &pacedBody{ReadCloser: framed(w, r), pace: &p, control: http.NewResponseController(w), begin: time.Now()}
			b.extend(b.begin)
			r.Body = b
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody moves the deadline for reading on as bytes arrive.
type pacedBody struct {
	io.ReadCloser
	pace    *BodyPace
	control *http.ResponseController
	begin   time.Time
	end     time.Time // deadline for the whole body; zero: none
	size    int64     // bytes so far
	late    bool
}

// Read implements [io.Reader].
func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	switch {
	case err == nil:
		b.extend(time.Now())
	case errors.Is(err, io.EOF):
		b.deadline(time.Time{}) // from here on net/http reads the connection to see whether the client is still there
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.late:
		if b.late = true; b.pace.GaveUp != nil {
			b.pace.GaveUp()
		}
	}
	return n, err
}

func (b *pacedBody) extend(now time.Time) {
	next := now.Add(b.pace.Stall)
	if pace := b.begin.Add(b.pace.Grace + time.Duration(b.size)*time.Second/time.Duration(b.pace.Rate)); pace.Before(next) {
		next = pace
	}
	if !b.end.IsZero() && b.end.Before(next) {
		next = b.end
	}
	b.deadline(next)
}

// deadline sets the read deadline. A writer without deadlines, as in tests, is not bounded.
func (b *pacedBody) deadline(t time.Time) { _ = b.control.SetReadDeadline(t) }

// HurryBody limits the time in which the rest of a body must arrive, for a handler that reads it before it refuses the request.
func HurryBody(r *http.Request, within time.Duration) {
	if b, ok := r.Body.(*pacedBody); ok {
		now := time.Now()
		b.end = now.Add(within)
		b.extend(now)
	}
}
