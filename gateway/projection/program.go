package projection

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/itchyny/gojq"
)

const (
	// MaxProgram is the maximum length of an expression in bytes.
	MaxProgram = 4096
	// MaxProgramInput is the size of an answer, in bytes, beyond which expressions are not evaluated: a decoded answer takes
	// about twenty times its size in memory.
	MaxProgramInput = 2 << 20
	// smallInput is the size of an answer up to which any number is evaluated at the same time.
	smallInput = 64 << 10
)

// A Compiler compiles the expressions of one configuration, which share a limit on the evaluations of large answers.
type Compiler struct {
	slots chan struct{}
}

// NewCompiler returns a compiler whose programs are evaluated on as many large answers at the same time as there are
// processors.
func NewCompiler() *Compiler {
	return &Compiler{slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// A Program is an expression in jq that was checked and compiled. It is immutable and safe for concurrent use.
//
// jq is a programming language; an answer needs only a part of it. A program has no loops but those over the members and
// elements of the answer, reads nothing but the answer, and calculates nothing. See [Compiler.Compile].
type Program struct {
	query    *gojq.Query // as it was checked, without guards
	code     *gojq.Code
	matchers []matcher     // its regular expressions, as guards refer to them
	slots    chan struct{} // of large answers that are evaluated
}

// Compile compiles an expression. The error joins all reasons why it is refused, one for each fault:
//
//   - it is no jq, or too long;
//   - it may give several values, or calls a function or has an operator that is not part of the subset;
//   - it calculates with numbers, or has a number that jq would write with other digits.
func (c *Compiler) Compile(text string) (*Program, error) {
	if len(text) > MaxProgram {
		return nil, fmt.Errorf("has %d bytes, more than %d", len(text), MaxProgram)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	k := checker{}
	result := k.query(query, value{})
	if len(k.faults) == 0 && result.gives == many {
		k.fault("may give several values: put it in brackets, [ … ], for an array of them")
	}
	if len(k.faults) > 0 {
		return nil, errors.Join(k.faults...)
	}
	guarded, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	var g guards
	g.query(guarded)
	code, err := gojq.Compile(guarded, gojq.WithVariables([]string{meterVariable}), gojq.WithFunction(guardFunction, 4, 4, guard))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "gojq: "))
	}
	return &Program{query: query, code: code, matchers: g.matchers, slots: c.slots}, nil
}

// syntaxError returns the error of the parser with the place in the text.
func syntaxError(text string, err error) error {
	var p *gojq.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("is not jq: %w", err)
	}
	at := min(max(p.Offset-len(p.Token), 0), len(text))
	what := fmt.Sprintf("unexpected %q", p.Token)
	if p.Token == "" {
		what = "unexpected end"
	}
	if before := strings.ToValidUTF8(text[max(at-20, 0):at], ""); before != "" {
		what += fmt.Sprintf(" after %q", before)
	}
	return fmt.Errorf("is not jq: %s, at byte %d", what, at)
}

// Errors of [Program.Run], as a phrase that goes on from "the expression". ErrNotJSON is for answers that Run can't be given.
var (
	errTooLarge = fmt.Errorf("is not evaluated on answers of more than %d MiB", MaxProgramInput>>20)
	errNoValue  = errors.New("gave no value")
	errSeveral  = errors.New("gave several values")
	errLong     = errors.New("gave more than the answer has")
	errShape    = errors.New("does not fit the shape of this answer")
	ErrNotJSON  = errors.New("selects from JSON, but the answer is not JSON")
)

// Run evaluates the program on an answer, which must be valid JSON. Numbers that are selected keep their digits; members come
// sorted by name, as jq writes them. An error means that the answer can't be projected: it takes too much work, or the answer does
// not have the shape that the program expects. The work is counted, so the same answer has the same result however busy the machine
// is. ctx is that of the call, and ends the evaluation with it.
func (p *Program) Run(ctx context.Context, data []byte) (projected []byte, err error) {
	if len(data) > MaxProgramInput {
		return nil, errTooLarge
	}
	if len(data) > smallInput {
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-ctx.Done():
			return nil, fmt.Errorf("was not evaluated before the call ended: %w", ctx.Err())
		}
	}
	defer func() {
		if v := recover(); v != nil { // of the library
			projected, err = nil, fmt.Errorf("failed: %v", v)
		}
	}()
	input, err := decode(data)
	if err != nil {
		return nil, err
	}
	m := newMeter(ctx, len(data), p.matchers)
	iter := p.code.RunWithContext(m, input, m)
	result, ok := iter.Next()
	if !ok {
		return nil, runError(m, errNoValue)
	}
	if err, failed := result.(error); failed {
		return nil, runError(m, err)
	}
	if _, more := iter.Next(); more || m.err != nil {
		return nil, runError(m, errSeveral)
	}
	e := encoder{ctx: ctx, most: 2*len(data) + 1<<12}
	if err := e.value(result, 0); err != nil {
		return nil, runError(m, err)
	}
	return e.out, nil
}

// runError returns the error of an evaluation without values of the answer, which the texts of jq repeat.
func runError(m *meter, err error) error {
	switch {
	case errors.Is(m.err, errTooMuch):
		return errTooMuch
	case m.err != nil:
		return fmt.Errorf("was not evaluated before the call ended: %w", m.err)
	}
	for _, own := range []error{errSeveral, errLong, errNoValue} {
		if errors.Is(err, own) {
			return own
		}
	}
	var depth *depthError
	if errors.As(err, &depth) {
		return depth
	}
	return errShape
}
