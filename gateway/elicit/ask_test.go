package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// respondent is a client that gives the same answer to every question.
type respondent struct {
	t       *testing.T
	kinds   []mcp.InputKind // the kinds that it supports
	actions []mcp.Action
	content json.RawMessage
	asked   map[string]int // how often, by key
}

func (r *respondent) CanElicit(kinds ...mcp.InputKind) error {
	for _, kind := range kinds {
		if !slices.Contains(r.kinds, kind) {
			return &mcp.ClientUnsupportedError{Missing: kind.Requires()}
		}
	}
	return nil
}

// respond returns the responses to input requests.
func (r *respondent) respond(need *mcp.InputRequired) map[string]json.RawMessage {
	responses := map[string]json.RawMessage{}
	for i := range need.Requests {
		q := &need.Requests[i]
		if !slices.Contains(r.kinds, q.Kind) {
			r.t.Errorf("the client can't be asked %q", q.Key)
		}
		r.asked[q.Key]++
		if r.asked[q.Key] > maxAttempts {
			r.t.Errorf("%q is asked %d times", q.Key, r.asked[q.Key])
		}
		if !json.Valid(fmt.Appendf(nil, "{%s}", q.Params)) {
			r.t.Errorf("the params of %q are no JSON: %s", q.Key, q.Params)
		}
		responses[q.Key] = r.response(q)
	}
	return responses
}

// response returns the response to an input request.
func (r *respondent) response(q *mcp.InputRequest) json.RawMessage {
	switch action := r.actions[len(r.asked)%len(r.actions)]; {
	case q.Kind == mcp.Sample && jsonscan.KindOf(r.content) == jsonscan.Object:
		return append([]byte(`{"content":[],`), bytes.TrimSpace(r.content)[1:]...)
	case q.Kind == mcp.Sample:
		return r.content
	case action == mcp.Declined:
		return json.RawMessage(`{"action":"decline"}`)
	case action == mcp.Cancelled:
		return nil
	}
	return fmt.Appendf(nil, `{"action":"accept","content":%s}`, r.content)
}

// FuzzAsk asks in all ways, of a client that gives any answer. A returned value was always requested, accepted and
// checked, is at the requested position, and is not one that the caller has given.
func FuzzAsk(f *testing.F) {
	f.Add(uint16(0), uint8(0), `{"a":"x","b":1,"c":true,"deep":{"d":"y"}}`)
	f.Add(uint16(0xffff), uint8(3), `{"a":1}`)
	f.Add(uint16(0x0f0), uint8(1), `{"a":null,"c":[],"extra":1,"messages":{"d":"z"}}`)
	args := Arguments{
		{"a", jsonschema.Parse([]byte(`{"type":"string"}`)), true}, {"b", jsonschema.Parse([]byte(`{"type":"integer"}`)), false},
		{"c", jsonschema.Parse([]byte(`{"type":"boolean"}`)), true}, {"d", jsonschema.Parse([]byte(`{"type":"string"}`)), false},
	}
	when := func(always bool) config.InputWhen {
		if always {
			return config.InputAlways
		}
		return config.InputMissing
	}
	f.Fuzz(func(t *testing.T, bits uint16, actions uint8, content string) {
		if _, err := jsonscan.Scan([]byte(content), jsonscan.Options{Unique: true, MaxDepth: 32}); err != nil {
			return
		}
		bit := func(n int) bool { return bits>>n&1 == 1 }
		list := []config.Input{
			{Key: "form", Kind: config.InputForm, Step: 1, Arguments: []string{"a", "b"}, When: when(bit(0))},
			{Key: "written", Kind: config.InputForm, Step: 1 + int(bits>>1&1), When: when(bit(2)), Schema: `{"type":"object","properties":{"c":{"type":"boolean"}}}`},
			{Key: "sample", Kind: config.InputSample, Step: 3, When: when(bit(3)), Params: `{"maxTokens":1}`, Bind: map[string]config.Pointer{"d": "/deep/d"}},
		}
		all, wrong := New(list, args)
		if wrong != nil {
			t.Fatal(wrong)
		}
		r := &respondent{t: t, content: json.RawMessage(content), asked: map[string]int{}}
		for n, kind := range []mcp.InputKind{mcp.ElicitForm, mcp.Sample} {
			if bit(4 + n) {
				r.kinds = append(r.kinds, kind)
			}
		}
		for n := range 3 {
			r.actions = append(r.actions, mcp.Action(1+actions>>(2*n)%4%3))
		}
		known := map[string]bool{"a": bit(6), "b": bit(7), "c": bit(8), "d": bit(9)}
		fitted := map[string]string{}
		checks := map[string]int{}
		request := func(d *Dialogue) *Request {
			return &Request{
				Dialogue: d, Subject: "It", Revision: []string{"2026-07-28", "2025-06-18"}[bits>>10&1], Known: func(name string) bool { return known[name] },
				Check: func(values map[string]json.RawMessage) error {
					if bit(11) && values["a"] != nil {
						return errors.New("no")
					}
					for name, value := range values {
						fitted[name] = string(value)
						checks[name]++
					}
					return nil
				},
			}
		}
		d := &Dialogue{Client: r}
		values, err := all.Ask(t.Context(), request(d))
		var need *mcp.InputRequired
		for errors.As(err, &need) {
			state, marshalled := json.Marshal(&d.Progress)
			if marshalled != nil {
				t.Fatal(marshalled)
			}
			d = &Dialogue{Client: r, Input: mcp.NewInput(state, r.respond(need))}
			if err := json.Unmarshal(state, &d.Progress); err != nil {
				t.Fatal(err)
			}
			values, err = all.Ask(t.Context(), request(d))
		}
		if err != nil && values != nil {
			t.Errorf("%v and values", err)
		}
		from := map[string]string{"a": "form", "b": "form", "c": "written", "d": "sample"}
		at := map[string]string{"a": "/a", "b": "/b", "c": "/c", "d": "/deep/d"}
		always := map[string]bool{"a": bit(0), "b": bit(0), "c": bit(2), "d": bit(3)}
		for name, value := range values {
			key := from[name]
			if r.asked[key] == 0 || checks[name] != 1 && key != "written" && key != "form" || checks[name] > maxAttempts || fitted[name] != string(value) ||
				!sameJSON(value, jsonscan.At([]byte(content), at[name])) || known[name] && !always[name] || from[name] == "" {
				t.Errorf("%s = %s: asked %d times, checked %d times", name, value, r.asked[key], checks[name])
			}
		}
		for _, v := range args {
			if err == nil && v.Required && values[v.Name] == nil && !known[v.Name] {
				t.Errorf("%s is missing, and nobody says so", v.Name)
			}
		}
	})
}

// sameJSON reports whether two JSON texts differ in nothing but white space.
func sameJSON(a, b []byte) bool {
	return bytes.Equal(jsonscan.AppendCompact(nil, a), jsonscan.AppendCompact(nil, b))
}
