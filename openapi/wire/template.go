package wire

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Template is a path with variables (OAS "Path Templating"), its literals escaped. It is immutable.
//
// Beyond the standard it accepts common extensions: "{+name}" and "{name*}" (RFC 6570, Google), a fixed query after the
// path, "{?a,b}", and a fragment, which only distinguishes operations and is dropped.
type Template struct {
	parts     []part
	names     []string
	reserved  []bool
	query     string
	variables []QueryVariable
	illegal   string
}

// A part is a literal, or a variable if literal is "". No literal extends past a "/" that is not its first byte.
type part struct {
	literal  string
	variable int
}

// A QueryVariable is a variable in the query after a path, "/orders?action={name}": a parameter that is to be sent as
// Key. Its pair is not part of [Template.Query].
type QueryVariable struct{ Key, Name string }

// ParseTemplate compiles a path template of a document. It fails on expressions without an end or a name, and on
// literal dot segments, which would leave the base path.
func ParseTemplate(template string) (*Template, error) {
	t := &Template{}
	path, _ := cutOutside(template, '#')
	path, query := cutOutside(path, '?')
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if err := t.parsePath(path); err != nil {
		return nil, fmt.Errorf("path template %q: %w", template, err)
	}
	if err := t.parseQuery(query); err != nil {
		return nil, fmt.Errorf("path template %q: %w", template, err)
	}
	return t, nil
}

// Names returns the variables of the path in the order of their first occurrence. Do not change the slice.
func (t *Template) Names() []string { return t.names }

// Reserved reports whether variable i is written "{+name}" (RFC 6570 section 3.2.3): its value may contain slashes, so
// its [Parameter] needs SlashRaw.
func (t *Template) Reserved(i int) bool { return t.reserved[i] }

// EndsWith reports whether the last segment of the path is variable i, and nothing else.
func (t *Template) EndsWith(i int) bool {
	n := len(t.parts)
	return n > 1 && t.parts[n-1].literal == "" && t.parts[n-1].variable == i && strings.HasSuffix(t.parts[n-2].literal, "/")
}

// Spanning returns the template with variable i written "{+name}".
func (t *Template) Spanning(i int) *Template {
	if t.reserved[i] {
		return t
	}
	spanning := *t
	spanning.reserved = slices.Clone(t.reserved)
	spanning.reserved[i] = true
	return &spanning
}

// Below returns the template of the paths below an escaped base path, for [Template.Match], [Template.Claimed] and [Unfolded].
func (t *Template) Below(base string) *Template {
	below := *t
	below.parts = nil
	below.addLiteral(strings.TrimRight(base, "/"))
	below.parts = append(below.parts, t.parts...)
	return &below
}

// Query returns the fixed query of the template, escaped and without "?"; "" if there is none.
func (t *Template) Query() string { return t.query }

// QueryVariables returns the variables in the query of the template. Do not change the slice.
func (t *Template) QueryVariables() []QueryVariable { return t.variables }

// Illegal returns the characters of the literals that are not allowed in a URI (RFC 3986 sections 3.3 and 3.4), each
// once: [Template.Append] and [Template.Query] escape them.
func (t *Template) Illegal() string { return t.illegal }

// Append appends the escaped path. It calls value for each variable, by its index in Names, to append the escaped
// value, and returns its error. A [*SegmentError] is returned for values that together with the text around them make a
// dot segment.
func (t *Template) Append(dst []byte, value func(i int, dst []byte) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	segment, first, filled := start, 0, false // start of the current segment, its first part, and whether it has a variable
	check := func(last int) error {
		err := checkSegments(dst[segment:], true)
		if err == nil {
			return nil
		}
		e := &SegmentError{err: err}
		for _, p := range t.parts[first:last] {
			if p.literal == "" {
				e.Variables = append(e.Variables, p.variable)
			}
		}
		return e
	}
	for i, p := range t.parts {
		if p.literal != "" {
			if p.literal[0] == '/' {
				if filled {
					if err := check(i); err != nil {
						return dst[:start], err
					}
				}
				segment, first, filled = len(dst)+1, i, false
			}
			dst = append(dst, p.literal...)
			continue
		}
		out, err := value(p.variable, dst)
		if err != nil {
			return dst[:start], err
		}
		dst, filled = out, true
	}
	if filled {
		if err := check(len(t.parts)); err != nil {
			return dst[:start], err
		}
	}
	return dst, nil
}

func (t *Template) parsePath(path string) error {
	for _, segment := range strings.SplitAfter(path, "/") {
		if err := checkSegments([]byte(segment), false); err != nil {
			return err
		}
	}
	for path != "" {
		open := strings.IndexByte(path, '{')
		if open < 0 {
			open = len(path)
		}
		t.addLiteral(path[:open])
		if path = path[open:]; path == "" {
			break
		}
		expression, rest, err := cutExpression(path)
		if err != nil {
			return err
		}
		path = rest
		if variables, ok := strings.CutPrefix(expression, "?"); ok {
			for name := range strings.SplitSeq(variables, ",") {
				name = strings.TrimSuffix(name, "*")
				t.variables = append(t.variables, QueryVariable{Key: name, Name: name})
			}
			continue
		}
		name, reserved := strings.CutPrefix(expression, "+")
		if name = strings.TrimSuffix(name, "*"); name == "" {
			return fmt.Errorf("{%s} has no name", expression)
		}
		i := slices.Index(t.names, name)
		if i < 0 {
			i = len(t.names)
			t.names, t.reserved = append(t.names, name), append(t.reserved, reserved)
		}
		t.parts = append(t.parts, part{variable: i})
	}
	return nil
}

func (t *Template) addLiteral(s string) {
	for s != "" {
		n := strings.IndexByte(s[1:], '/') + 1
		if n == 0 {
			n = len(s)
		}
		t.parts = append(t.parts, part{literal: string(t.escape(nil, s[:n], pathChar))})
		s = s[n:]
	}
}

func (t *Template) parseQuery(query string) error {
	var fixed []byte
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(value, "{") {
			name, rest, err := cutExpression(value)
			if err != nil {
				return err
			}
			if name == "" || rest != "" {
				return fmt.Errorf("the query %q mixes a variable with text", pair)
			}
			t.variables = append(t.variables, QueryVariable{Key: key, Name: name})
			continue
		}
		if strings.ContainsAny(pair, "{}") {
			return fmt.Errorf("the query %q mixes a variable with text", pair)
		}
		if pair == "" {
			continue
		}
		if len(fixed) > 0 {
			fixed = append(fixed, '&')
		}
		fixed = t.escape(fixed, pair, queryChar)
	}
	t.query = string(fixed)
	return nil
}

// escape appends a literal, escaped if necessary.
func (t *Template) escape(dst []byte, literal string, keep class) []byte {
	for i, c := range literal {
		legal := c < utf8.RuneSelf && classes[c]&keep != 0 || c == '%' && passes(literal, i, keep)
		if !legal && !strings.ContainsRune(t.illegal, c) {
			t.illegal += string(c)
		}
	}
	return appendEscaped(dst, literal, keep, 0)
}

// cutExpression cuts the template expression at the beginning of s. Braces in it must balance, since some frameworks
// put a pattern there: "{id:[0-9]{3}}".
func cutExpression(s string) (expression, rest string, err error) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], nil
			}
		}
	}
	return "", "", fmt.Errorf("%q has no closing brace", s)
}

// cutOutside cuts s around the first sep that is not inside braces.
func cutOutside(s string, sep byte) (before, after string) {
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth = max(depth-1, 0)
		case c == sep && depth == 0:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
