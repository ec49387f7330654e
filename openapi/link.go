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
	linkBytes         = 200 // approximate memory of one
)

// A Link declares that values in a response are arguments of another operation (OAS 3.1.1 section 4.8.20, "Link
// Object").
type Link struct {
	Name string
	// Status is that of the response with the link: "202", "2XX" or "default".
	Status string
	// OperationID or Pointer name the other operation: by its operationId, or as Operation.Pointer does.
	OperationID, Pointer string
	// Parameters are those of the other operation, by their names, which may be preceded by their location: "path.id".
	Parameters map[string]Expression
	// Body is that of the request; nil if the link does not set it.
	Body *Expression
}

// A Callback is a request that the service makes to a URL from the call (OAS 3.1.1 section 4.8.18, "Callback Object").
type Callback struct {
	Name string
	// URL locates the URL in the call.
	URL Expression
}

// links collects the links of the responses of status 2xx. Links that can't be parsed are left out: they are optional.
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

// size returns its approximate memory in bytes.
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

// expressionAt parses a value that is an expression if it is a string, and otherwise a constant.
func expressionAt(node *tree.Node) (Expression, error) {
	if node.Kind() == tree.String {
		return ParseExpression(strings.Clone(node.Text()))
	}
	return Constant(node.AppendJSON(nil)), nil
}

// callbacks collects the callbacks of an operation whose URL is in the call.
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

// Target returns the operation of a link; nil if the document does not have it, or it could not be compiled.
func (l *Link) Target(operations []*Operation) *Operation {
	for _, op := range operations {
		if l.OperationID != "" && op.ID == l.OperationID || l.Pointer != "" && op.Pointer == l.Pointer {
			return op
		}
	}
	return nil
}

// Arguments returns the arguments of an operation that a link binds; false if it binds arguments that the operation
// does not have, or omits required ones.
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
