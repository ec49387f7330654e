package prompt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// Prompt is a prompt of the configuration at one endpoint, with the plans of the tools that it calls. It is immutable.
type Prompt struct {
	*config.Prompt
	messages  []promptMessage
	needs     call.Needs // for the prompt and for everything that it calls
	arguments []promptArgument
	elicitor  *elicit.Elicitor // nil if the user is not asked for anything
}

// promptMessage is one message: a text, the response of a tool, or the contents of a resource.
type promptMessage struct {
	config.PromptMessage
	plan *plan.Plan // of the tool, or of the resource if it is known without the arguments; else nil
	// variables maps the variables of the resource's template that consist of a single placeholder to the name of the
	// placeholder.
	variables map[string]string
}

// Compiler makes the prompts of an endpoint.
type Compiler struct {
	*call.Endpoint
	Main      *call.Endpoint // has all tools
	Resources *plan.Resources
}

// Compile returns the prompts of the endpoint, in configuration order, and the faults of those that can't be served there, with
// the position of each fault.
func (e *Compiler) Compile(configured []config.Prompt) (all []*Prompt, faults []error) {
	for i := range configured {
		c := &configured[i]
		if e.Name != "" && !slices.Contains(c.Endpoints, e.Name) {
			continue
		}
		p, wrong := e.newPrompt(c)
		if len(wrong) == 0 {
			all = append(all, p)
		}
		faults = append(faults, wrong...)
	}
	return all, faults
}

func (e *Compiler) newPrompt(c *config.Prompt) (_ *Prompt, faults []error) {
	p := &Prompt{Prompt: c, needs: call.Needs{{c.Scopes}}}
	for i, m := range c.Messages {
		message := promptMessage{PromptMessage: m}
		kind := "tool"
		wrong := func(name string, err error) {
			faults = append(faults, c.Wrong(fmt.Sprintf("messages[%d].%s", i, name), err))
		}
		switch {
		case m.Tool != "":
			if message.plan = call.PlanOf(e.Tool(m.Tool)); message.plan == nil {
				wrong(kind, e.noTool(m.Tool))
				continue
			}
			checkArguments(message.plan.CallerOperation(), c.Arguments, m.Arguments, func(name string, err error) { wrong("arguments"+name, err) })
		case !m.Resource.IsZero():
			kind = "resource"
			var uri string
			if message.plan, message.variables, uri = e.example(m.Resource); message.plan == nil && len(m.Resource.Places()) == 0 {
				wrong(kind, fmt.Errorf("no resource has the URI %q", uri))
			}
		}
		if message.plan != nil {
			switch err := promptObstacle(message.plan); {
			case err != nil:
				wrong(kind, err)
			case !message.plan.Safe && !m.Unsafe:
				wrong(kind, fmt.Errorf("the method %s of the tool is not a safe one, such as GET, and hosts ask for prompts to show them;"+
					" unsafe: true says that it changes nothing", message.plan.Operation.Method))
			}
			p.needs = append(p.needs, message.plan.Scopes)
		}
		p.messages = append(p.messages, message)
	}
	for i := range c.Arguments {
		a := promptArgument{PromptArgument: &c.Arguments[i]}
		if a.Complete != nil {
			wrong := func(name string, err error) {
				faults = append(faults, c.Wrong(fmt.Sprintf("arguments[%d].complete.%s", i, name), err))
			}
			a.plan = e.completionPlan(a.Complete, wrong)
		}
		p.arguments = append(p.arguments, a)
	}
	if len(c.Inputs) > 0 {
		var err *elicit.InputError
		if p.elicitor, err = elicit.New(c.Inputs, promptArguments(c)); err != nil {
			faults = append(faults, c.Wrong(fmt.Sprintf("inputs[%d]%s", err.Index, err.Key), err))
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	for i := range p.arguments {
		p.arguments[i].values = p.valuesOf(p.arguments[i].PromptArgument)
	}
	return p, nil
}

var (
	errPromptAsks = errors.New("its calls wait for what the user has to say, and a prompt can't ask that for them")
	errPromptJob  = errors.New("its calls begin jobs, and a prompt can't wait for the end of one")
)

// promptObstacle returns the reason why a prompt can't call a plan: the plan must return its result directly, and must not
// ask the user for anything, since a prompt may repeat its calls after the user was asked.
func promptObstacle(p *plan.Plan) error {
	switch {
	case p.Consent.Needed || p.Elicitation != nil:
		return errPromptAsks
	case p.Job != nil && p.Job.Declared:
		return errPromptJob
	}
	return nil
}

// completionPlan returns the plan of a call that supplies completion values. It is called at each keystroke, so it must be
// safe.
func (e *Compiler) completionPlan(c *config.PromptCompletion, wrong func(key string, err error)) *plan.Plan {
	p := call.PlanOf(e.Tool(c.Tool))
	switch {
	case p == nil:
		wrong("tool", e.noTool(c.Tool))
		return nil
	case promptObstacle(p) != nil:
		wrong("tool", promptObstacle(p))
	case !p.Safe:
		wrong("tool", fmt.Errorf("%q is called while somebody types, and its method %s is not a safe one, such as GET", c.Tool, p.Operation.Method))
	}
	checkArguments(p.CallerOperation(), nil, c.Arguments, func(name string, err error) { wrong("arguments"+name, err) })
	return p
}

// example returns the plan that reads a URI, as far as it is known without the values of its placeholders, and maps each
// variable of its template that consists of a single placeholder to the name of the placeholder.
func (e *Compiler) example(t config.Template) (p *plan.Plan, places map[string]string, uri string) {
	if _, whole := t.Place(); whole {
		return nil, nil, ""
	}
	const mark = "-place-"
	uri = t.FillURI(func(name string) string { return mark + name })
	p, args := e.Resources.Find(uri)
	places = map[string]string{}
	if p != nil && jsonscan.KindOf(args) == jsonscan.Object {
		for name, value := range jsonscan.Members(args) {
			text, _ := openapi.PlainText(value)
			if place, ok := strings.CutPrefix(text, mark); ok && slices.Contains(t.Places(), place) {
				places[string(name)] = place
			}
		}
	}
	return p, places, uri
}

// noTool returns the error for a tool that the endpoint does not have.
func (e *Compiler) noTool(name string) error {
	switch {
	case e.Tools[name] != nil:
		return fmt.Errorf("%q can be read as a resource, and not be called", name)
	case e.Main.Tool(name) != nil:
		return fmt.Errorf("the endpoint %q does not have the tool %q", e.Name, name)
	}
	return fmt.Errorf("there is no tool %q%s", name, text.DidYouMean(text.Nearest(name, slices.Sorted(maps.Keys(e.Tools)))))
}

// checkArguments reports faults in the arguments of a prompt's call, as far as they can be detected without the values: it
// calls wrong with the key path below the arguments, "" for all.
func checkArguments(op *openapi.Operation, of []config.PromptArgument, args map[string]config.Value, wrong func(key string, err error)) {
	input := jsonschema.Parse(op.Input)
	if closed(input) {
		var known []string
		for _, p := range input.Parts("properties") {
			known = append(known, p.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(args)) {
			if slices.Contains(known, name) {
				continue
			}
			wrong("."+name, fmt.Errorf("the tool has no argument %q%s", name, text.DidYouMean(text.Nearest(name, known))))
		}
	}
	unfitConstants(op, input, args, wrong)
	for _, name := range input.Required() {
		value, ok := args[name]
		if !ok {
			wrong("", fmt.Errorf("the tool needs the argument %q", name))
			continue
		}
		place, whole := value.Place()
		optional := func(a config.PromptArgument) bool { return a.Name == place && !a.Required }
		if whole && slices.ContainsFunc(of, optional) {
			wrong("."+name, fmt.Errorf("the tool needs it, and the argument %q of the prompt may be left out: make that required", place))
		}
	}
}

// unfitConstants reports arguments without placeholders whose values don't match the schema.
func unfitConstants(op *openapi.Operation, input *jsonschema.Schema, args map[string]config.Value, wrong func(key string, err error)) {
	constants := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if len(args[name].Places()) > 0 || input.Property(name) == nil {
			continue
		}
		if len(constants) > 1 {
			constants = append(constants, ',')
		}
		constants = args[name].AppendJSON(append(jsonscan.AppendString(constants, name), ':'), func(string) (string, bool) { return "", false })
	}
	if len(constants) == 1 {
		return
	}
	var faulty *openapi.ArgumentError
	if _, _, err := op.Check(append(constants, '}')); !errors.As(err, &faulty) {
		return // or the schema can't be used, which is reported elsewhere
	}
	for _, fault := range faulty.Faults {
		name, below, _ := strings.Cut(strings.TrimPrefix(fault.Pointer, "/"), "/")
		if _, ok := args[name]; !ok || fault.Pointer == "" {
			continue // a fault of the whole object: other arguments are filled in later
		}
		if below != "" {
			below = "/" + below + ": "
		}
		wrong("."+name, errors.New(below+fault.Message))
	}
}

// closed reports whether a schema of arguments names all permitted properties.
func closed(input *jsonschema.Schema) bool {
	if slices.ContainsFunc([]string{"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "then", "else"}, input.Has) {
		return false
	}
	additional := input.Schema("additionalProperties")
	return additional == nil || additional.Never()
}

// prompt returns a prompt of the endpoint, or nil if there is no such prompt.
func (e *View) prompt(name string) *Prompt {
	if i := slices.IndexFunc(e.Prompts, func(p *Prompt) bool { return p.Name == name }); i >= 0 {
		return e.Prompts[i]
	}
	return nil
}

// Needs returns the scopes that the caller must have been granted, for the prompt and for everything that it calls.
func (p *Prompt) Needs() call.Needs { return p.needs }

// authorizePrompt checks the caller's scopes for a prompt before any of its tools is called, as authorize does for tools.
func authorizePrompt(e *call.Endpoint, caller *auth.Principal, p *Prompt) *mcp.Error {
	if e.Guard == nil || e.Grants(caller, p.needs) {
		return nil
	}
	if e.HideUnauthorized {
		return unknownPrompt(p.Name)
	}
	return e.Forbid(caller, p.needs, "prompt")
}

func unknownPrompt(name string) *mcp.Error {
	return mcp.InvalidParams("unknown prompt %q: prompts/list has the prompts of this server", text.Truncate(name, 128))
}

// AppendDefinition appends a prompt as listed by prompts/list.
func (p *Prompt) AppendDefinition(dst []byte, titles bool) []byte {
	dst = appendNamed(dst, p.Name, p.Title, p.Description, titles)
	if shown := p.shown(); len(shown) > 0 {
		dst = append(dst, `,"arguments":[`...)
		for i, a := range shown {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendNamed(dst, a.Name, a.Title, a.Description, titles)
			if p.requires(a) {
				dst = append(dst, `,"required":true`...)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendNamed appends the beginning of an object with a name, up to its description.
func appendNamed(dst []byte, name, title, description string, titles bool) []byte {
	dst = jsonscan.AppendString(append(dst, `{"name":`...), name)
	if titles && title != "" {
		dst = jsonscan.AppendString(append(dst, `,"title":`...), title)
	}
	if description != "" {
		dst = jsonscan.AppendString(append(dst, `,"description":`...), description)
	}
	return dst
}
