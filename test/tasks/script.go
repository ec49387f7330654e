package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"drawbridge/test/tasks/session"
)

// first is how many hits a model reads before it searches again.
const first = 5

// server is what a script does its tasks through: the gateway, or another program with tools that search.
type server interface {
	// tool returns the name of the tool of an operation.
	tool(operation string) (string, error)
	// found returns the tools in an answer of search_tools, each with the text that shows its arguments.
	found(answer string) []hit
	// describe returns a call that shows the arguments of a tool that a hit doesn't show; an empty name if there is none.
	describe(tool string) (name string, arguments map[string]any)
	// call returns the call of search mode that calls the tool of an operation.
	call(operation string, arguments map[string]any) (name string, all map[string]any)
}

// outcome is a task that was done.
type outcome struct {
	task          string
	calls, tokens int
	faults        []string
}

func (o *outcome) fault(format string, args ...any) {
	o.faults = append(o.faults, fmt.Sprintf(format, args...))
}

// play does a task by its script, in a session of its own.
func (w *world) play(ctx context.Context, t *task, endpoint string, to server, log io.Writer) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	v, err := w.prepare(ctx, t)
	if errors.Is(err, context.Canceled) {
		return outcome{}, err
	}
	if err != nil {
		return outcome{task: t.name, faults: []string{err.Error()}}, nil
	}
	s, err := session.Open(ctx, endpoint)
	if err != nil {
		return outcome{}, err
	}
	defer s.Close()
	p := &player{session: s, server: to, values: v, shown: map[string]string{}, said: map[string]string{}, log: log, outcome: outcome{task: t.name}}
	fmt.Fprintln(log, t.name)
	for i, step := range t.script {
		if err := p.step(ctx, step); err != nil {
			if errors.Is(err, context.Canceled) {
				return outcome{}, fmt.Errorf("%s: %w", t.name, err)
			}
			p.fault("step %d: %v", i+1, err)
			break // what comes after it needs what it had to do
		}
	}
	p.faults = append(p.faults, w.judge(ctx, t, v, p.answer)...)
	p.calls, p.tokens = s.Calls, s.Tokens
	return p.outcome, nil
}

// player is a script that runs.
type player struct {
	session *session.Session
	server  server
	values  values
	shown   map[string]string // what the answers so far show of the arguments, by tool
	said    map[string]string // all that they say of it
	answer  string
	log     io.Writer // each call
	outcome
}

// send makes a call of search mode and writes it to the log; detail says what it is about.
func (p *player) send(ctx context.Context, tool, detail string, arguments map[string]any) (session.Answer, error) {
	answer, err := p.session.Call(ctx, tool, arguments)
	if err == nil {
		fmt.Fprintf(p.log, "  %s %s: %d tokens\n", tool, detail, answer.Tokens)
	}
	return answer, err
}

func (p *player) step(ctx context.Context, s step) error {
	switch {
	case s.Search != "":
		return p.search(ctx, s)
	case s.Call != "":
		return p.call(ctx, s)
	default:
		answer, err := p.values.text(s.Answer)
		p.answer = answer
		return err
	}
}

// search asks for tools. One that is not among the first is a fault, and the script goes on as if a model had found it elsewhere.
func (p *player) search(ctx context.Context, s step) error {
	query, err := p.values.text(s.Search)
	if err != nil {
		return err
	}
	answer, err := p.send(ctx, "search_tools", query, map[string]any{"query": query})
	if err != nil {
		return err
	}
	if answer.IsError {
		return fmt.Errorf("search_tools: %.300s", answer.Text)
	}
	found := p.server.found(answer.Text)
	for _, h := range found {
		p.shown[h.tool] += " " + h.arguments
		p.said[h.tool] += " " + h.text
	}
	for _, operation := range s.Finds {
		name, err := p.server.tool(operation)
		if err != nil {
			return err
		}
		rank := slices.IndexFunc(found, func(h hit) bool { return h.tool == name })
		switch {
		case rank < 0:
			p.fault("%q doesn't find %s", query, name)
		case rank >= first:
			p.fault("%q finds %s only as number %d", query, name, rank+1)
		}
	}
	return nil
}

// call calls the tool of an operation. If no answer so far shows all its arguments, it is described first, as a model does it.
func (p *player) call(ctx context.Context, s step) error {
	name, err := p.server.tool(s.Call)
	if err != nil {
		return err
	}
	arguments, err := p.values.expand(s.Arguments)
	if err != nil {
		return err
	}
	members, _ := arguments.(map[string]any)
	tool, all := p.server.call(s.Call, members)
	if described, with := p.server.describe(name); described != "" && len(p.missing(name, s, members)) > 0 {
		detail := name + " for " + strings.Join(p.missing(name, s, members), ", ")
		answer, err := p.send(ctx, described, detail, with)
		if err != nil {
			return err
		}
		p.shown[name] += " " + answer.Text
		p.said[name] += " " + answer.Text
	}
	if missing := p.missing(name, s, all["arguments"]); len(missing) > 0 {
		p.fault("%s doesn't show %s", name, strings.Join(missing, ", "))
	}
	answer, err := p.send(ctx, tool, name, all)
	if err != nil {
		return err
	}
	if answer.IsError {
		return fmt.Errorf("%s: %.400s", name, strings.Join(strings.Fields(answer.Text), " "))
	}
	return p.values.keep(s.Keep, answer.Text)
}

// missing returns what no answer so far shows of the arguments of a step.
func (p *player) missing(tool string, s step, arguments any) []string {
	missing := hidden(arguments, s.Free, p.shown[tool])
	for _, word := range s.Shows {
		if !slices.Contains(words(p.said[tool]), word) {
			missing = append(missing, word)
		}
	}
	return missing
}

// words returns the words of a text in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// tool returns the name of the tool of an operation.
func (w *world) tool(operation string) (string, error) {
	o, ok := w.operations[operation]
	if !ok {
		return "", fmt.Errorf("the gateway has no tool of %s", operation)
	}
	return o.tool, nil
}

func (w *world) found(answer string) []hit { return hits(answer) }

func (w *world) describe(tool string) (name string, arguments map[string]any) {
	return "describe_tools", map[string]any{"names": []string{tool}}
}

func (w *world) call(operation string, arguments map[string]any) (name string, all map[string]any) {
	o := w.operations[operation]
	name = "call_tool"
	if o.readOnly {
		name = "read_tool"
	}
	if arguments == nil {
		arguments = map[string]any{}
	}
	return name, map[string]any{"name": o.tool, "arguments": arguments}
}
