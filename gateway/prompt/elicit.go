package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// promptArguments returns the arguments of a prompt, all of which are strings.
func promptArguments(c *config.Prompt) (args elicit.Arguments) {
	for _, a := range c.Arguments {
		schema := []byte(`{"type":"string"`)
		if a.Title != "" {
			schema = jsonscan.AppendString(append(schema, `,"title":`...), a.Title)
		}
		if a.Description != "" {
			schema = jsonscan.AppendString(append(schema, `,"description":`...), a.Description)
		}
		args = append(args, elicit.Argument{Name: a.Name, Schema: jsonschema.Parse(append(schema, '}')), Required: a.Required})
	}
	return args
}

// shown returns the arguments that a caller can give: those for which the user is always asked are left out.
func (p *Prompt) shown() []config.PromptArgument {
	if p.elicitor == nil {
		return p.Arguments
	}
	return slices.DeleteFunc(slices.Clone(p.Arguments), func(a config.PromptArgument) bool { return slices.Contains(p.elicitor.Withheld(), a.Name) })
}

// requires reports whether a caller must give an argument: false if the user is asked for it when it is missing.
func (p *Prompt) requires(a config.PromptArgument) bool {
	return a.Required && (p.elicitor == nil || !slices.Contains(p.elicitor.Optional(), a.Name))
}

// ask asks the user for the arguments that the caller has not given, and returns all arguments. The error is a protocol error,
// an [*mcp.InputRequired], or one for the client.
func (p *Prompt) ask(ctx context.Context, req *mcp.Request, reply *mcp.Reply, given map[string]string) (map[string]string, error) {
	title := fmt.Sprintf("%q", p.Name)
	if p.Title != "" {
		title = fmt.Sprintf("%q (%s)", p.Title, p.Name)
	}
	in := reply.Input()
	if err := in.Read(); err != nil {
		return nil, err
	}
	d := &elicit.Dialogue{Client: reply, Input: in, Accept: func(ctx context.Context) error {
		_, err := in.Accept(ctx)
		return err
	}}
	if state := in.State(); state != nil {
		if err := json.Unmarshal(state, &d.Progress); err != nil {
			return nil, fmt.Errorf("state of the prompt: %w", err)
		}
	}
	values, err := p.elicitor.Ask(ctx, &elicit.Request{
		Dialogue: d, Subject: "The prompt " + title, Revision: req.Revision,
		Known: func(name string) bool {
			_, ok := given[name]
			return ok
		},
		Check: func(values map[string]json.RawMessage) error {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				if _, ok := answerText(values[name]); !ok {
					return fmt.Errorf("%s is no text", name)
				}
			}
			return nil
		},
	})
	var none *elicit.Unanswered
	var need *mcp.InputRequired
	switch {
	case errors.As(err, &none):
		return nil, p.unanswered(req, none)
	case errors.As(err, &need):
		if need.State, err = json.Marshal(&d.Progress); err != nil {
			return nil, fmt.Errorf("state of the prompt: %w", err)
		}
		return nil, need
	case err != nil:
		return nil, err
	}
	all := maps.Clone(given)
	if all == nil {
		all = map[string]string{}
	}
	for name, value := range values {
		all[name], _ = answerText(value)
	}
	return all, nil
}

// answerText returns an elicited value as the text of an argument: several choices are joined with commas.
func answerText(value []byte) (text string, ok bool) {
	if jsonscan.KindOf(value) != jsonscan.Array {
		return openapi.PlainText(value)
	}
	var choices []string
	for item := range jsonscan.Elements(value) {
		choice, ok := openapi.PlainText(item)
		if !ok {
			return "", false
		}
		choices = append(choices, choice)
	}
	return strings.Join(choices, ", "), true
}

// unanswered returns the error of a prompt for which the user has not given required arguments.
func (p *Prompt) unanswered(req *mcp.Request, e *elicit.Unanswered) error {
	names := ""
	if len(e.Names) > 0 {
		names = " (" + strings.Join(e.Names, ", ") + ")"
	}
	refuse := func(why string) error {
		return mcp.InvalidParams("prompt %q can't be made: %s", p.Name, why)
	}
	var unable *mcp.ClientUnsupportedError
	switch isUnable := errors.As(e, &unable); {
	case e.Action == mcp.Declined:
		return refuse("the user declined to give what it needs" + names)
	case e.Action == mcp.Cancelled:
		return refuse("the user was asked for what it needs" + names + ", and has not answered")
	case isUnable && req.Family == mcp.Stateless && unable.Missing&(mcp.ClientSampling|mcp.ClientRoots) != 0:
		return unable // names the capability that the client lacks
	case !isUnable && !errors.Is(e, elicit.ErrNoLists):
		return refuse("the user was asked for what it needs" + names + ", and the answers did not fit")
	case e.Always:
		return refuse("it has to ask the user something, and this client can't do that")
	}
	return refuse("it needs arguments" + names + ": the user would be asked for them, but this client can't do that")
}
