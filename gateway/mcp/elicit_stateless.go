package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"drawbridge/openapi/jsonscan"
)

const (
	// requestStateLife is the validity of a request state, and so the time the user has to respond (T20).
	requestStateLife = 10 * time.Minute
	// maxRequestState limits a request state in bytes, since the client has to send it back.
	maxRequestState = 256 << 10
	// requestStateLabel is the version of the state's layout.
	requestStateLabel = "drawbridge mcp request state 1"
)

// requestState is the state of a request that needs input (2026-07-28 patterns/mrtr, requestState), sealed and bound to
// its request.
type requestState struct {
	// Step counts the rounds.
	Step int `json:"s"`
	// Nonce identifies the state among those that were used.
	Nonce string `json:"n"`
	// Asked holds the digests of the open input requests by key.
	Asked map[string]string `json:"q,omitempty"`
	// Responses are those received so far, by key.
	Responses map[string]stateResponse `json:"a,omitempty"`
	// Refused counts the refused responses by key.
	Refused map[string]int `json:"r,omitempty"`

	// unsolicited are responses that came without a request state: a client may know in advance which input is needed,
	// and whether a state is required is the server's decision (2026-07-28 patterns/mrtr). They are used where a
	// response is no more than an argument.
	unsolicited map[string]json.RawMessage

	expiry     time.Time
	fromClient bool // it came with the request
	used       bool
}

// stateResponse is a response with the digest of its input request.
type stateResponse struct {
	Digest string          `json:"q"`
	Result json.RawMessage `json:"r"`
}

// digest returns a digest of the input request's content.
func (req *InputRequest) digest() string {
	sum := jsonDigest(req.append(nil))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// stateBinding returns what a state is bound to: the caller, the method, its subject and its arguments.
func (x *exchange) stateBinding() []string {
	sum := jsonDigest(x.req.Arguments)
	return []string{x.req.Principal, x.req.Method, x.req.Name, x.req.URI, string(sum[:])}
}

// readRequestState reads the request's state once and returns it.
func (x *exchange) readRequestState() (*requestState, *Error) {
	if x.requestState != nil {
		return x.requestState, nil
	}
	refused := func() *Error {
		return InvalidParams("params.requestState is not valid here: it was altered, has expired, was used, or belongs to another request; begin again without it")
	}
	rs := &requestState{Responses: make(map[string]stateResponse)}
	switch value := jsonscan.Lookup(x.req.Params, "requestState"); jsonscan.KindOf(value) {
	case 0, jsonscan.Null:
	case jsonscan.String:
		plain, expiry, err := x.h.requestStates.Open(string(jsonscan.Unquote(value)), x.h.now(), x.stateBinding()...)
		if err != nil || json.Unmarshal(plain, rs) != nil {
			return nil, refused()
		}
		rs.expiry, rs.fromClient = expiry, true
	default:
		return nil, InvalidParams("params.requestState must be a string")
	}
	responses := jsonscan.Lookup(x.req.Params, "inputResponses")
	switch objectKind(responses) {
	case 0, jsonscan.Null:
	case jsonscan.Object:
		for key, result := range jsonscan.Members(responses) {
			if q, waits := rs.Asked[string(key)]; waits {
				rs.Responses[string(key)] = stateResponse{Digest: q, Result: result}
			} else if !rs.fromClient {
				if rs.unsolicited == nil {
					rs.unsolicited = make(map[string]json.RawMessage)
				}
				rs.unsolicited[string(key)] = result
			}
		}
	default:
		return nil, InvalidParams("params.inputResponses must be an object")
	}
	x.requestState = rs
	return rs, nil
}

// elicitStateless returns the responses that the request brings, or ends it with the open input requests.
func (r *Reply) elicitStateless(round ElicitationRound) (map[string]InputResponse, error) {
	x := r.x
	if !protocolMethods[x.req.Method].asks {
		return nil, fmt.Errorf("method %q must not ask", x.req.Method) // 2026-07-28 patterns/mrtr, Supported Requests
	}
	rs, fault := x.readRequestState()
	if fault != nil {
		return nil, fault
	}
	accepted := make(map[string]InputResponse, len(round.Requests))
	next := requestState{Step: rs.Step + 1, Nonce: rand.Text(), Asked: make(map[string]string), Responses: rs.Responses, Refused: rs.Refused}
	var open []InputRequest
	for i := range round.Requests {
		req, again := &round.Requests[i], round.Requests[i]
		if result, ok := rs.unsolicited[req.Key]; ok && !round.SingleUse {
			rs.Responses[req.Key] = stateResponse{Digest: req.digest(), Result: result}
			delete(rs.unsolicited, req.Key)
		}
		if given, ok := rs.Responses[req.Key]; ok && given.Digest == req.digest() {
			a, ok, refused := round.check(req, given.Result)
			if ok {
				accepted[req.Key] = a
				continue
			}
			if refused != nil && next.countRefused(req.Key) == maxElicitationAttempts {
				return nil, &InvalidInputError{Key: req.Key, Refused: refused}
			}
			again = round.rephrase(req, refused)
		}
		delete(rs.Responses, req.Key)
		next.Asked[req.Key] = req.digest()
		open = append(open, again)
	}
	if len(open) > 0 {
		return nil, r.requireInput(&next, open)
	}
	if round.SingleUse && rs.fromClient && !rs.used {
		if x.h.o.SpentNonces == nil {
			return nil, errors.New("nothing remembers what may be used once (Options.Spent)")
		}
		first, err := x.h.o.SpentNonces.Spend(x.req.HTTP.Context(), x.req.Principal, rs.Nonce, rs.expiry)
		switch {
		case err != nil:
			return nil, x.internalError("a state could not be marked as used", http.StatusServiceUnavailable, slog.Any("error", err))
		case !first:
			return nil, InvalidParams("params.requestState was used before, and an answer counts once: nothing more is done for it; begin again without it")
		}
		rs.used = true
	}
	return accepted, nil
}

// countRefused counts an invalid response and returns the number for its key.
func (rs *requestState) countRefused(key string) int {
	if rs.Refused == nil {
		rs.Refused = make(map[string]int)
	}
	rs.Refused[key]++
	return rs.Refused[key]
}

// requireInput answers with input requests and the state that waits for their responses.
func (r *Reply) requireInput(next *requestState, open []InputRequest) error {
	x := r.x
	plain, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("state of the questions: %w", err)
	}
	if len(plain) > maxRequestState {
		return InvalidParams("the answers are too long: %d bytes are allowed", maxRequestState)
	}
	state := x.h.requestStates.Seal(plain, x.h.now().Add(requestStateLife), x.stateBinding()...)
	result := append(appendInputRequests([]byte(`"inputRequests":`), open), `,"requestState":"`...)
	result = append(append(result, state...), '"')
	x.cacheable = false // mcp-R6
	if err := r.result("input_required", nil, Chunk{Bytes: result}); err != nil {
		return err
	}
	return ErrInputRequired
}

// SpentNonces remembers nonces that are valid for one use. It is safe for concurrent use.
type SpentNonces interface {
	// Spend marks id, a short text, as used and reports whether this was the first use; it is remembered until the
	// given time. owner is the principal that id belongs to, whose quota it counts against. The handler does not retry.
	// An error refuses the request, since its use can't be determined.
	Spend(ctx context.Context, owner, id string, until time.Time) (first bool, err error)
}
