package wire

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// An XMLNode describes the XML encoding of the values of one schema (OAS "XML Object"). Plans may be cyclic, as schemas
// are; they must not be changed once a value has been written. From then on a node is safe for concurrent use.
type XMLNode struct {
	// Name is that of the element or attribute. For a list that is not wrapped it is that of each member.
	Name string
	// Namespace is the URI of the name, Prefix the prefix before it. A prefix without a namespace is written if an
	// enclosing element has declared it, and otherwise left out.
	Namespace, Prefix string
	Kind              XMLKind
	// Wrapped reports whether the members of a list are put into an element of their own.
	Wrapped bool
	// Members are the properties of an object by their name in JSON, and Places has the position of each in the order
	// of elements, from 0: a service that validates may require the order.
	Members map[string]*XMLNode
	Places  map[string]int
	// Item is the plan for the members of a list; if it is nil, they are elements with the list's own name.
	Item *XMLNode
	// Other is the plan for properties that are not among Members, each under its own name; if it is nil, they are
	// written by the value alone.
	Other *XMLNode
}

// XMLKind is the kind of node that a value becomes (OAS 3.2 "XML Node Types").
type XMLKind uint8

// The kinds.
const (
	XMLElement   XMLKind = iota
	XMLAttribute         // attribute: true of 3.0 and 3.1
	XMLText
	XMLCDATA
	XMLNone // its members belong to the enclosing element
)

// Append appends the document of a value: the declaration and one root element. The error is a [*ValueError] with a
// pointer to the value that can't be written.
func (n *XMLNode) Append(dst, v []byte) ([]byte, error) {
	w := xmlWriter{dst: append(dst, xmlDeclaration...)}
	root := *n
	root.Kind, root.Wrapped = XMLElement, true
	write := func() error { return w.node(&root, root.Name, v) }
	if jsonscan.KindOf(v) == jsonscan.Null { // null is left out elsewhere, but a document has a root (XML 1.0 section 2.1)
		write = func() error { return w.element(&root, root.Name, nil, func() error { return nil }) }
	}
	if err := write(); err != nil {
		return dst, err
	}
	return w.dst, nil
}

// AppendMembers is Append for an object that is given by its members.
func (n *XMLNode) AppendMembers(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
	w := xmlWriter{dst: append(dst, xmlDeclaration...)}
	root := *n
	root.Kind = XMLElement
	all := n.members(members)
	if err := w.element(&root, root.Name, func(outer int) error { return w.attributes(all, outer) }, func() error { return w.content(all) }); err != nil {
		return dst, err
	}
	return w.dst, nil
}

const xmlDeclaration = `<?xml version="1.0" encoding="UTF-8"?>`

// An xmlWriter appends one document.
type xmlWriter struct {
	dst      []byte
	scope    []xmlns // of the elements that are open
	repeated repetition
}

// An xmlns is a declared prefix, "" for the default namespace.
type xmlns struct{ prefix, uri string }

// A xmlMember is a property that is to be written.
type xmlMember struct {
	name  string // in JSON
	node  *XMLNode
	value []byte
	place int
}

var anyXML = &XMLNode{}

// members returns the properties of an object to write, in the order of the plan; properties that it doesn't have come
// last.
func (n *XMLNode) members(members iter.Seq2[string, []byte]) []xmlMember {
	var all []xmlMember
	for name, value := range members {
		if jsonscan.KindOf(value) == jsonscan.Null {
			continue
		}
		m := xmlMember{name: name, node: n.Members[name], value: value, place: len(n.Places)}
		switch {
		case m.node != nil:
			m.place = n.Places[name]
		case n.Other != nil:
			m.node = n.Other
		default:
			m.node = anyXML
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b xmlMember) int { return a.place - b.place })
	return all
}

// elementName returns the name of a member: that of its plan, or the name in JSON.
func (m *xmlMember) elementName() string {
	if m.node.Name != "" {
		return m.node.Name
	}
	return m.name
}

func jsonMembers(v []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range jsonscan.Members(v) {
			if !yield(string(name), value) {
				return
			}
		}
	}
}

// attributes writes the members that are attributes of the open tag.
func (w *xmlWriter) attributes(all []xmlMember, outer int) error {
	var names map[string]bool // existing attributes
	for i := range all {
		m := &all[i]
		if m.node.Kind != XMLAttribute {
			continue
		}
		if kind := jsonscan.KindOf(m.value); kind == jsonscan.Array || kind == jsonscan.Object {
			return within(m.name, refuse("must be a plain value, not an %s: it is sent as an attribute", kind))
		}
		name, ns, err := w.name(m.node, m.elementName(), outer)
		if err == nil && names[name] {
			err = refuse("can't be sent: there is another attribute %q", name)
		}
		if err == nil {
			err = w.repeated.add(len(name) + len(m.node.Namespace))
		}
		if err == nil {
			err = w.declare(ns)
		}
		if err != nil {
			return within(m.name, err)
		}
		if names == nil {
			names = make(map[string]bool)
		}
		names[name] = true
		w.dst = append(append(append(w.dst, ' '), name...), `="`...)
		if w.dst, err = appendXMLText(w.dst, text(m.value), true); err != nil {
			return within(m.name, err)
		}
		w.dst = append(w.dst, '"')
	}
	return nil
}

// content writes the members that are not attributes.
func (w *xmlWriter) content(all []xmlMember) error {
	for i := range all {
		m := &all[i]
		if m.node.Kind == XMLAttribute {
			continue
		}
		if err := w.node(m.node, m.elementName(), m.value); err != nil {
			return within(m.name, err)
		}
	}
	return nil
}

// node writes a value by its plan.
func (w *xmlWriter) node(n *XMLNode, name string, v []byte) error {
	kind := jsonscan.KindOf(v)
	switch {
	case kind == jsonscan.Null:
		return nil
	case kind == jsonscan.Array:
		return w.list(n, name, v)
	case n.Kind == XMLText || n.Kind == XMLCDATA:
		if kind == jsonscan.Object {
			return refuse("must be a plain value, not an object: it is sent as text")
		}
		return w.text(n.Kind, v)
	case kind == jsonscan.Object:
		all := n.members(jsonMembers(v))
		if n.Kind == XMLNone {
			return w.content(all)
		}
		return w.element(n, name, func(outer int) error { return w.attributes(all, outer) }, func() error { return w.content(all) })
	case n.Kind == XMLNone:
		return w.text(XMLText, v)
	default:
		return w.element(n, name, nil, func() error { return w.text(XMLText, v) })
	}
}

func (w *xmlWriter) list(n *XMLNode, name string, v []byte) error {
	items := func() error {
		i := -1
		for item := range jsonscan.Elements(v) {
			i++
			plan, itemName := n.Item, name
			if plan == nil {
				plan = anyXML
			} else if plan.Name != "" {
				itemName = plan.Name
			}
			if jsonscan.KindOf(item) == jsonscan.Array { // a nested list must be distinguished from the next one
				wrapped := *plan
				wrapped.Wrapped = true
				plan = &wrapped
			}
			if err := w.node(plan, itemName, item); err != nil {
				return withinItem(i, err)
			}
		}
		return nil
	}
	if n.Wrapped {
		return w.element(n, name, nil, items)
	}
	return items()
}

// element writes an element. attributes and content append the attributes of the tag and its content.
func (w *xmlWriter) element(n *XMLNode, name string, attributes func(outer int) error, content func() error) error {
	outer := len(w.scope)
	defer func() { w.scope = w.scope[:outer] }()
	qualified, ns, err := w.name(n, name, outer)
	if err != nil {
		return err
	}
	if err := w.repeated.add(2*len(qualified) + len(n.Namespace)); err != nil {
		return err
	}
	w.dst = append(append(w.dst, '<'), qualified...)
	if err := w.declare(ns); err != nil {
		return err
	}
	if attributes != nil {
		if err := attributes(outer); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, '>')
	if err := content(); err != nil {
		return err
	}
	w.dst = append(append(append(w.dst, "</"...), qualified...), '>')
	return nil
}

// name returns a name with its prefix, and the namespace that has to be declared for it. outer is the index in the
// scope at which the declarations of this element begin.
func (w *xmlWriter) name(n *XMLNode, name string, outer int) (qualified string, declare *xmlns, err error) {
	if !isXMLName(name) {
		return "", nil, refuse("can't be sent: %q can't be the name of an XML element", name)
	}
	prefix := n.Prefix
	uri, at := w.lookup(prefix)
	switch {
	case n.Kind == XMLAttribute && prefix == "":
		return name, nil, nil // it has no namespace (XML Namespaces 1.0 section 6.2)
	case n.Namespace == "" && at < 0, n.Namespace != "" && at >= outer && uri != n.Namespace:
		prefix = "" // no element declares it, or this element declares it for another namespace
	case n.Namespace != "" && uri != n.Namespace:
		declare = &xmlns{prefix, n.Namespace}
	}
	if prefix == "" {
		return name, declare, nil
	}
	return prefix + ":" + name, declare, nil
}

// declare appends the declaration of a namespace.
func (w *xmlWriter) declare(ns *xmlns) (err error) {
	if ns == nil {
		return nil
	}
	w.scope = append(w.scope, *ns)
	w.dst = append(w.dst, " xmlns"...)
	if ns.prefix != "" {
		w.dst = append(append(w.dst, ':'), ns.prefix...)
	}
	w.dst = append(w.dst, `="`...)
	if w.dst, err = appendXMLText(w.dst, []byte(ns.uri), true); err != nil {
		return err
	}
	w.dst = append(w.dst, '"')
	return nil
}

// lookup returns the namespace of a prefix, and its index in the scope; -1 if it is not declared.
func (w *xmlWriter) lookup(prefix string) (uri string, at int) {
	for i, ns := range slices.Backward(w.scope) {
		if ns.prefix == prefix {
			return ns.uri, i
		}
	}
	return "", -1
}

func (w *xmlWriter) text(kind XMLKind, v []byte) (err error) {
	t := text(v)
	if kind != XMLCDATA || slices.Contains(t, '\r') { // a reader would turn it into a line feed there (XML 1.0 section 2.11)
		w.dst, err = appendXMLText(w.dst, t, false)
		return err
	}
	if err := checkXMLChars(t); err != nil {
		return err
	}
	w.dst = append(w.dst, "<![CDATA["...)
	w.dst = append(w.dst, strings.ReplaceAll(string(t), "]]>", "]]]]><![CDATA[>")...)
	w.dst = append(w.dst, "]]>"...)
	return nil
}

// appendXMLText appends text and escapes everything that XML would interpret: markup, "]]>", and line ends that a
// reader would change (XML 1.0 sections 2.4, 2.11, 3.3.3).
func appendXMLText(dst, t []byte, attribute bool) ([]byte, error) {
	if err := checkXMLChars(t); err != nil {
		return dst, err
	}
	for _, b := range t {
		switch {
		case b == '<':
			dst = append(dst, "&lt;"...)
		case b == '>':
			dst = append(dst, "&gt;"...)
		case b == '&':
			dst = append(dst, "&amp;"...)
		case b == '\r':
			dst = append(dst, "&#xD;"...)
		case b == '"' && attribute:
			dst = append(dst, "&quot;"...)
		case b == '\n' && attribute:
			dst = append(dst, "&#xA;"...)
		case b == '\t' && attribute:
			dst = append(dst, "&#x9;"...)
		default:
			dst = append(dst, b)
		}
	}
	return dst, nil
}

// checkXMLChars refuses characters that XML 1.0 section 2.2 excludes, escaped or not.
func checkXMLChars(t []byte) error {
	for i := 0; i < len(t); {
		r, size := utf8.DecodeRune(t[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xfffe, r == 0xffff:
			return refuse("must not contain the character %U: XML has no way to write it", r)
		}
		i += size
	}
	return nil
}

// isXMLName reports whether a name is an NCName (XML Namespaces 1.0 section 3).
func isXMLName(name string) bool {
	for i, r := range name {
		if !isXMLNameStart(r) && (i == 0 || !(r == '-' || r == '.' || '0' <= r && r <= '9' || r == 0xb7 ||
			0x300 <= r && r <= 0x36f || 0x203f <= r && r <= 0x2040)) {
			return false
		}
	}
	return name != ""
}

// isXMLNameStart is NameStartChar of XML 1.0 section 2.3, without the colon.
func isXMLNameStart(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
		return true
	case r < 0xc0:
		return false
	}
	for _, span := range [...][2]rune{
		{0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x2ff}, {0x370, 0x37d}, {0x37f, 0x1fff}, {0x200c, 0x200d}, {0x2070, 0x218f},
		{0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffc}, {0x10000, 0xeffff},
	} {
		if span[0] <= r && r <= span[1] {
			return true
		}
	}
	return false
}

// IsXMLName reports whether a name, or a prefix, is valid in XML (XML Namespaces 1.0 section 3).
func IsXMLName(name string) bool { return isXMLName(name) }
