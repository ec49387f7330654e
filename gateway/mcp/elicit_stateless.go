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
	// askLife is how long a state is good for: the user has to answer within (T20).
	askLife = 10 * time.Minute
	// maxAskState bounds a state in bytes: the client has to send it back.
	maxAskState = 256 << 10
	// askLabel is the version of the state's layout.
	askLabel = "drawbridge mcp request state 1"
)

// askState is what a request that was asked something carries (2026-07-28
// patterns/mrtr, requestState), sealed and bound to its request.
type askState struct {
	// Step counts the rounds.
	Step int `json:"s"`
	// Nonce names the state among those that were used.
	Nonce string `json:"n"`
	// Asked are the questions that wait, by key: the digest of each.
	Asked map[string]string `json:"q,omitempty"`
	// Answers are those that have come, by key.
	Answers map[string]askAnswer `json:"a,omitempty"`
	// Refused counts the answers of each key that were not good enough.
	Refused map[string]int `json:"r,omitempty"`

	// early are answers that came before anything was asked: a client may know from before
	// what it will be asked, and the state is the server's to demand (2026-07-28
	// patterns/mrtr). They are good where an answer is no more than an argument.
	early map[string]json.RawMessage

	expiry    time.Time
	presented bool // it came with the request
	used      bool
}

// askAnswer is an answer with the digest of its question.
type askAnswer struct {
	Question string          `json:"q"`
	Result   json.RawMessage `json:"r"`
}

// digest names a question by all that it says.
func (q *Question) digest() string {
	sum := digest(q.append(nil))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// bound is what a state belongs to: the caller, the method, what it is about and its
// arguments.
func (x *exchange) bound() []string {
	sum := digest(x.req.Arguments)
	return []string{x.req.Principal, x.req.Method, x.req.Name, x.req.URI, string(sum[:])}
}

// openState reads the request's state, once.
func (x *exchange) openState() (*askState, *Error) {
	if x.state != nil {
		return x.state, nil
	}
	refused := func() *Error {
		return InvalidParams("params.requestState is not valid here: it was altered, has expired, was used, or belongs to another request; begin again without it")
	}
	st := &askState{Answers: make(map[string]askAnswer)}
	switch value := jsonscan.Lookup(x.req.Params, "requestState"); jsonscan.KindOf(value) {
	case 0, jsonscan.Null:
	case jsonscan.String:
		plain, expiry, err := x.h.states.Open(string(jsonscan.Unquote(value)), x.h.now(), x.bound()...)
		if err != nil || json.Unmarshal(plain, st) != nil {
			return nil, refused()
		}
		st.expiry, st.presented = expiry, true
	default:
		return nil, InvalidParams("params.requestState must be a string")
	}
	responses := jsonscan.Lookup(x.req.Params, "inputResponses")
	switch jsonscan.KindOf(responses) {
	case 0, jsonscan.Null:
	case jsonscan.Object:
		for key, result := range jsonscan.Members(responses) {
			if q, waits := st.Asked[string(key)]; waits {
				st.Answers[string(key)] = askAnswer{Question: q, Result: result}
			} else if !st.presented {
				if st.early == nil {
					st.early = make(map[string]json.RawMessage)
				}
				st.early[string(key)] = result
			}
		}
	default:
		return nil, InvalidParams("params.inputResponses must be an object")
	}
	x.state = st
	return st, nil
}

// askModern returns the answers that the request brings, or ends it with the questions.
func (r *Reply) askModern(round Round) (map[string]Answer, error) {
	x := r.x
	switch x.req.Method {
	case "tools/call", "prompts/get", "resources/read":
	default:
		return nil, fmt.Errorf("method %q must not ask", x.req.Method) // 2026-07-28 patterns/mrtr, Supported Requests
	}
	st, fault := x.openState()
	if fault != nil {
		return nil, fault
	}
	answers := make(map[string]Answer, len(round.Questions))
	next := askState{Step: st.Step + 1, Nonce: rand.Text(), Asked: make(map[string]string), Answers: st.Answers, Refused: st.Refused}
	var open []Question
	for i := range round.Questions {
		q, again := &round.Questions[i], round.Questions[i]
		if result, ok := st.early[q.Key]; ok && !round.Once {
			st.Answers[q.Key] = askAnswer{Question: q.digest(), Result: result}
			delete(st.early, q.Key)
		}
		if given, ok := st.Answers[q.Key]; ok && given.Question == q.digest() {
			a, ok, refused := round.accept(q, given.Result)
			if ok {
				answers[q.Key] = a
				continue
			}
			if refused != nil && next.refuse(q.Key) == askAttempts {
				return nil, &UnusableError{Key: q.Key, Refused: refused}
			}
			again = round.again(q, refused)
		}
		delete(st.Answers, q.Key)
		next.Asked[q.Key] = q.digest()
		open = append(open, again)
	}
	if len(open) > 0 {
		return nil, r.askAgain(&next, open)
	}
	if round.Once && st.presented && !st.used {
		if x.h.o.Spent == nil {
			return nil, errors.New("nothing remembers what may be used once (Options.Spent)")
		}
		first, err := x.h.o.Spent.Spend(x.req.HTTP.Context(), x.req.Principal, st.Nonce, st.expiry)
		switch {
		case err != nil:
			return nil, x.internal("a state could not be marked as used", http.StatusServiceUnavailable, slog.Any("error", err))
		case !first:
			return nil, InvalidParams("params.requestState was used before, and an answer counts once: nothing more is done for it; begin again without it")
		}
		st.used = true
	}
	return answers, nil
}

// refuse counts an answer that can't be used, and returns how many there were of that key.
func (st *askState) refuse(key string) int {
	if st.Refused == nil {
		st.Refused = make(map[string]int)
	}
	st.Refused[key]++
	return st.Refused[key]
}

// askAgain answers with questions and the state that waits for their answers.
func (r *Reply) askAgain(next *askState, open []Question) error {
	x := r.x
	plain, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("state of the questions: %w", err)
	}
	if len(plain) > maxAskState {
		return InvalidParams("the answers are too long: %d bytes are allowed", maxAskState)
	}
	state := x.h.states.Seal(plain, x.h.now().Add(askLife), x.bound()...)
	result := append(appendQuestions([]byte(`"inputRequests":`), open), `,"requestState":"`...)
	result = append(append(result, state...), '"')
	x.cacheable = false // mcp-R6
	if err := r.result("input_required", nil, Chunk{Bytes: result}); err != nil {
		return err
	}
	return ErrAsked
}

// Spent remembers what may be used once. It is safe for concurrent use.
type Spent interface {
	// Spend uses id, a short text, up and tells whether it was the first to do so; it is
	// remembered until the given time. owner is the principal whose it is, who must not be
	// able to use up what others need. The handler does not retry. An error refuses the
	// request, since nobody knows then.
	Spend(ctx context.Context, owner, id string, until time.Time) (first bool, err error)
}
