package elicit

import (
	"context"
	"encoding/json"

	"drawbridge/gateway/mcp"
)

// maxAttempts is how often a client may respond to the same input request until the response is valid.
const maxAttempts = 3

// Client is what can be asked of a client. [mcp.Reply] is one.
type Client interface {
	// CanElicit returns an [*mcp.ClientUnsupportedError] unless the client supports all of these kinds.
	CanElicit(kinds ...mcp.InputKind) error
}

// Dialogue asks the questions of one call or prompt, round after round. It waits for nobody: a round without responses ends what asks with
// an [*mcp.InputRequired], and Progress is kept until the responses are there. Only one goroutine uses it.
type Dialogue struct {
	Client Client
	// Input has the responses; nil if there are none yet.
	Input *mcp.Input
	// Progress is how far the dialogue has come. It is read and changed.
	Progress Progress
	// Accept is called when the responses to a round are complete. Its error is for the client.
	Accept func(ctx context.Context) error
}

// Progress is how far a dialogue has come: a value that goes on with it in another process, as JSON.
type Progress struct {
	// Answered are the valid responses by key, of this round and all before.
	Answered map[string]Response `json:"a,omitempty"`
	// Open are the digests of the input requests that wait for a response, by key.
	Open map[string]string `json:"q,omitempty"`
	// Refused counts the responses that were not valid, by key.
	Refused map[string]int `json:"r,omitempty"`
}

// Response is a valid response with the digest of its input request.
type Response struct {
	Digest string          `json:"q"`
	Action mcp.Action      `json:"a"`
	Value  json.RawMessage `json:"v,omitempty"`
}

// Round is a set of input requests that are sent together.
type Round struct {
	// Requests have keys that are unique among all input requests of the dialogue.
	Requests []mcp.InputRequest
	// SingleUse makes the responses valid for one call, and refuses unsolicited ones.
	SingleUse bool
	// Check refuses a response, whose input request is then sent again; if nil, every response is valid. Only
	// [mcp.Accepted] responses are checked, each once.
	Check func(req *mcp.InputRequest, a mcp.InputResponse) error
	// Rephrase returns an input request with new Params for one whose response was refused; its other fields are
	// ignored. refused is the error of Check, nil if the response was malformed. If Rephrase is nil, the request is
	// repeated unchanged.
	Rephrase func(req *mcp.InputRequest, refused error) mcp.InputRequest
}

// InvalidResponseError reports that the responses to an input request were invalid too often. A method that returns it
// refuses the request.
type InvalidResponseError struct {
	Key string // of the input request
	// Refused is the error of Check for the last response, nil if that was malformed.
	Refused error
}

// Error implements error.
func (e *InvalidResponseError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error that refuses the request.
func (e *InvalidResponseError) Unwrap() error {
	return mcp.InvalidParams("the client's answer to %q can't be used", e.Key)
}

// Ask returns the responses to a round by their keys. If some are missing or not valid, the error is an [*mcp.InputRequired] without a
// state; the dialogue goes on with the same round. A response counts for the very input request that was asked: if that has changed since,
// it is asked again. The error is an [*mcp.ClientUnsupportedError] if the client can't be asked, and an [*InvalidResponseError] after three
// responses to the same request that Check refuses; malformed ones count only while the client's request waits (mcp-E5). Any other error is why the client has not responded.
func (d *Dialogue) Ask(ctx context.Context, round *Round) (map[string]mcp.InputResponse, error) {
	kinds := make([]mcp.InputKind, len(round.Requests))
	for i := range round.Requests {
		kinds[i] = round.Requests[i].Kind
	}
	if err := d.Client.CanElicit(kinds...); err != nil {
		return nil, err
	}
	p, open := &d.Progress, map[string]string{}
	need := &mcp.InputRequired{SingleUse: round.SingleUse}
	answers := make(map[string]mcp.InputResponse, len(round.Requests))
	fresh := round.SingleUse
	for i := range round.Requests {
		req := &round.Requests[i]
		digest := req.Digest()
		if known, ok := p.Answered[req.Key]; ok && known.Digest == digest {
			answers[req.Key] = mcp.InputResponse{Action: known.Action, Value: known.Value}
			continue
		}
		again := *req
		if result, ok := d.response(req.Key, digest, round.SingleUse); ok {
			a, valid, refused := round.check(req, result)
			if valid {
				answers[req.Key], fresh = a, true
				put(&p.Answered, req.Key, Response{digest, a.Action, a.Value})
				continue
			}
			if refused != nil || d.Input.Waits() {
				put(&p.Refused, req.Key, p.Refused[req.Key]+1)
			}
			if p.Refused[req.Key] == maxAttempts {
				return nil, &InvalidResponseError{Key: req.Key, Refused: refused}
			}
			again = round.rephrase(req, refused)
		}
		open[req.Key] = digest
		need.Requests = append(need.Requests, again)
	}
	if len(open) > 0 {
		p.Open = open
		if err := d.Input.Err(); err != nil {
			return nil, err
		}
		return nil, need
	}
	if fresh && d.Accept != nil {
		if err := d.Accept(ctx); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// response returns the response to an input request: the one that was asked for or, before anything was asked, an unsolicited one.
func (d *Dialogue) response(key, digest string, singleUse bool) (result json.RawMessage, ok bool) {
	if d.Input.State() != nil && d.Progress.Open[key] != digest || d.Input.State() == nil && singleUse {
		return nil, false
	}
	return d.Input.Response(key)
}

// check parses a response and applies the Check of the round, whose error is refused. A client that could not respond has cancelled.
func (round *Round) check(req *mcp.InputRequest, result json.RawMessage) (a mcp.InputResponse, valid bool, refused error) {
	if result == nil {
		return mcp.InputResponse{Action: mcp.Cancelled}, true, nil
	}
	a, valid = mcp.ParseInputResponse(req.Kind, result)
	if valid && a.Action == mcp.Accepted && round.Check != nil {
		refused = round.Check(req, a)
		valid = refused == nil
	}
	return a, valid, refused
}

// rephrase returns the input request to send after a response that was refused.
func (round *Round) rephrase(req *mcp.InputRequest, refused error) mcp.InputRequest {
	next := *req
	if round.Rephrase != nil {
		next.Params = round.Rephrase(req, refused).Params
	}
	return next
}

// put sets a value in a map that may be nil.
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
