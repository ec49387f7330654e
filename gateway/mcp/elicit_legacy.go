package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

const (
	askWait    = 5 * time.Minute  // how long a legacy client may take if the method does not say
	maxAskWait = 10 * time.Minute // and at most
	// askAttempts is how often a legacy client is asked for the same.
	askAttempts = 3
)

// ErrUnanswered tells that a legacy client has not answered in time. A method that
// returns it refuses the request in these words.
var ErrUnanswered = fmt.Errorf("no answer: %w", &Error{
	Code: CodeInvalidRequest, Message: "the user was asked, and has not answered in time", HTTPStatus: http.StatusOK,
})

// errLeft is the end of a wait for a client that has gone away.
var errLeft = errors.New("the client has left before it answered")

// questions are the requests to legacy clients that wait for their answers on this
// replica. Safe for concurrent use.
type questions struct {
	mu   sync.Mutex
	open map[string]*openQuestion
}

// openQuestion is a request to a client.
type openQuestion struct {
	session [16]byte // nobody else may answer
	wait    *wait    // of the request that asks
	answer  chan clientAnswer
}

// clientAnswer is a JSON-RPC response: its result, nil if it is an error, or there was no room to keep it.
type clientAnswer struct{ result []byte }

// add enters a question; its id can't be guessed, so that who knows it was asked.
func (qs *questions) add(session [16]byte, w *wait) (id string, answer chan clientAnswer) {
	q := &openQuestion{session, w, make(chan clientAnswer, 1)}
	id = rand.Text()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.open == nil {
		qs.open = make(map[string]*openQuestion)
	}
	qs.open[id] = q
	return id, q.answer
}

// isQuestionID tells whether an id may be one that add has made, here or on another replica: what is none need not be passed on.
func isQuestionID(id []byte) bool {
	name, ok := text(id)
	return ok && len(name) == len(rand.Text()) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (qs *questions) drop(id string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	delete(qs.open, id)
}

// deliver hands the response of a session to who waits for it, if that is here. The
// first one counts. One that nobody waits for (any more) is no error: it may have
// crossed the end.
func (qs *questions) deliver(session [16]byte, message []byte) (here bool) {
	id, ok := text(jsonscan.Lookup(message, "id"))
	if !ok {
		return false
	}
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.open[id]
	if q == nil || q.session != session {
		return false
	}
	delete(qs.open, id)
	result := jsonscan.Lookup(message, "result")
	if !q.wait.keep(int64(len(result))) {
		result = nil
	}
	q.answer <- clientAnswer{bytes.Clone(result)}
	return true
}

// askable tells whether the client can be asked over the request's stream.
func (x *exchange) askable(kinds []Kind) *Error {
	for _, kind := range kinds {
		if kind == Elicit && x.req.Revision < revision20250618 || kind == ElicitURL && x.req.Revision < revision20251125 {
			return refusal(http.StatusOK, "revision %s has no such questions", x.req.Revision)
		}
	}
	if !x.streams() { // the request is good; its way is not
		return refusal(http.StatusOK, "the request needs an answer of the user: accept text/event-stream, and send it in a POST of its own")
	}
	return nil
}

// askLegacy asks on the stream of the call and waits.
func (r *Reply) askLegacy(ctx context.Context, round Round) (map[string]Answer, error) {
	wait := round.Wait
	if wait <= 0 {
		wait = askWait
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(wait, maxAskWait), ErrUnanswered)
	defer cancel()
	w, full := r.x.wait()
	if full != nil {
		return nil, full
	}
	defer func() {
		w.end()
		r.x.heard = int32(w.bytes - r.x.event.RequestBytes) //nolint:gosec // maxWaitBytesInAll at most
	}()
	answers := make(map[string]Answer, len(round.Questions))
	open, sent := round.Questions, round.Questions // as they were made, and as they are asked
	for attempt := 1; len(open) > 0; attempt++ {
		results, err := r.inquire(ctx, w, sent)
		if err != nil {
			return nil, err
		}
		var again, reworded []Question
		for i := range open {
			q := &open[i]
			a, ok, refused := Answer{Action: Cancelled}, true, error(nil)
			if results[i] != nil {
				a, ok, refused = round.accept(q, results[i])
			}
			if !ok {
				if attempt == askAttempts {
					return nil, &UnusableError{Key: q.Key, Refused: refused}
				}
				again, reworded = append(again, *q), append(reworded, round.again(q, refused))
				continue
			}
			answers[q.Key] = a
		}
		open, sent = again, reworded
	}
	return answers, nil
}

// inquire sends questions and returns their results in the same order; nil for an
// error.
func (r *Reply) inquire(ctx context.Context, w *wait, open []Question) (results [][]byte, err error) {
	x := r.x
	qs := &x.h.questions
	ids, waiting := make([]string, len(open)), make([]chan clientAnswer, len(open))
	for i := range open {
		ids[i], waiting[i] = qs.add(x.session.id, w)
		defer qs.drop(ids[i])
	}
	for i := range open {
		if err := r.request(ids[i], &open[i]); err != nil {
			return nil, err
		}
	}
	for i, answer := range waiting {
		select {
		case a := <-answer:
			results = append(results, a.result)
			continue
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-x.req.Disconnected():
			err = errLeft
		case <-x.ending:
			err = ErrUnanswered
		}
		for _, id := range ids[i:] { // 2025-11-25 utilities/cancellation: who asked says so
			_ = r.Notify("notifications/cancelled", Chunk{Bytes: []byte(`"requestId":"` + id + `","reason":"nobody waits for the answer any more"`)})
		}
		return nil, err
	}
	return results, nil
}

// request sends one request to the client on the stream of the call.
func (r *Reply) request(id string, q *Question) error {
	s := &r.x.out
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	switch {
	case s.live.over:
		return errAnswered
	case s.err != nil:
		return s.err
	}
	return s.message(func() {
		s.str(`{"jsonrpc":"2.0","id":"` + id + `",`)
		s.raw(q.append(nil)[1:])
	})
}

// answered takes a client's response to a question. It is accepted, whatever it
// answers (2025-11-25 transports, Sending Messages to the Server).
func (x *exchange) answered(message []byte) *Error {
	r := x.req.HTTP
	x.req.Era = Legacy
	x.req.ID = nil // it is ours
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	if err := x.hear("response"); err != nil {
		return err
	}
	ss, err := x.h.resume(r.Context(), r.Header, x.req.Principal)
	if err != nil {
		return err
	}
	x.enter(ss)
	x.event.Method = "response"
	if err := x.answers(message); err != nil {
		return err
	}
	x.out.empty(http.StatusAccepted)
	return nil
}

// answers hands on the response of the request's session. Of one that is too large to be
// handed on to another replica the client hears: the question is open still.
func (x *exchange) answers(message []byte) *Error {
	if x.h.questions.deliver(x.session.id, message) || !isQuestionID(jsonscan.Lookup(message, "id")) {
		return nil
	}
	if !x.relay(relayed{Kind: relayAnswer, Message: message}) {
		return refusal(http.StatusRequestEntityTooLarge, "the answer is larger than %d bytes, and nobody here waits for it: another replica that may is told of no more; answer with less", maxRelayed)
	}
	return nil
}
