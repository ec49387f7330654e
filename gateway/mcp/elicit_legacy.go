package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

// elicitationTimeout limits the time for a legacy client and its user to respond to a round of input requests. Stateless clients have
// requestStateLife, and no request waits for them.
const elicitationTimeout = 5 * time.Minute

// ErrElicitationTimeout reports that a legacy client has not responded in time. A method that returns it refuses the
// request with its message.
var ErrElicitationTimeout = fmt.Errorf("no answer: %w", &Error{
	Code: CodeInvalidRequest, Message: "the user was asked, and has not answered in time", HTTPStatus: http.StatusOK,
})

// errDisconnected is returned if the client disconnects before it responds.
var errDisconnected = errors.New("the client has left before it answered")

// pendingElicitations are the input requests to legacy clients that wait for responses on this replica. It is safe for
// concurrent use.
type pendingElicitations struct {
	mu      sync.Mutex
	pending map[string]*pendingElicitation
}

// pendingElicitation is an input request that waits for its response.
type pendingElicitation struct {
	session     [16]byte     // the only session that may respond
	elicitation *elicitation // of the request that waits
	response    chan clientResponse
}

// clientResponse is a JSON-RPC response. The result is nil if it is an error or exceeds the memory limit.
type clientResponse struct{ result []byte }

// add registers an input request. Its id can't be guessed, so a client that knows it has received the request.
func (p *pendingElicitations) add(session [16]byte, e *elicitation) (id string, response chan clientResponse) {
	waiting := &pendingElicitation{session, e, make(chan clientResponse, 1)}
	id = rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = make(map[string]*pendingElicitation)
	}
	p.pending[id] = waiting
	return id, waiting.response
}

// isElicitationID reports whether an id has the form of those that add returns, here or at another replica. Responses
// with other ids need not be relayed.
func isElicitationID(id []byte) bool {
	name, ok := decodeString(id)
	return ok && len(name) == len(rand.Text()) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (p *pendingElicitations) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pending, id)
}

// deliver passes the response of a session to the request that waits for it, and reports whether it waits on this
// replica. The first response counts. An unknown id is not an error: the response may have crossed the end of the wait.
func (p *pendingElicitations) deliver(session [16]byte, message []byte) (here bool) {
	id, ok := decodeString(jsonscan.Lookup(message, "id"))
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := p.pending[id]
	if waiting == nil || waiting.session != session {
		return false
	}
	delete(p.pending, id)
	result := jsonscan.Lookup(message, "result")
	if !waiting.elicitation.reserve(int64(len(result))) {
		result = nil
	}
	waiting.response <- clientResponse{bytes.Clone(result)}
	return true
}

// elicitationRefusal returns the error for kinds that can't be sent on the request's stream, nil if all can.
func (x *exchange) elicitationRefusal(kinds []InputKind) *Error {
	for _, kind := range kinds {
		if kind == ElicitForm && x.req.Revision < revision20250618 || kind == ElicitURL && x.req.Revision < revision20251125 {
			return httpError(http.StatusOK, "revision %s has no such questions", x.req.Revision)
		}
	}
	if !x.acceptsEventStream() { // a 200: the request is well-formed
		return httpError(http.StatusOK, "the request needs an answer of the user: accept text/event-stream, and send it in a POST of its own")
	}
	return nil
}

// elicitLegacy sends the input requests on the stream of the call and waits for the responses, which it returns by their keys: nil for one
// that is an error or exceeds the memory limit.
func (r *Reply) elicitLegacy(ctx context.Context, requests []InputRequest) (map[string]json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, elicitationTimeout, ErrElicitationTimeout)
	defer cancel()
	e, full := r.x.startElicitation()
	if full != nil {
		return nil, full
	}
	defer func() {
		e.finish()
		r.x.elicitedBytes = int32(e.bytes - r.x.event.RequestBytes) //nolint:gosec // maxElicitationBytes at most
	}()
	results, err := r.elicitAndWait(ctx, e, requests)
	if err != nil {
		return nil, err
	}
	responses := make(map[string]json.RawMessage, len(requests))
	for i := range requests {
		responses[requests[i].Key] = results[i]
	}
	return responses, nil
}

// elicitAndWait sends input requests and returns their results in the same order; a result is nil if the response is an
// error.
func (r *Reply) elicitAndWait(ctx context.Context, e *elicitation, open []InputRequest) (results [][]byte, err error) {
	x := r.x
	p := &x.h.elicitations
	ids, waiting := make([]string, len(open)), make([]chan clientResponse, len(open))
	for i := range open {
		ids[i], waiting[i] = p.add(x.session.id, e)
		defer p.remove(ids[i])
	}
	for i := range open {
		if err := r.sendRequest(ids[i], &open[i]); err != nil {
			return nil, err
		}
	}
	for i, response := range waiting {
		select {
		case a := <-response:
			results = append(results, a.result)
			continue
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-x.req.Disconnected():
			err = errDisconnected
		case <-x.inputEnded:
			err = ErrElicitationTimeout
		}
		for _, id := range ids[i:] { // 2025-11-25 utilities/cancellation: the sender of a request cancels it
			_ = r.Notify("notifications/cancelled", Chunk{Bytes: []byte(`"requestId":"` + id + `","reason":"nobody waits for the answer any more"`)})
		}
		return nil, err
	}
	return results, nil
}

// sendRequest sends one input request on the stream of the call.
func (r *Reply) sendRequest(id string, req *InputRequest) error {
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	switch {
	case w.sse.ended:
		return errAnswered
	case w.err != nil:
		return w.err
	}
	sent := *req
	if req.Kind == ElicitURL { // 2025-11-25 elicitation, URL Mode: an id, which 2026-07-28 does not have
		sent.Params = append(slices.Clip(req.Params), `,"elicitationId":"`+rand.Text()+`"`...)
	}
	return w.sendMessage(func() {
		w.writeString(`{"jsonrpc":"2.0","id":"` + id + `",`)
		w.writeJSON(sent.append(nil)[1:])
	})
}

// postResponse serves the POST of a client's response to an input request. It is accepted whether or not a request
// waits for it (2025-11-25 transports, Sending Messages to the Server).
func (x *exchange) postResponse(message []byte) *Error {
	r := x.req.HTTP
	x.req.Family = Legacy
	x.req.ID = nil // the id is the server's
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	if err := x.admitMessage("response"); err != nil {
		return err
	}
	ss, err := x.h.openSession(r.Context(), r.Header, x.req.Principal)
	if err != nil {
		return err
	}
	x.useSession(ss)
	x.event.Method = "response"
	if err := x.deliverResponse(message); err != nil {
		return err
	}
	x.out.writeStatus(http.StatusAccepted)
	return nil
}

// deliverResponse passes on a response in the request's session, to another replica if need be. It returns an error if
// the response is too large to be relayed; the input request stays open then.
func (x *exchange) deliverResponse(message []byte) *Error {
	if x.h.elicitations.deliver(x.session.id, message) || !isElicitationID(jsonscan.Lookup(message, "id")) {
		return nil
	}
	if !x.relay(relayMessage{Kind: relayAnswer, Message: message}) {
		return httpError(http.StatusRequestEntityTooLarge, "the answer is larger than %d bytes, and nobody here waits for it: another replica that may is told of no more; answer with less", maxRelayed)
	}
	return nil
}
