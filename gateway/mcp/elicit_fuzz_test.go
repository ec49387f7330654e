package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"drawbridge/openapi/jsonscan"
)

// FuzzRequestState holds what a client may bring as answers to a question that is good for one use: without the state that
// was given with it, or with one that was altered, is another caller's, another request's or too old, nothing is
// answered, whatever the answers are, and nothing panics (mcp-E4).
func FuzzRequestState(f *testing.F) {
	f.Add(`"made up"`, `{"a":{"action":"accept","content":{}}}`, uint16(3))
	f.Add(`null`, `{"a":7,"":{}}`, uint16(0))
	f.Add(`null`, `{"a":{"action":"accept","content":{}}}`, uint16(40))
	f.Add(`{}`, `[]`, uint16(9))
	f.Add(`""`, `null`, uint16(300))
	f.Fuzz(func(t *testing.T, state, responses string, at uint16) {
		for _, text := range []string{state, responses} {
			// What is no JSON, or says a thing twice, has not come as far as this.
			if _, err := jsonscan.Scan([]byte(text), jsonscan.Options{Unique: true, MaxDepth: 64}); err != nil {
				return
			}
		}
		now := time.Unix(1_800_000_000, 0)
		h := NewHandler(nil, Options{ReloadableOptions: ReloadableOptions{SealKeys: [][]byte{[]byte("key")}}, SpentNonces: &UsedOnce{}, Now: func() time.Time { return now }})
		need := &InputRequired{Requests: []InputRequest{{Key: "a", Kind: ElicitForm}}, SingleUse: true, State: json.RawMessage(`{}`)}
		ask := func(change func(*Request), state, responses string) (map[string]InputResponse, string, error) {
			x, w := newLive(h, Stateless)
			x.req.Method, x.req.Client, x.req.Principal, x.req.Name = "tools/call", ClientElicitation, "alice", "tool"
			x.req.Arguments = json.RawMessage(`{"n":1}`)
			change(&x.req)
			x.req.Params = fmt.Appendf(nil, `{"name":%q,"arguments":%s,"requestState":%s,"inputResponses":%s}`, x.req.Name, x.req.Arguments, state, responses)
			answers, err := answersOf(x, need)
			given := jsonscan.Lookup(jsonscan.Lookup([]byte(w.body.String()), "result"), "requestState")
			return answers, string(given), err
		}
		same := func(*Request) {}
		refused := func(what string, answers map[string]InputResponse, err error) {
			var e *Error
			if answers != nil || !errors.Is(err, errInputRequired) && !(errors.As(err, &e) && e.Code == CodeInvalidParams) {
				t.Fatalf("%s: %v, %v", what, answers, err)
			}
		}
		answers, _, err := ask(same, state, responses)
		refused("a state that nobody gave", answers, err)

		_, given, err := ask(same, "null", "null")
		if !errors.Is(err, errInputRequired) || len(given) < 3 {
			t.Fatalf("the question: %q, %v", given, err)
		}
		const yes = `{"a":{"action":"accept","content":{}}}`
		altered := given[1 : len(given)-1]
		i := int(at) % len(altered)
		letter := byte('A')
		if altered[i] == letter {
			letter = 'B'
		}
		altered = `"` + altered[:i] + string(letter) + altered[i+1:] + `"`
		answers, _, err = ask(same, altered, yes)
		refused("an altered state", answers, err)
		for what, change := range map[string]func(*Request){
			"another caller":  func(r *Request) { r.Principal = "bob" },
			"another tool":    func(r *Request) { r.Name = "other" },
			"another method":  func(r *Request) { r.Method = "prompts/get" },
			"other arguments": func(r *Request) { r.Arguments = json.RawMessage(`{"n":2}`) },
			"too late":        func(*Request) { now = now.Add(requestStateLife) },
		} {
			began := now
			answers, _, err := ask(change, given, yes)
			refused(what, answers, err)
			now = began
		}
		// Whatever is answered to the question that was asked, it is answered once.
		answers, next, err := ask(same, given, responses)
		if err != nil {
			refused("answers", answers, err)
			if !errors.Is(err, errInputRequired) {
				return
			}
			given = next
		}
		if len(answers) == 0 {
			if answers, _, err = ask(same, given, yes); err != nil || answers["a"].Action != Accepted {
				t.Fatalf("the answer: %v, %v", answers, err)
			}
		}
		answers, _, err = ask(same, given, yes)
		refused("the same state again", answers, err)
	})
}

// answersOf returns the answers to a question, as a method does that goes on with them, or asks.
func answersOf(x *exchange, need *InputRequired) (map[string]InputResponse, error) {
	in := x.reply.Input()
	if err := in.Read(); err != nil {
		return nil, err
	}
	if response, ok := in.Response("a"); ok && in.State() != nil {
		if a, valid := ParseInputResponse(ElicitForm, response); valid {
			if _, err := in.Accept(x.req.HTTP.Context()); err != nil {
				return nil, err
			}
			return map[string]InputResponse{"a": a}, nil
		}
	}
	_, err := x.reply.elicit(x.req.HTTP.Context(), need)
	return nil, err
}
