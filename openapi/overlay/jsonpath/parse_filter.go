package jsonpath

import "strings"

// disjunction reads a logical expression.
func (p *parser) disjunction() (expression, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var any or
	for {
		p.blank()
		all, err := p.conjunction()
		if err != nil {
			return nil, err
		}
		any = append(any, all)
		before := p.at
		if p.blank(); !p.take("||") {
			p.at = before
			break
		}
	}
	if len(any) == 1 {
		return any[0], nil
	}
	return any, nil
}

func (p *parser) conjunction() (expression, error) {
	var all and
	for {
		p.blank()
		e, err := p.basic()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
		before := p.at
		if p.blank(); !p.take("&&") {
			p.at = before
			break
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// basic reads an expression in parentheses, a comparison or a test.
func (p *parser) basic() (expression, error) {
	start := p.at
	negated := p.take("!")
	if negated {
		p.blank()
	}
	var e expression
	var err error
	if p.take("(") {
		e, err = p.parenthesized()
	} else {
		p.at = start
		e, err = p.test()
	}
	if err == nil && negated {
		e = not{e}
	}
	return e, err
}

func (p *parser) parenthesized() (expression, error) {
	e, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if p.blank(); !p.take(")") {
		return nil, p.expected("&&, || or )")
	}
	return e, nil
}

// test parses a comparison, or the test of a query or function. The caller has removed a leading !.
func (p *parser) test() (expression, error) {
	negated := p.take("!")
	if negated {
		p.blank()
	}
	start := p.at
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	end := p.at
	p.blank()
	if op := p.comparison(); op != "" {
		if negated {
			p.at = start
			return nil, p.wrong("a comparison can't be negated without parentheses")
		}
		return p.compared(left, op, start)
	}
	p.at = end
	switch left := left.(type) {
	case *Query:
		return exists{left}, nil
	case *call:
		if left.function.logical {
			return truth{left}, nil
		}
	}
	p.blank()
	return nil, p.expected("a comparison, since a value alone is not a test")
}

// comparison parses a comparison operator; "" if there is none.
func (p *parser) comparison() string {
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			return op
		}
	}
	return ""
}

// compared reads the right side of a comparison, whose left side began at start.
func (p *parser) compared(left operand, op string, start int) (expression, error) {
	p.blank()
	second := p.at
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if isValue(left) && isValue(right) {
		return comparison{left: left, right: right, op: op}, nil
	}
	if p.at = second; !isValue(left) {
		p.at = start
	}
	return nil, p.wrong("only literals, queries that lead to one value, and functions that return a value can be compared")
}

// isValue reports whether an operand is at most one value.
func isValue(o operand) bool {
	switch o := o.(type) {
	case *Query:
		return o.isSingular()
	case *call:
		return !o.function.logical
	}
	return true
}

// operand reads a literal, a query or a function call.
func (p *parser) operand() (operand, error) {
	switch c := p.peek(); {
	case c == '@' || c == '$':
		start := p.at
		p.at++
		segments, err := p.segments()
		return &Query{text: p.in[start:p.at], root: c == '$', segments: segments}, err
	case c == '\'' || c == '"':
		text, err := p.quoted()
		return &literal{text: &text}, err
	case c == '-' || c >= '0' && c <= '9':
		n, err := p.number()
		return &literal{number: &n}, err
	case c >= 'a' && c <= 'z':
		return p.word()
	}
	return nil, p.expected("a query, a literal, a function or (")
}

// word reads true, false, null or a function call.
func (p *parser) word() (operand, error) {
	start := p.at
	for p.at < len(p.in) && strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789_", p.in[p.at]) >= 0 {
		p.at++
	}
	name := p.in[start:p.at]
	if p.peek() == '(' {
		return p.call(name, start)
	}
	switch name {
	case "true", "false":
		is := name == "true"
		return &literal{truth: &is}, nil
	case "null":
		return &literal{}, nil
	}
	p.at = start
	return nil, p.wrong("%q is neither a function nor a literal; quote a text", name)
}

// call reads the arguments of a function at the opening parenthesis.
func (p *parser) call(name string, start int) (operand, error) {
	f := functionNamed(name)
	if f == nil {
		p.at = start
		return nil, p.wrong("there is no function %s(); RFC 9535 has length, count, match, search and value", name)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	c := &call{function: f}
	for p.blank(); !p.take(")"); p.blank() {
		if len(c.args) > 0 && !p.take(",") {
			return nil, p.expected(", or )")
		}
		p.blank()
		at := p.at
		arg, err := p.operand()
		if err != nil {
			return nil, err
		}
		if _, isQuery := arg.(*Query); f.nodes && !isQuery || !f.nodes && !isValue(arg) {
			p.at = at
			return nil, p.wrong("%s() takes %s", name, f.takes)
		}
		c.args = append(c.args, arg)
	}
	if len(c.args) != f.args {
		p.at = start
		return nil, p.wrong("%s() takes %s, found %d arguments", name, f.takes, len(c.args))
	}
	return c, p.literalPattern(c, start)
}

// literalPattern checks the limits of a regular expression that is a literal in the query.
func (p *parser) literalPattern(c *call, start int) error {
	if !c.function.logical {
		return nil
	}
	l, ok := c.args[1].(*literal)
	if !ok || l.text == nil {
		return nil
	}
	if _, _, err := parsePattern(*l.text); err != nil {
		p.at = start
		return p.wrong("%v", err)
	}
	return nil
}
