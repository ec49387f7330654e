package arazzo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxDepth limits the nesting of parentheses and negations in a condition.
const maxDepth = 32

// node is a part of a simple condition.
type node interface {
	value(s Scope) json.RawMessage // nil if there is none
}

type (
	literal   json.RawMessage
	reference Expression
	negation  struct{ inner node }
	junction  struct {
		all         bool // && instead of ||
		left, right node
	}
	comparison struct {
		op          string
		left, right node
	}
)

func (l literal) value(Scope) json.RawMessage { return json.RawMessage(l) }

func (r reference) value(s Scope) json.RawMessage {
	v, _ := Expression(r).Evaluate(s)
	return v
}

func (n negation) value(s Scope) json.RawMessage { return truth(!isTrue(n.inner.value(s))) }

func (j junction) value(s Scope) json.RawMessage {
	if isTrue(j.left.value(s)) != j.all {
		return truth(!j.all)
	}
	return truth(isTrue(j.right.value(s)))
}

func (c comparison) value(s Scope) json.RawMessage {
	return truth(compare(c.left.value(s), c.op, c.right.value(s)))
}

func truth(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// isTrue reports whether a value passes as a condition: only true does.
func isTrue(value json.RawMessage) bool { return string(value) == "true" }

// compare compares two values loosely (Arazzo 1.1.0, "Condition Evaluation"): texts without regard to case, texts that are numbers as
// numbers beside a number, and null as equal to itself alone. An absent value is null: the examples of the specification test it so.
func compare(left json.RawMessage, op string, right json.RawMessage) bool {
	null := json.RawMessage("null")
	if left == nil {
		left = null
	}
	if right == nil {
		right = null
	}
	a, b := jsonscan.KindOf(left), jsonscan.KindOf(right)
	switch {
	case a == jsonscan.Null || b == jsonscan.Null:
		return a == b && (op == "==" || op == "<=" || op == ">=") || a != b && op == "!="
	case a == jsonscan.Number || b == jsonscan.Number:
		x, y := numberIn(left), numberIn(right)
		if x == nil || y == nil {
			return op == "!="
		}
		return holds(op, compareNumbers(x, y))
	case a == jsonscan.String && b == jsonscan.String:
		x, y := strings.ToLower(string(jsonscan.Unquote(left))), strings.ToLower(string(jsonscan.Unquote(right)))
		return holds(op, strings.Compare(x, y))
	}
	same := a == b && bytes.Equal(jsonscan.AppendCanonical(nil, left), jsonscan.AppendCanonical(nil, right))
	return op == "==" && same || op == "!=" && !same
}

// holds reports whether an operator accepts the order of its sides, which is negative, 0 or positive.
func holds(op string, order int) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// conditionParser parses a simple condition.
type conditionParser struct {
	text        string
	at          int // offset in text
	depth       int
	expressions []Expression
}

// parseCondition parses a simple condition and returns the expressions in it.
func parseCondition(text string) (node, []Expression, error) {
	p := &conditionParser{text: text}
	n, err := p.junction(false)
	if err == nil && p.at < len(p.text) {
		err = p.unexpected("an operator such as == or &&")
		if strings.HasPrefix(p.text[p.at:], "=") {
			err = fmt.Errorf("%w; equality is written ==", err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return n, p.expressions, nil
}

func (p *conditionParser) unexpected(expected string) error {
	p.space()
	if p.at >= len(p.text) {
		return fmt.Errorf("the condition %q ends where %s is expected", p.text, expected)
	}
	return fmt.Errorf("the condition %q has %q where %s is expected", p.text, p.text[p.at:], expected)
}

func (p *conditionParser) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
}

// take skips a token if it is next.
func (p *conditionParser) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

// junction parses operands joined by || or, if all, by &&.
func (p *conditionParser) junction(all bool) (node, error) {
	operand, op := func() (node, error) { return p.junction(true) }, "||"
	if all {
		operand, op = p.comparison, "&&"
	}
	left, err := operand()
	for err == nil && p.take(op) {
		var right node
		right, err = operand()
		left = junction{all, left, right}
	}
	return left, err
}

func (p *conditionParser) comparison() (node, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			right, err := p.unary()
			return comparison{op, left, right}, err
		}
	}
	return left, nil
}

func (p *conditionParser) unary() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("the condition is nested more than %d levels deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.take("!"):
		inner, err := p.unary()
		return negation{inner}, err
	case p.take("("):
		inner, err := p.junction(false)
		if err == nil && !p.take(")") {
			err = p.unexpected("a closing parenthesis")
		}
		return inner, err
	case p.take("'"):
		return p.quoted()
	}
	return p.word()
}

// quoted parses the rest of a text in single quotes, in which two quotes stand for one.
func (p *conditionParser) quoted() (node, error) {
	var b strings.Builder
	for {
		before, after, closed := strings.Cut(p.text[p.at:], "'")
		if !closed {
			return nil, fmt.Errorf("the condition %q has a text without its closing quote", p.text)
		}
		b.WriteString(before)
		p.at = len(p.text) - len(after)
		if !strings.HasPrefix(after, "'") {
			return literal(jsonscan.AppendString(nil, b.String())), nil
		}
		b.WriteByte('\'')
		p.at++
	}
}

// word parses an expression or another literal than a text.
func (p *conditionParser) word() (node, error) {
	end := strings.IndexAny(p.text[p.at:], " \t\r\n()=!<>&|'")
	if end < 0 {
		end = len(p.text) - p.at
	}
	word := p.text[p.at : p.at+end]
	if strings.HasPrefix(word, "$") {
		e, err := ParseExpression(word)
		if err != nil {
			return nil, err
		}
		p.at += end
		p.expressions = append(p.expressions, e)
		return reference(e), nil
	}
	info, err := jsonscan.Scan([]byte(word), jsonscan.Options{})
	switch {
	case err == nil && (info.Kind == jsonscan.Number || info.Kind == jsonscan.Bool || info.Kind == jsonscan.Null):
		p.at += end
		return literal(word), nil
	case strings.HasPrefix(word, `"`):
		return nil, fmt.Errorf("the condition %q has a text in double quotes; single quotes are expected", p.text)
	}
	return nil, p.unexpected("a runtime expression, true, false, null, a number or a text in single quotes")
}
