package overlay

import (
	"fmt"
	"regexp"
	"strings"

	"drawbridge/openapi/overlay/jsonpath"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// overlay is one parsed Overlay Object.
type overlay struct {
	revision  int // 0 for version 1.0 of the specification, 1 for 1.1
	extends   string
	extendsAt tree.Position
	actions   []action
}

// action is one Action Object.
type action struct {
	at       tree.Position // of its target
	target   *jsonpath.Query
	update   *tree.Node      // nil if absent
	copy     *jsonpath.Query // nil if absent
	copyAt   tree.Position
	remove   bool
	optional bool // extensionOptional: the target need not select anything
}

// kind returns the effect of the action.
func (a *action) kind() Kind {
	switch {
	case a.remove:
		return Remove
	case a.update != nil && a.copy != nil:
		return None // each has no effect beside the other
	case a.copy != nil:
		return Copy
	case a.update != nil:
		return Update
	}
	return None
}

// extensionOptional is the extension of an Action Object by which its target need not select anything.
const extensionOptional = "x-mcp-optional"

var versions = regexp.MustCompile(`\A1\.([01])\.\d+\z`)

// parser parses an Overlay Object and collects its faults.
type parser struct {
	faults     Faults
	queryBytes int
}

// parse parses an Overlay Object. The error is of type [Faults] and has all of them.
func parse(root *tree.Node) (*overlay, error) {
	var p parser
	o := p.overlay(root)
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	return o, nil
}

// wrong reports a fault. Texts of the overlay are shortened, and faults beyond maxFaults are only counted.
func (p *parser) wrong(at *tree.Node, where, format string, args ...any) {
	if n := len(p.faults); n > maxFaults {
		p.faults[n-1].more++
		return
	} else if n == maxFaults {
		p.faults = append(p.faults, Fault{Position: at.Position(), more: 1})
		return
	}
	for i, arg := range args {
		if raw, ok := arg.(string); ok {
			args[i] = text.Truncate(raw, maxShown)
		}
	}
	where = text.Truncate(where, maxShown)
	p.faults = append(p.faults, Fault{Position: at.Position(), Message: strings.TrimPrefix(where+": ", ": ") + fmt.Sprintf(format, args...)})
}

func (p *parser) overlay(root *tree.Node) *overlay {
	o := &overlay{}
	if root.Kind() != tree.Object {
		p.wrong(root, "", "an overlay must be an object with overlay, info and actions, found %s", kindName(root))
		return o
	}
	version := p.text(root, "", "overlay", true)
	if found := versions.FindStringSubmatch(version.Text()); found != nil {
		o.revision = int(found[1][0] - '0')
	} else if version != nil {
		p.wrong(version, "overlay", "the version %q is not supported; it must be 1.0.N or 1.1.N, such as 1.1.0", version.Text())
	}
	p.known(root, "", "overlay", "info", "extends", "actions")
	p.info(root, o.revision)
	if extends := p.text(root, "", "extends", false); extends != nil {
		o.extends, o.extendsAt = extends.Text(), extends.Position()
	}
	actions := root.Get("actions")
	switch {
	case actions == nil:
		p.wrong(root, "", "actions is missing")
	case actions.Kind() != tree.Array:
		p.wrong(actions, "actions", "must be a list, found %s", kindName(actions))
	case actions.Len() == 0:
		p.wrong(actions, "actions", "is empty; an overlay has at least one action")
	case actions.Len() > maxActions:
		p.wrong(actions, "actions", "has %d actions; an overlay may have at most %d: split it", actions.Len(), maxActions)
	default:
		p.actions(o, actions)
	}
	return o
}

func (p *parser) info(root *tree.Node, revision int) {
	info := root.Get("info")
	switch {
	case info == nil:
		p.wrong(root, "", "info is missing")
		return
	case info.Kind() != tree.Object:
		p.wrong(info, "info", "must be an object, found %s", kindName(info))
		return
	}
	p.text(info, "info", "title", true)
	p.text(info, "info", "version", true)
	fields := []string{"title", "version"}
	if revision > 0 {
		p.text(info, "info", "description", false)
		fields = append(fields, "description")
	}
	p.known(info, "info", fields...)
}

func (p *parser) actions(o *overlay, list *tree.Node) {
	first := make(map[string]int, list.Len())
	for i, n := range list.Items() {
		where := fmt.Sprintf("actions[%d]", i)
		if n.Kind() != tree.Object {
			p.wrong(n, where, "must be an object, found %s", kindName(n))
			continue
		}
		text := string(n.AppendJSON(nil))
		if earlier, twice := first[text]; twice {
			p.wrong(n, where, "is the same as actions[%d]; each action may be there once", earlier)
			continue
		}
		first[text] = i
		o.actions = append(o.actions, p.action(n, where, o.revision))
	}
}

func (p *parser) action(n *tree.Node, where string, revision int) (a action) {
	fields := []string{"target", "description", "update", "remove"}
	if revision > 0 {
		fields = append(fields, "copy")
	} else if at := n.Get("copy"); at != nil {
		p.wrong(at, where+".copy", "needs overlay: 1.1.0")
		fields = append(fields, "copy")
	}
	p.known(n, where, fields...)
	if target := p.text(n, where, "target", true); target != nil {
		a.at, a.target = target.Position(), p.query(target, where+".target")
	}
	p.text(n, where, "description", false)
	a.update = n.Get("update")
	if revision > 0 {
		if source := p.text(n, where, "copy", false); source != nil {
			a.copyAt, a.copy = source.Position(), p.query(source, where+".copy")
		}
	}
	a.remove = p.flag(n, where, "remove")
	a.optional = p.flag(n, where, extensionOptional)
	return a
}

// query parses the JSONPath query of a field.
func (p *parser) query(n *tree.Node, where string) *jsonpath.Query {
	if p.queryBytes += len(n.Text()); p.queryBytes > maxQueryBytes {
		p.wrong(n, where, "the queries of the overlay up to this one have more than %d bytes together; split it", maxQueryBytes)
		return nil
	}
	q, err := jsonpath.Parse(n.Text())
	if err != nil {
		p.wrong(n, where, "%q is not a JSONPath query of RFC 9535, such as $.paths['/orders'].get: %v", n.Text(), err)
	}
	return q
}

// text returns a member that must be text; nil if it is absent or wrong.
func (p *parser) text(of *tree.Node, where, name string, need bool) *tree.Node {
	n := of.Get(name)
	switch {
	case n == nil && need:
		p.wrong(of, where, "%s is missing", name)
	case n == nil, n.Kind() == tree.String:
		return n
	default:
		p.wrong(n, strings.TrimPrefix(where+"."+name, "."), "must be text, found %s; quote it", kindName(n))
	}
	return nil
}

// flag returns a member that must be true or false; false if it is absent.
func (p *parser) flag(of *tree.Node, where, name string) bool {
	n := of.Get(name)
	if n != nil && n.Kind() != tree.Bool {
		p.wrong(n, where+"."+name, "must be true or false, found %s", kindName(n))
	}
	return n.Bool()
}

// known reports the members of an object that are neither fields nor extensions.
func (p *parser) known(n *tree.Node, where string, fields ...string) {
next:
	for name, member := range n.Members() {
		if strings.HasPrefix(name, "x-") {
			continue
		}
		for _, field := range fields {
			if name == field {
				continue next
			}
		}
		p.wrong(member, strings.TrimPrefix(where+"."+name, "."), "is unknown; known here are %s, and extensions, which begin with x-", strings.Join(fields, ", "))
	}
}

// kindName returns the kind of a value with its article.
func kindName(n *tree.Node) string {
	switch n.Kind() {
	case tree.Array, tree.Object:
		return "an " + n.Kind().String()
	case tree.Null:
		return "null"
	default:
		return "a " + n.Kind().String()
	}
}
