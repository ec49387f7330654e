package openapi

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/wire"
)

// bracedPath returns the path of an operation with its variables as the standard has them (OAS "Path Templating"). Many
// documents are written after the routes of a web framework, and no service wants the notation itself:
//
//	/videos/:id  /:id(\d+)  /:id?              Express, Rails, Gin
//	/items/<id>  <int:id>  <id:int>            Flask, Django, Bottle
//	/items/(?P<id>\d+)                         regular expressions of Django
//	/files/[id]  [...path]                     Next.js
//	{{id}}  %7Bid%7D                           Postman; escaped by a generator
//	(.{format})  (.:format)  (.json)  (/:id)   optional parts of Rails and Grape; [/{id}] of Slim
//	${id}                                      template literals of JavaScript, if a parameter has the name
//	{id:int}  {id?}  {id=5}  {*path}  {path+}  ASP.NET, JAX-RS, gRPC, Spring, API Gateway
//
// The path is reported then. A ":" within a segment begins one of Google's custom verbs ("/items/{id}:cancel") unless a path
// parameter has that name, and so does "*" at the beginning of one.
func (c *compiler) bracedPath(op *Operation, m *model) string {
	r := pathReader{text: strings.TrimFunc(op.Path, unicode.IsSpace), declared: m.declaresInPath, ofPath: m.declaresOfPath}
	for r.at < len(r.text) {
		r.step()
	}
	path := r.out.String()
	if path != op.Path {
		c.problems.at(m.node, codePathVariable, "the path %q is read as %q", op.Path, path)
	}
	return path
}

// declaresInPath reports whether a parameter of path or query has the name.
func (m *model) declaresInPath(name string) bool {
	return slices.ContainsFunc(m.parameters, func(p parameter) bool {
		return p.typed.Name == name && (p.typed.In == wire.Path.String() || p.typed.In == wire.Query.String())
	})
}

// declaresOfPath reports whether a parameter of the path has the name.
func (m *model) declaresOfPath(name string) bool {
	return slices.ContainsFunc(m.parameters, func(p parameter) bool { return p.typed.Name == name && p.typed.In == wire.Path.String() })
}

// A pathReader rewrites one path, from left to right.
type pathReader struct {
	text     string
	declared func(name string) bool // reports whether a parameter of path or query has the name
	ofPath   func(name string) bool // reports whether a parameter of the path has the name
	closing  []int                  // ends of the optional parts that are kept
	at       int
	colons   bool // the segment began with ":name"
	query    bool // the path has ended
	open     bool // a bracket had no partner: the search is not repeated, which would take quadratic time
	out      strings.Builder
}

// step reads one variable, or one byte.
func (r *pathReader) step() {
	rest := r.text[r.at:]
	start := r.at == 0 || r.text[r.at-1] == '/'
	if start {
		r.colons = false
	}
	for n := len(r.closing); n > 0 && r.closing[n-1] <= r.at; n = len(r.closing) {
		at := r.closing[n-1]
		if r.closing = r.closing[:n-1]; at == r.at {
			r.at++
			return
		}
	}
	if r.optional(rest) {
		return
	}
	switch rest[0] {
	case '$': // a template literal; others are placeholders, which were refused
		if _, brace := openingOf(rest); brace == 1 {
			r.write(1, "")
			return
		}
	case '{':
		if expression, n := r.balanced(rest, '{', '}'); n > 0 {
			r.write(n, r.expression(expression))
			return
		}
	case '%':
		if name, n := r.escapedBraces(rest); n > 0 {
			r.write(n, "{"+name+"}")
			return
		}
	case '<':
		if inner, _, found := strings.Cut(rest[1:min(len(rest), maxAngled)], ">"); found {
			if standard := r.angled(inner); standard != "" {
				r.write(len(inner)+2, standard)
				return
			}
		}
	case '(':
		if name := namedGroup.FindStringSubmatch(rest); name != nil && !r.query {
			if _, n := r.balanced(rest, '(', ')'); n > 0 {
				r.write(n, "{"+name[1]+"}")
				return
			}
		}
	case '[':
		if found := bracketed.FindStringSubmatch(rest); found != nil && start && !r.query {
			standard := "{" + found[3] + "}"
			if found[2] != "" {
				standard = "{+" + found[3] + "}"
			}
			r.write(len(found[1]), standard)
			return
		}
	case ':':
		if name, n := r.colon(rest, start); n > 0 {
			r.write(n, name)
			r.colons = r.colons || start
			return
		}
	case '*':
		if name := routeName(rest[1:]); start && !r.query && name != "" && r.declared(name) {
			r.write(1+len(name), "{+"+name+"}")
			return
		}
	case '?', '#':
		r.query = true
	}
	r.out.WriteByte(rest[0])
	r.at++
}

// optional reads the beginning of an optional part of the path: "(.{format})" of Rails and Grape, "[/{id}]" of Slim.
// The part is left out, or only its brackets if it has a variable that is a parameter of the path. Parentheses around
// anything else belong to the path, as in OData.
func (r *pathReader) optional(rest string) bool {
	if r.query || len(rest) < 3 || rest[1] != '.' && rest[1] != '/' {
		return false
	}
	closing := byte(')')
	switch {
	case rest[0] == '(':
	case rest[0] == '[' && (rest[2] == '{' || rest[2] == ':'):
		closing = ']'
	default:
		return false
	}
	inner, n := r.balanced(rest, rest[0], closing)
	if n == 0 {
		return false
	}
	for _, name := range variableName.FindAllStringSubmatch(inner, -1) {
		if r.ofPath(name[1]) {
			r.closing = append(r.closing, r.at+n-1)
			r.at++
			return true
		}
	}
	r.at += n
	return true
}

// write replaces the next n bytes by standard.
func (r *pathReader) write(n int, standard string) {
	r.out.WriteString(standard)
	r.at += n
}

// expression returns the standard form of an expression in braces. Those of [wire.ParseTemplate] stay unchanged.
func (r *pathReader) expression(e string) string {
	if r.declared(e) {
		return "{" + e + "}"
	}
	name := strings.TrimSpace(e)
	for len(name) > 1 && name[0] == '{' && name[len(name)-1] == '}' {
		name = strings.TrimSpace(name[1 : len(name)-1])
	}
	if name == "" || name[0] == '?' {
		return "{" + name + "}"
	}
	switch name[0] {
	case '&': // RFC 6570 section 3.2.9
		return "{?" + name[1:] + "}"
	case '/', '.': // RFC 6570 sections 3.2.5 and 3.2.6
		var standard strings.Builder
		for part := range strings.SplitSeq(name[1:], ",") {
			standard.WriteString(name[:1] + "{" + part + "}")
		}
		return standard.String()
	}
	slashes := false
	for _, sign := range []string{"+", "**", "*"} {
		if after, found := strings.CutPrefix(name, sign); found {
			name, slashes = after, true
			break
		}
	}
	if before, found := strings.CutSuffix(name, "+"); found {
		name, slashes = before, true
	}
	if i := strings.IndexAny(name, ":="); i > 0 && !r.declared(name) {
		constraint := name[i+1:]
		// Starlette's converter of that name accepts slashes, and so does a resource name ("{name=shelves/*}",
		// google.api.http).
		slashes = slashes || name[i] == ':' && strings.TrimSuffix(constraint, "?") == "path" || name[i] == '=' && strings.ContainsAny(constraint, "/*")
		name = name[:i]
	}
	if before, found := strings.CutSuffix(name, "?"); found {
		name = before
	}
	name = strings.TrimSpace(name)
	if slashes {
		return "{+" + name + "}"
	}
	return "{" + name + "}"
}

var (
	variableName = regexp.MustCompile(`[{:]([\pL_][\pL\pN_-]*)`)
	namedGroup   = regexp.MustCompile(`^\(\?P?<([\pL_][\pL\pN_]*)>`)
	bracketed    = regexp.MustCompile(`^(\[{1,2}(\.\.\.)?([\pL_][\pL\pN_-]*)\]{1,2})(?:/|\?|#|$)`)
	angled       = regexp.MustCompile(`^[\pL\pN_][\pL\pN_ .-]*$`)
)

// maxAngled is the maximum distance between "<" and its ">".
const maxAngled = 256

// converters are the filters of Flask, Django and Bottle, which precede or follow the name.
var converters = []string{"string", "str", "int", "float", "path", "uuid", "slug", "any", "re", "regex", "default", "number", "date", "objectid"}

// angled returns the variable between "<" and ">", or "".
func (r *pathReader) angled(inner string) string {
	name, converter := inner, ""
	if before, after, found := strings.Cut(inner, ":"); found {
		filter, _, _ := strings.Cut(before, "(")
		if name, converter = after, filter; r.declared(before) || !r.declared(after) && !slices.Contains(converters, strings.ToLower(filter)) {
			name = before
			converter, _, _ = strings.Cut(after, ":")
		}
	}
	name = strings.TrimSpace(name)
	switch {
	case !angled.MatchString(name):
		return ""
	case converter == "path" && !r.query:
		return "{+" + name + "}"
	}
	return "{" + name + "}"
}

// escapedBraces returns the name between escaped braces and the total length, or 0.
func (r *pathReader) escapedBraces(rest string) (name string, n int) {
	if len(rest) < 6 || !strings.EqualFold(rest[:3], "%7B") {
		return "", 0
	}
	name = routeName(rest[3:])
	if end := 3 + len(name); name != "" && len(rest) >= end+3 && strings.EqualFold(rest[end:end+3], "%7D") {
		return name, end + 3
	}
	return "", 0
}

// colon returns the variable that ":" begins and its length as written; 0 if it is not a variable.
func (r *pathReader) colon(rest string, start bool) (standard string, n int) {
	name := routeName(rest[1:])
	if name == "" {
		return "", 0
	}
	before := byte('/')
	if r.at > 0 {
		before = r.text[r.at-1]
	}
	switch {
	case r.query:
		if before != '=' || !r.declared(name) {
			return "", 0
		}
		return "{" + name + "}", 1 + len(name)
	case start, r.colons && strings.IndexByte("-.,~", before) >= 0:
	case before == '}' || !r.declared(name) || strings.Contains(r.text, "{"+name+"}"):
		return "", 0
	}
	n = 1 + len(name)
	if strings.HasPrefix(rest[n:], "(") {
		_, pattern := r.balanced(rest[n:], '(', ')')
		n += pattern
	}
	if sign := rest[n:]; sign != "" && (len(sign) == 1 || sign[1] == '/') {
		switch sign[0] {
		case '?':
			n++
		case '*', '+':
			return "{+" + name + "}", n + 1
		}
	}
	return "{" + name + "}", n
}

// routeName returns the name at the beginning of s: letters, digits and "_", and "-" between them.
func routeName(s string) string {
	end := 0
	for i, c := range s {
		switch {
		case unicode.IsLetter(c) || c == '_' || unicode.IsDigit(c) && i > 0:
			end = i + utf8.RuneLen(c)
		case c == '-' && i > 0 && end == i:
		default:
			return s[:end]
		}
	}
	return s[:end]
}

// balanced returns the text between the bracket at the beginning of s and its partner, and the total length; 0 if there
// is none.
func (r *pathReader) balanced(s string, opening, closing byte) (inner string, n int) {
	depth := 0
	for i := 0; i < len(s) && !r.open; i++ {
		switch s[i] {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return s[1:i], i + 1
			}
		}
	}
	r.open = true
	return "", 0
}
