package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"

	"drawbridge/gateway"
	"drawbridge/test/judges/generate"
)

// verdict is what became of one operation.
type verdict uint8

// The verdicts, from bad to good: that of an operation is the worst of its calls.
const (
	refused    verdict = iota // Prism finds a fault in the request, or the gateway does in the arguments
	failed                    // the request is right, the result has isError
	explained                 // refused or failed, and a rule says why that is right
	unanswered                // the request is right, and Prism has no answer
	answered                  // the request is right, and so is the result
	unable                    // Prism can't judge: not in the count
)

// finding is one verdict with its reason.
type finding struct {
	verdict   verdict
	operation string
	path      string
	listed    served
	reason    string
	rule      string
	open      string // the first violation that no rule explains
	arguments json.RawMessage
	request   string
	headers   http.Header // of the request
	accepted  bool        // Prism finds no fault in the request, whatever becomes of its answer
	status    int
	input     json.RawMessage // the schema of the arguments
}

// outcome is what became of one document.
type outcome struct {
	document string
	problem  string // why nothing of it was judged
	removed  int
	opened   int
	tools    int // of the gateway
	sampled  int
	unlisted int       // tools that Prism does not list
	findings []finding // one for each operation, with generated arguments one for each call
}

// judge calls the tools of one document, at most so many of them (0: all).
func judge(ctx context.Context, o options, d document, most int, r *rand.Rand) outcome {
	out := outcome{document: filepath.Base(d.file)}
	p, err := startPrism(ctx, o.packages, d.file, o.patience)
	if err != nil {
		out.problem = "Prism: " + err.Error()
	} else {
		defer p.stop()
		out.removed = p.Removed
	}
	address, c := "http://127.0.0.1:9", (*credential)(nil)
	if p != nil {
		address, c = p.Address, p.Credential
	}
	relay := newRelay(address)
	defer relay.Close()
	front, err := newFront(ctx, d, o.overlays, relay.URL, c)
	if err != nil {
		out.problem = strings.TrimSpace(out.problem + " gateway: " + err.Error())
		return out
	}
	plans := front.gateway.Plans()
	out.tools = len(plans)
	if p == nil {
		return out
	}
	lists := map[string]served{}
	for _, s := range p.Operations {
		lists[s.Method+" "+s.Path] = s
		if s.Opened {
			out.opened++
		}
	}
	r.Shuffle(len(plans), func(i, k int) { plans[i], plans[k] = plans[k], plans[i] })
	for _, plan := range plans {
		if most > 0 && out.sampled >= most {
			break
		}
		out.sampled++
		op := plan.Tool.Operation
		listed, ok := lists[op.Method+" "+op.Path]
		if !ok {
			out.unlisted++
			out.findings = append(out.findings, finding{verdict: unable, operation: op.Method + " " + op.Path, reason: "Prism does not list it"})
			continue
		}
		worst := finding{verdict: unable + 1}
		for i := range o.calls {
			f := call(ctx, o.values(i), front, relay, plan, listed, r)
			if o.generated > 0 {
				out.findings = append(out.findings, f)
			} else if f.verdict < worst.verdict {
				worst = f
			}
		}
		if o.generated == 0 {
			out.findings = append(out.findings, worst)
		}
	}
	return out
}

// call makes one call, with arguments of the first kind of values for which the gateway sends a request.
func call(ctx context.Context, values []generate.Options, front *front, relay *relay, plan *gateway.Plan, listed served, r *rand.Rand) finding {
	op := plan.Tool.Operation
	f := finding{operation: op.Method + " " + op.Path, path: op.Path, listed: listed, input: op.Input}
	schema, err := generate.New(op.Input)
	if err != nil {
		f.reason = "the schema of the arguments: " + err.Error()
		return f
	}
	var answer result
	var x *exchange
	for _, o := range values {
		f.arguments, err = schema.Instance(r, o)
		if err != nil {
			f.reason = "no arguments were found: " + err.Error()
			return f.explain()
		}
		relay.take()
		if answer, err = front.call(ctx, plan.Tool.Name, f.arguments); err != nil {
			f.reason = "/mcp: " + err.Error()
			return f
		}
		if x = relay.take(); x != nil {
			break
		}
	}
	if x == nil {
		f.reason = "the gateway: " + answer.text()
		if strings.Contains(f.reason, "did not answer in time") {
			f.verdict = unable // the request was sent
			f.reason = "TIMEOUT: Prism did not answer in time"
			return f
		}
		return f.explain()
	}
	f.request, f.headers = x.request, x.sent
	f.verdict, f.reason = x.verdict()
	f.accepted = f.verdict == answered || f.verdict == unanswered
	f.status = x.status
	if f.verdict == answered && answer.IsError {
		f.verdict, f.reason = failed, fmt.Sprintf("%d %.300s", x.status, answer.text())
	}
	return f.explain()
}

// values are the kinds of arguments that the i-th call of a tool is tried with. Generated ones are tried once, since what
// is refused before it is sent is a finding. The texts of every other call are plain: most sets of arguments with edges
// have one text that can't stand in its header or path, which would hide everything else.
func (o options) values(i int) []generate.Options {
	if o.generated > 0 {
		return []generate.Options{{Plain: i%2 == 0, NoExamples: true, SafeNumbers: true, Exclusive: true, Bounds: true, Optional: 0.5}}
	}
	plain := generate.Options{Plain: true, NoEmpty: true, SafeNumbers: true, Exclusive: true}
	made := plain
	made.NoExamples = true
	return []generate.Options{plain, plain, made, made} // examples can't always stand in a path
}

// violation is one member of the header sl-violations, or of a problem of Prism's own.
type violation struct {
	Location []string
	Severity string
	Code     any
	Message  string
}

// verdict looks at what Prism says of a request.
func (x *exchange) verdict() (verdict, string) {
	if x.err != nil {
		return unanswered, "Prism broke off: " + x.err.Error()
	}
	var problem struct {
		Type       string
		Title      string
		Detail     string
		Validation []violation
	}
	own := ""
	body := x.body
	if x.unsaid != "" {
		body = []byte(x.unsaid)
	}
	if strings.HasPrefix(x.header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(body, &problem) == nil {
		own, _ = strings.CutPrefix(problem.Type, "https://stoplight.io/prism/errors#")
		if own == problem.Type {
			own = ""
		}
	}
	switch own {
	case "":
	case "UNPROCESSABLE_ENTITY", "INVALID_CONTENT_TYPE", "UNAUTHORIZED":
		if text := violations(problem.Validation); text != "" {
			return refused, text
		}
		return refused, own + ": " + problem.Detail
	case "SCHEMA_TOO_COMPLEX", "NOT_ACCEPTABLE", "NO_RESPONSE_RESPONSE_DEFINED", "NO_COMPLEX_OBJECT_TEXT":
		return unanswered, own + ": " + problem.Detail // it looks for an answer once the request is right
	default:
		return unable, own + ": " + cmp.Or(problem.Detail, problem.Title)
	}
	if header := x.header.Get("Sl-Violations"); header != "" {
		if text := violations(readViolations(header)); text != "" {
			return refused, text
		}
	}
	if x.status == http.StatusInternalServerError && !strings.Contains(x.header.Get("Content-Type"), "json") {
		return unable, fmt.Sprintf("500 %.300s", x.body)
	}
	return answered, ""
}

// readViolations reads the header sl-violations as far as it goes: what is too long is cut. Those of the request come
// first.
func readViolations(header string) (all []violation) {
	header, _ = strings.CutPrefix(header, "Too many violations! ")
	d := json.NewDecoder(strings.NewReader(header))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		var v violation
		if err := d.Decode(&v); err != nil {
			break
		}
		all = append(all, v)
	}
	return all
}

// violations are those that speak of the request, "" if there are none.
func violations(all []violation) string {
	var texts []string
	for _, v := range all {
		if v.Severity != "Error" || len(v.Location) > 0 && v.Location[0] == "response" {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: %s (%v)", strings.Join(v.Location, "."), v.Message, v.Code))
	}
	return strings.Join(texts, "; ")
}

var errMissed = errors.New("a target is missed")
