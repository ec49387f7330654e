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
	// BodyStall is how long a body may stand still.
	BodyStall = 10 * time.Second
	// bodyGrace is how long a body may come at any pace. One that waits costs less than its answer, and its client comes again: there is no hurry.
	bodyGrace = 30 * time.Second
	// bodyRate is the least bytes a second, on average, of a body that takes longer.
	bodyRate = 240
)

// BodyPace bounds how slowly the body of a request may come: with a length or in chunks, over HTTP/1, TLS or HTTP/2. Reading one that is slower fails with
// [os.ErrDeadlineExceeded], which a handler answers with 408. Also a body that no handler reads is bounded: net/http reads it before it answers.
type BodyPace struct {
	Stall, Grace time.Duration
	Rate         int64 // bytes a second
	// GaveUp is told of each body that was too slow; nil if nobody is to be told.
	GaveUp func()
}

// DefaultBodyPace is the pace of the gateway's listeners.
func DefaultBodyPace(gaveUp func()) BodyPace {
	return BodyPace{Stall: BodyStall, Grace: bodyGrace, Rate: bodyRate, GaveUp: gaveUp}
}

// Handler holds the bodies of requests to the pace. No other handler sets deadlines for reading.
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
	end     time.Time // by which all must be there; zero if there is no such time
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

// deadline sets the time until which the next bytes must come. Where the writer has no deadlines, as in a test, there is nothing to guard.
func (b *pacedBody) deadline(t time.Time) { _ = b.control.SetReadDeadline(t) }

// HurryBody gives the body of a request so much time to come, for one who reads it before the request is refused.
func HurryBody(r *http.Request, within time.Duration) {
	if b, ok := r.Body.(*pacedBody); ok {
		now := time.Now()
		b.end = now.Add(within)
		b.extend(now)
	}
}
