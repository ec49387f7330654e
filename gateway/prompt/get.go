package prompt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// maxPromptSize is the maximum size in bytes of all templates of a prompt with its arguments filled in, including those of its
// calls; the responses are bounded by the limits of the APIs.
const maxPromptSize = 1 << 20

// Getter makes prompts.
type Getter struct {
	Calls   *call.Runner
	Results deliver.Results
	// Refuse records that a prompt is refused for a scope, and returns the error, which may be that there is no such prompt.
	Refuse func(ctx context.Context, req *mcp.Request, denied *mcp.Error) error
	// RefuseElicitation records that a request can't wait for its user if err says so.
	RefuseElicitation func(ctx context.Context, req *mcp.Request, err error)
}

// Serve answers prompts/get: it finds the prompt, checks the caller's scopes for everything that it needs, fills in the
// arguments, and calls its tools, each like a tools/call of the caller. A failed call fails the whole prompt: a model must not
// mistake a failure message for the user's words.
func (g Getter) Serve(ctx context.Context, e *View, req *mcp.Request, reply *mcp.Reply) error {
	p := e.prompt(req.Name)
	if p == nil {
		if req.Name == "" {
			return mcp.InvalidParams("params.name is missing: it must be the name of a prompt")
		}
		return unknownPrompt(req.Name)
	}
	caller := auth.FromContext(ctx)
	if denied := authorizePrompt(e.Endpoint, caller, p); denied != nil {
		return g.Refuse(ctx, req, denied)
	}
	given, err := req.StringArguments()
	if err != nil {
		return err
	}
	if err := p.check(given); err != nil {
		return err
	}
	if p.elicitor != nil {
		if given, err = p.ask(ctx, req, reply, given); err != nil {
			g.RefuseElicitation(ctx, req, err)
			return err
		}
	}
	if err := p.measure(given); err != nil {
		return err
	}
	b := promptBuilder{Getter: g, req: req, reply: reply, endpoint: e, prompt: p, given: given}
	if e.Guard != nil {
		b.caller = caller
	}
	if p.Description != "" {
		b.raw(`"description":`)
		b.chunks = append(b.chunks, mcp.Chunk{Bytes: jsonscan.AppendString(nil, p.Description)})
		b.raw(",")
	}
	if err := b.locate(ctx); err != nil {
		return err
	}
	b.share = b.tokens()
	b.raw(`"messages":[`)
	for i := range p.messages {
		if err := b.add(ctx, i); err != nil {
			return err
		}
	}
	b.raw("]")
	return reply.Result(b.chunks...)
}

// check reports all arguments that are missing or unknown.
func (p *Prompt) check(given map[string]string) error {
	var faults []string
	var missing []string
	known := map[string]bool{}
	shown := p.shown()
	for _, a := range shown {
		known[a.Name] = true
		if _, ok := given[a.Name]; p.requires(a) && !ok {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		faults = append(faults, "missing: "+joinQuoted(missing))
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			unknown = append(unknown, text.Truncate(name, 64))
		}
	}
	if n := len(unknown); n > 10 {
		unknown = append(unknown[:10], fmt.Sprintf("%d more", n-10))
	}
	if len(unknown) > 0 {
		faults = append(faults, "unknown: "+joinQuoted(unknown))
	}
	if len(faults) > 0 {
		takes := "it takes none"
		if len(shown) > 0 {
			var names []string
			for _, a := range shown {
				names = append(names, a.Name)
			}
			takes = "it takes " + joinQuoted(names)
		}
		return mcp.InvalidParams("the arguments of prompt %q are not right: %s; %s", p.Name, strings.Join(faults, "; "), takes)
	}
	return nil
}

// measure rejects arguments that make the prompt too large.
func (p *Prompt) measure(given map[string]string) error {
	size, value := 0, func(name string) string { return given[name] }
	for i := range p.messages {
		m := &p.messages[i]
		size += m.Text.Size(value) + m.Resource.Size(value)
		for name, argument := range m.Arguments {
			size += len(name) + argument.Size(valueIn(given))
		}
	}
	if size > maxPromptSize {
		return mcp.InvalidParams("prompt %q would have %d bytes with these arguments; at most %d are allowed", p.Name, size, maxPromptSize)
	}
	return nil
}

// promptBuilder builds the result of one prompts/get.
type promptBuilder struct {
	Getter
	req      *mcp.Request
	reply    *mcp.Reply
	endpoint *View
	caller   *auth.Principal // nil if no token was required
	prompt   *Prompt
	given    map[string]string

	found  map[int]located // the resources of messages, by index
	chunks []mcp.Chunk
	count  int // number of messages
	share  tokenShare
}

// located is a resource whose plan is known.
type located struct {
	uri  string
	plan *plan.Plan
	args []byte
}

// locate finds the resources of the prompt and checks that the caller may read all of them, before any call is made.
func (b *promptBuilder) locate(ctx context.Context) error {
	needs := b.prompt.needs
	for i := range b.prompt.messages {
		m := &b.prompt.messages[i]
		if m.Resource.IsZero() {
			continue
		}
		l := located{uri: m.Resource.FillURI(b.value)}
		l.plan, l.args = b.endpoint.Resources.Find(l.uri)
		unknown := mcp.InvalidParams("prompt %q can't be made: no resource has the URI %q", b.prompt.Name, text.Truncate(l.uri, resource.MaxShownURI))
		switch {
		case l.plan == nil:
			return unknown
		case promptObstacle(l.plan) != nil:
			return mcp.InvalidParams("prompt %q can't be made: its resource %q can't be read: %v", b.prompt.Name, text.Truncate(l.uri, resource.MaxShownURI), promptObstacle(l.plan))
		case b.endpoint.Guard != nil && b.endpoint.HideUnauthorized && !b.endpoint.Allows(b.caller, call.Operation(l.plan)):
			return b.Refuse(ctx, b.req, unknown)
		}
		if b.found == nil {
			b.found = map[int]located{}
		}
		b.found[i] = l
		needs = append(slices.Clip(needs), l.plan.Scopes)
	}
	if b.endpoint.Guard != nil && !b.endpoint.Grants(b.caller, needs) {
		return b.Refuse(ctx, b.req, b.endpoint.Forbid(b.caller, needs, "prompt"))
	}
	return nil
}

// promptNeeds returns the scopes that the caller of a prompt must have been granted, including those of the resources that the
// arguments select.
func (e *View) promptNeeds(p *Prompt, req *mcp.Request) call.Needs {
	given, err := req.StringArguments()
	if err != nil {
		return p.needs // rejected later in any case
	}
	value := func(name string) string { return given[name] }
	needs := slices.Clip(p.needs)
	if p.measure(given) != nil {
		return needs
	}
	for i := range p.messages {
		if m := &p.messages[i]; len(m.Resource.Places()) > 0 {
			if plan, _ := e.Resources.Find(m.Resource.FillURI(value)); plan != nil {
				needs = append(needs, plan.Scopes)
			}
		}
	}
	return needs
}

// Of returns the prompt that a request gets or completes, and the sets of scopes that it needs; nil if there is none.
func (e *View) Of(req *mcp.Request) (p *Prompt, needs call.Needs) {
	switch req.Method {
	case "prompts/get":
		if p = e.prompt(req.Name); p != nil {
			needs = e.promptNeeds(p, req)
		}
	case "completion/complete":
		if asked, err := req.Completion(); err == nil {
			if p = e.prompt(asked.Prompt); p != nil {
				needs = p.needs
			}
		}
	}
	return p, needs
}

// value returns the value of an argument, "" if it was left out.
func (b *promptBuilder) value(name string) string { return b.given[name] }

func (b *promptBuilder) raw(text string) {
	b.chunks = append(b.chunks, mcp.Chunk{Bytes: []byte(text)})
}

// message appends a message; the content is a JSON object.
func (b *promptBuilder) message(m *promptMessage, content ...mcp.Chunk) {
	if b.count++; b.count > 1 {
		b.raw(",")
	}
	b.raw(`{"role":"` + string(m.Role) + `","content":`)
	b.chunks = append(b.chunks, content...)
	b.raw("}")
}

func (b *promptBuilder) text(m *promptMessage, text []byte) {
	b.message(m, render.TextBlock(text)...)
}

// add appends the messages that the i-th message of the prompt expands to.
func (b *promptBuilder) add(ctx context.Context, i int) error {
	m := &b.prompt.messages[i]
	switch {
	case !m.Text.IsZero():
		b.text(m, []byte(m.Text.Fill(b.value)))
		return nil
	case !m.Resource.IsZero():
		return b.resource(ctx, m, b.found[i])
	}
	args := appendArguments(nil, m.Arguments, valueIn(b.given))
	out, err := b.Calls.Invoke(ctx, b.invocation(ctx, m.plan, args))
	if err != nil {
		return err
	}
	defer out.Close()
	if f := out.Failure; f != nil {
		if refused := b.endpoint.SubjectRefused(b.caller, f); refused != nil {
			return refused
		}
		code := mcp.CodeInternal
		if f.Outcome == telemetry.OutcomeArguments || f.Outcome == telemetry.OutcomeCondition {
			code = mcp.CodeInvalidParams
		}
		return &mcp.Error{Code: code, Message: fmt.Sprintf("prompt %q can't be made, because the call of its tool %q failed: %s", b.prompt.Name, m.Tool, f.Text)}
	}
	r := deliver.Renderer(out)
	if len(out.Parts) == 0 {
		b.text(m, []byte(r.EmptyText(out.Response)))
	}
	shown, note := b.ceil(out)
	for i, part := range shown {
		n := 0
		if len(shown) > 1 {
			n = i + 1
		}
		b.part(r, m, part, n)
	}
	if note != "" {
		b.text(m, []byte(note))
	}
	if render.IsUnended(out.Parts, out.Response) {
		b.text(m, []byte(render.Unended))
	}
	return nil
}

// invocation returns the invocation of a plan for the prompt.
func (b *promptBuilder) invocation(ctx context.Context, p *plan.Plan, args []byte) call.Invocation {
	inv := deliver.Invocation(ctx, b.endpoint.Endpoint, call.Operation(p), b.req, b.reply)
	inv.Origin, inv.Arguments, inv.Policy.Response = call.FromPrompt, args, call.Whole
	return inv
}

// resource appends messages with the contents of a resource.
func (b *promptBuilder) resource(ctx context.Context, m *promptMessage, l located) error {
	note := ""
	contents, err := resource.Read(ctx, b.Calls, b.invocation(ctx, l.plan, l.args), l.uri, func(out *call.Outcome) (parts []answer.Part) {
		parts, note = b.ceil(out)
		return parts
	})
	var refused *mcp.Error
	switch {
	case errors.As(err, &refused) && (refused.HTTPStatus == http.StatusUnauthorized || refused.HTTPStatus == http.StatusTooManyRequests || refused.HTTPStatus == http.StatusServiceUnavailable):
		return err
	case errors.As(err, &refused):
		code := refused.Code
		if code != mcp.CodeInternal {
			code = mcp.CodeInvalidParams
		}
		return &mcp.Error{Code: code, Message: fmt.Sprintf("prompt %q can't be made, because its resource %q can't be read: %s", b.prompt.Name, text.Truncate(l.uri, resource.MaxShownURI), refused.Message)}
	case err != nil:
		return err
	}
	for i := range contents {
		if caption := contents[i].Caption(); caption != "" {
			b.text(m, []byte(caption))
		}
		b.message(m, contents[i].Block()...)
	}
	if note != "" {
		b.text(m, []byte(note))
	}
	return nil
}

// part appends a message with a part of a response; n is its number among several, 0 if it is the only one.
func (b *promptBuilder) part(r *render.Renderer, m *promptMessage, part answer.Part, n int) {
	if part.Kind != answer.JSON && part.Kind != answer.Text {
		b.text(m, []byte(r.Caption(part, n)))
		b.message(m, mcp.Chunk{Bytes: r.BinaryBlock(part, n)})
		return
	}
	text := part.Data
	if part.Field != "" {
		text = append([]byte(part.Field+": "), text...)
	}
	b.text(m, text)
	if part.Events > 0 {
		b.text(m, []byte(render.CutOff(part.Events)))
	}
}

// valueIn returns a lookup function for given.
func valueIn(given map[string]string) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := given[name]
		return text, ok
	}
}

// appendArguments appends the arguments of a prompt's call, with the placeholders filled in from given.
func appendArguments(dst []byte, arguments map[string]config.Value, given func(name string) (string, bool)) []byte {
	dst = append(dst, '{')
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		value := arguments[name]
		if place, whole := value.Place(); whole {
			if _, ok := given(place); !ok {
				continue
			}
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(dst, name), ':')
		dst = value.AppendJSON(dst, given)
	}
	return append(dst, '}')
}

func joinQuoted(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, " and ")
}
