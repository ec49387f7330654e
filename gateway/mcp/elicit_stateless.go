package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"drawbridge/openapi/jsonscan"
)

const (
	// requestStateLife is the validity of a request state, and so the time the user has to respond, also if asked again (T20).
	requestStateLife = 10 * time.Minute
	// maxRequestState limits a request state in bytes, since the client has to send it back.
	maxRequestState = 256 << 10
	// requestStateLabel is the version of the state's layout.
	requestStateLabel = "drawbridge mcp request state 2"
)

// requestState is the state of a request that needs input (2026-07-28 patterns/mrtr, requestState), sealed and bound to
// its request.
type requestState struct {
	// Nonce identifies the state, and those that replace it until its responses are complete, among those that were used.
	Nonce string `json:"n"`
	// SingleUse and State are those of the [InputRequired].
	SingleUse bool            `json:"u,omitempty"`
	State     json.RawMessage `json:"s,omitempty"`

	expiry time.Time
}

// stateBinding returns what a state is bound to: the caller, the method, its subject and its arguments, as the method sees them.
func (x *exchange) stateBinding() []string {
	sum := jsonDigest(x.req.Arguments)
	return []string{x.req.Principal, x.req.Method, x.req.Name, x.req.URI, string(sum[:])}
}

// requireInput answers with input requests and the state that waits for their responses.
func (r *Reply) requireInput(need *InputRequired) error {
	x := r.x
	if !protocolMethods[x.req.Method].asks {
		return fmt.Errorf("method %q must not ask", x.req.Method) // 2026-07-28 patterns/mrtr, Supported Requests
	}
	nonce, expiry := x.nonce()
	plain, err := json.Marshal(&requestState{Nonce: nonce, SingleUse: need.SingleUse, State: need.State})
	if err != nil {
		return fmt.Errorf("state of the questions: %w", err)
	}
	if len(plain) > maxRequestState {
		return InvalidParams("the answers are too long: %d bytes are allowed", maxRequestState)
	}
	state := x.h.requestStates.Seal(plain, expiry, x.stateBinding()...)
	result := append(appendInputRequests([]byte(`"inputRequests":`), need.Requests), `,"requestState":"`...)
	result = append(append(result, state...), '"')
	x.cacheable = false // mcp-R6
	if err := r.result("input_required", nil, Chunk{Bytes: result}); err != nil {
		return err
	}
	return errInputRequired
}

// nonce returns the nonce of a state that is made, and when that expires. A state that the request has brought without complete responses
// is replaced by one with the same nonce and expiry, so that the method goes on from one of both alone, and the nonce is remembered for as
// long as one of them is valid.
func (x *exchange) nonce() (nonce string, expiry time.Time) {
	if in := x.input; in != nil && in.sealed != nil && !in.accepted {
		return in.sealed.Nonce, in.sealed.expiry
	}
	return rand.Text(), x.h.now().Add(requestStateLife)
}

// readInput reads what a stateless request brings.
func (x *exchange) readInput(in *Input) error {
	switch value := jsonscan.Lookup(x.req.Params, "requestState"); jsonscan.KindOf(value) {
	case 0, jsonscan.Null:
	case jsonscan.String:
		sealed := new(requestState)
		plain, expiry, err := x.h.requestStates.Open(string(jsonscan.Unquote(value)), x.h.now(), x.stateBinding()...)
		if err != nil || json.Unmarshal(plain, sealed) != nil {
			return InvalidParams("params.requestState is not valid here: it was altered, has expired, was used, or belongs to another request; begin again without it")
		}
		sealed.expiry = expiry
		in.sealed, in.state = sealed, sealed.State
	default:
		return InvalidParams("params.requestState must be a string")
	}
	responses := jsonscan.Lookup(x.req.Params, "inputResponses")
	switch objectKind(responses) {
	case 0, jsonscan.Null:
	case jsonscan.Object:
		in.responses = make(map[string]json.RawMessage)
		for key, result := range jsonscan.Members(responses) {
			in.responses[string(key)] = result
		}
	default:
		return InvalidParams("params.inputResponses must be an object")
	}
	return nil
}

// SpentNonces remembers nonces that are valid for one use. It is safe for concurrent use.
type SpentNonces interface {
	// Spend marks id, a short text, as used and reports whether this was the first use; it is remembered until the
	// given time. owner is the principal that id belongs to, whose quota it counts against. The handler does not retry.
	// If there is an error, its use can't be determined.
	Spend(ctx context.Context, owner, id string, until time.Time) (first bool, err error)
}
