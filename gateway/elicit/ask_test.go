package elicit

import (
	"context"
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
	asked   map[string]mcp.InputRequest
	checked map[string]bool // keys whose answers were checked
}

func (r *respondent) CanElicit(kinds ...mcp.InputKind) error {
	for _, kind := range kinds {
		if !slices.Contains(r.kinds, kind) {
			return &mcp.ClientUnsupportedError{Missing: kind.Requires()}
		}
	}
	return nil
}

func (r *respondent) Elicit(_ context.Context, round mcp.ElicitationRound) (map[string]mcp.InputResponse, error) {
	answers := map[string]mcp.InputResponse{}
	for i := range round.Requests {
		q := &round.Requests[i]
		if !slices.Contains(r.kinds, q.Kind) {
			r.t.Errorf("the client can't be asked %q", q.Key)
		}
		if _, rebuilt := r.asked[q.Key]; rebuilt {
			r.t.Errorf("%q is asked twice", q.Key)
		}
		r.asked[q.Key] = *q
		if !json.Valid(fmt.Appendf(nil, "{%s}", q.Params)) {
			r.t.Errorf("the params of %q are no JSON: %s", q.Key, q.Params)
		}
		a := mcp.InputResponse{Action: r.actions[len(r.asked)%len(r.actions)], Value: r.content}
		if a.Action == mcp.Accepted {
			refused := round.Check(q, a)
			if rebuilt := round.Rephrase(q, refused); refused != nil && !json.Valid(fmt.Appendf(nil, "{%s}", rebuilt.Params)) {
				r.t.Errorf("the params of %q are no JSON: %s", q.Key, rebuilt.Params)
			}
			if refused != nil {
				return nil, &mcp.InvalidInputError{Key: q.Key, Refused: refused}
			}
			r.checked[q.Key] = true
		}
		answers[q.Key] = a
	}
	return answers, nil
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
		r := &respondent{t: t, content: json.RawMessage(content), asked: map[string]mcp.InputRequest{}, checked: map[string]bool{}}
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
		values, err := all.Ask(t.Context(), &Request{
			Asker: r, Subject: "It", Revision: []string{"2026-07-28", "2025-06-18"}[bits>>10&1], Known: func(name string) bool { return known[name] },
			Check: func(values map[string]json.RawMessage) error {
				if bit(11) && values["a"] != nil {
					return errors.New("no")
				}
				for name, value := range values {
					fitted[name] = string(value)
				}
				return nil
			},
		})
		if err != nil && values != nil {
			t.Errorf("%v and values", err)
		}
		from := map[string]string{"a": "form", "b": "form", "c": "written", "d": "sample"}
		at := map[string]string{"a": "/a", "b": "/b", "c": "/c", "d": "/deep/d"}
		always := map[string]bool{"a": bit(0), "b": bit(0), "c": bit(2), "d": bit(3)}
		for name, value := range values {
			key := from[name]
			if _, asked := r.asked[key]; !asked || !r.checked[key] || fitted[name] != string(value) || string(value) != string(jsonscan.At([]byte(content), at[name])) ||
				known[name] && !always[name] || from[name] == "" {
				t.Errorf("%s = %s: asked %v, checked %v", name, value, asked, r.checked[key])
			}
		}
		for _, v := range args {
			if err == nil && v.Required && values[v.Name] == nil && !known[v.Name] {
				t.Errorf("%s is missing, and nobody says so", v.Name)
			}
		}
	})
}
