package arazzo

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// reader reads the objects of a description and collects faults.
type reader struct {
	description *Description
	root        *tree.Node
	faults      Faults
	unusable    bool // there is a fault outside the workflows
}

// wrong reports a fault at a value. Texts of the description are shortened.
func (r *reader) wrong(at *tree.Node, format string, args ...any) {
	if len(r.faults.Listed) == maxFaults {
		r.faults.More++
		return
	}
	for i, arg := range args {
		if raw, ok := arg.(string); ok {
			args[i] = text.Truncate(raw, maxShown)
		}
	}
	r.faults.Listed = append(r.faults.Listed, Fault{Position: at.Position(), Pointer: at.Pointer(), Message: fmt.Sprintf(format, args...)})
}

// failed reports each of the faults in an error.
func (r *reader) failed(at *tree.Node, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			r.failed(at, one)
		}
	} else if err != nil {
		r.wrong(at, "%s", err.Error())
	}
}

// isObject reports whether a value is an object with only the fields, besides extensions; another kind or field is a fault.
func (r *reader) isObject(n *tree.Node, fields ...string) bool {
	if n.Kind() != tree.Object {
		r.wrong(n, "must be an object, found %s", n.Kind().String())
		return false
	}
	for name, member := range n.Members() {
		if !strings.HasPrefix(name, "x-") && !slices.Contains(fields, name) {
			r.wrong(member, "is unknown; known here are %s, and extensions, which begin with x-", strings.Join(fields, ", "))
		}
	}
	return true
}

// text returns a member that must be text; "" if it is absent or wrong.
func (r *reader) text(of *tree.Node, name string, need bool) string {
	switch n := of.Get(name); {
	case n == nil && need:
		r.wrong(of, "%s is missing", name)
	case n == nil:
	case n.Kind() != tree.String:
		r.wrong(n, "must be text, found %s; quote it", n.Kind().String())
	case n.Text() == "" && need:
		r.wrong(n, "is empty")
	default:
		return n.Text()
	}
	return ""
}

// choice returns a text that must be one of several.
func (r *reader) choice(of *tree.Node, name string, need bool, known ...string) string {
	value := r.text(of, name, need)
	if value != "" && !slices.Contains(known, value) {
		r.wrong(of.Get(name), "%q is unknown; known are %s", value, strings.Join(known, ", "))
	}
	return value
}

// list returns the elements of a member that must be a list.
func (r *reader) list(of *tree.Node, name string, need bool) []*tree.Node {
	n := of.Get(name)
	switch {
	case n == nil && need:
		r.wrong(of, "%s is missing", name)
	case n == nil:
	case n.Kind() != tree.Array:
		r.wrong(n, "must be a list, found %s", n.Kind().String())
	case n.Len() == 0 && need:
		r.wrong(n, "is empty; at least one is needed")
	default:
		all := make([]*tree.Node, n.Len())
		for i, item := range n.Items() {
			all[i] = item
		}
		return all
	}
	return nil
}

// names returns a list of texts.
func (r *reader) names(of *tree.Node, name string) (all []string) {
	for _, n := range r.list(of, name, false) {
		if n.Kind() != tree.String {
			r.wrong(n, "must be text, found %s", n.Kind().String())
			continue
		}
		all = append(all, n.Text())
	}
	return all
}

// identifier returns a required name, which must be unique among those in seen.
func (r *reader) identifier(of *tree.Node, name string, seen map[string]bool) string {
	id := r.text(of, name, true)
	if seen[id] && id != "" {
		r.wrong(of.Get(name), "%q is there twice", id)
	}
	seen[id] = true
	return id
}
