package openapi

import (
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// Limits of the links and callbacks that an operation keeps.
const (
	maxLinks          = 20
	maxLinkParameters = 50
	linkBytes         = 200 // what one takes, about
)

// A Link says that what an answer holds are arguments of another operation (OAS 3.1.1 section 4.8.20, "Link Object").
type Link struct {
	Name string
	// Status is that of the answer that has the link: "202", "2XX" or "default".
	Status string
	// OperationID or Pointer name the other operation: by its operationId, or as Operation.Pointer does.
	OperationID, Pointer string
	// Parameters are those of the other operation, by their names, which may have their place in front: "path.id".
	Parameters map[string]Expression
	// Body is that of the request; nil if the link says nothing of it.
	Body *Expression
}

// A Callback is a request that the service makes to a URL that it was given with the call (OAS 3.1.1 section 4.8.18, "Callback
// Object").
type Callback struct {
	Name string
	// URL says where in the call the URL was.
	URL Expression
}

// links gathers the links of the answers of status 2xx. Links that can't be understood are left out: they are optional.
func (c *compiler) links(responses []response) (all []Link) {
	for _, a := range responses {
		if len(a.status) != 3 || a.status[0] != '2' {
			continue
		}
		for name, node := range a.node.Get("links").Members() {
			if node = c.follow(node); len(all) < maxLinks && node != nil {
				if l, ok := newLink(node); ok {
					l.Name, l.Status = strings.Clone(name), strings.Clone(a.status)
					all = append(all, l)
				}
			}
		}
	}
	return all
}

func newLink(node *tree.Node) (l Link, ok bool) {
	l.OperationID = strings.Clone(node.Get("operationId").Text())
	if ref := node.Get("operationRef").Text(); ref != "" {
		u, err := url.Parse(ref)
		if err != nil || u.Path != "" || u.Host != "" || u.Fragment == "" {
			return l, false // of another document
		}
		l.Pointer = u.Fragment
	}
	parameters := node.Get("parameters")
	if (l.OperationID == "") == (l.Pointer == "") || parameters.Len() > maxLinkParameters {
		return l, false
	}
	l.Parameters = make(map[string]Expression, parameters.Len())
	for name, value := range parameters.Members() {
		e, err := expressionAt(value)
		if err != nil {
			return l, false
		}
		l.Parameters[strings.Clone(name)] = e
	}
	if body := node.Get("requestBody"); body.Kind() != tree.Invalid {
		e, err := expressionAt(body)
		if err != nil {
			return l, false
		}
		l.Body = &e
	}
	return l, true
}

// size is about how many bytes it takes.
func (l *Link) size() int {
	n := linkBytes + len(l.Name) + len(l.OperationID) + len(l.Pointer)
	for name, e := range l.Parameters {
		n += linkBytes + len(name) + e.size()
	}
	if l.Body != nil {
		n += l.Body.size()
	}
	return n
}

// expressionAt reads a value that is an expression if it is a text, and else a constant.
func expressionAt(node *tree.Node) (Expression, error) {
	if node.Kind() == tree.String {
		return ParseExpression(strings.Clone(node.Text()))
	}
	return Constant(node.AppendJSON(nil)), nil
}

// callbacks gathers the callbacks of an operation whose URL is told in the call.
func (c *compiler) callbacks(m *model) (all []Callback) {
	for name, node := range m.node.Get("callbacks").Members() {
		for key, item := range c.follow(node).Members() {
			if strings.HasPrefix(key, "x-") || len(all) == maxLinks || item.Len() == 0 {
				continue
			}
			if e, err := ParseExpression(strings.Clone(key)); err == nil {
				all = append(all, Callback{strings.Clone(name), e})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Callback) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Target finds the operation of a link; nil: the document has none, or it could not be compiled.
func (l *Link) Target(operations []*Operation) *Operation {
	for _, op := range operations {
		if l.OperationID != "" && op.ID == l.OperationID || l.Pointer != "" && op.Pointer == l.Pointer {
			return op
		}
	}
	return nil
}

// Arguments returns the arguments of an operation that a link binds; false if it binds some that the operation does not have, or
// leaves out some that it needs.
func (l *Link) Arguments(target *Operation) (bound map[string]Expression, ok bool) {
	bound = make(map[string]Expression, len(l.Parameters)+1)
	for name, e := range l.Parameters {
		argument, found := "", false
		if in, own, qualified := strings.Cut(name, "."); qualified {
			argument, _, found = target.ArgumentFor(in, own, "")
		}
		for _, in := range []string{"path", "query", "header"} {
			if !found {
				argument, _, found = target.ArgumentFor(in, name, "")
			}
		}
		if !found {
			return nil, false
		}
		bound[argument] = e
	}
	if l.Body != nil {
		argument, rest, found := target.ArgumentFor(inBody.String(), "", "")
		if !found || argument == "" || rest != "" {
			return nil, false
		}
		bound[argument] = *l.Body
	}
	for _, name := range target.Required() {
		if _, has := bound[name]; !has {
			return nil, false
		}
	}
	return bound, true
}
