package openapi

import (
	"errors"
	"iter"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// maxXMLNodes limits the properties of the XML plans of one document together. Those that are reached in several ways
// by allOf count for each.
const maxXMLNodes = 200_000

// xmlPlans makes the plans of XML bodies (OAS "XML Object") from the raw schemas. A schema that several bodies share
// has one plan.
type xmlPlans struct {
	mu    sync.Mutex
	known map[*tree.Node]*wire.XMLNode
	left  int
}

// errXMLSize ends a plan; the operation is skipped.
var errXMLSize = errors.New("the schemas of its XML, with those of the operations before it, have too many properties")

// xmlSchema returns the schema of an XML body: the document's if it describes the elements, otherwise text.
func xmlSchema(c *compiler, ct *content) *tree.Node {
	if c.xmlIsText(ct.schema) {
		s := stringSchema(ct.node, "")
		s.Set("description", tree.NewString(ct.node, strings.TrimSpace(c.follow(ct.schema).Get("description").Text()+"\n\nThe XML document, as text.")))
		return s
	}
	return ct.schema
}

// xmlIsText reports whether a caller gives a body as XML text: its schema is a string, or does not describe the
// elements.
func (c *compiler) xmlIsText(s *tree.Node) bool {
	if c.isList(s) {
		return false
	}
	if !c.schema.IsObject(s) {
		return true
	}
	known := c.follow(s).Get("additionalProperties").Kind() == tree.Object
	c.eachProperty(s, func(string, *tree.Node) { known = true })
	return !known
}

// xmlCodec writes XML by the xml keywords of the schema.
func xmlCodec(c *compiler, ct *content) codec {
	s := ct.document
	if c.xmlIsText(s) {
		return textCodec(c, ct)
	}
	plan, err := c.xmlPlan(s)
	if err != nil {
		return codec{err: err}
	}
	root := *plan
	if root.Name == "" {
		c.problems.at(ct.node, codeXMLRoot, "the root element of the XML body has no name; %q is used", defaultXMLRoot)
		root.Name = defaultXMLRoot
	}
	return codec{
		plan: root.AppendPlan, unwritten: root.Unwritten,
		whole: func(dst, value []byte) ([]byte, error) {
			if jsonscan.KindOf(value) == jsonscan.String {
				return append(dst, jsonscan.Unquote(value)...), nil // if the schema accepts a string: XML text
			}
			return root.Append(dst, value)
		},
		members: func(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
			return root.AppendMembers(dst, members)
		},
	}
}

// defaultXMLRoot is the name of a root element without a name in the document.
const defaultXMLRoot = "root"

// xmlPlan returns the plan for the values of a schema as a root element: its own name, or that of the component.
func (c *compiler) xmlPlan(s *tree.Node) (*wire.XMLNode, error) {
	ps := &c.xml
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.known == nil {
		ps.known, ps.left = make(map[*tree.Node]*wire.XMLNode), maxXMLNodes
	}
	n, err := c.xmlNode(s)
	if err != nil || ps.left < 0 { // an aborted plan is cached too
		return nil, errXMLSize
	}
	root := *n
	if root.Name == "" {
		root.Name = c.componentName(s)
	}
	if item := root.Item; item != nil && item.Name == "" {
		named := *item
		if named.Name = c.componentName(c.follow(s).Get("items")); named.Name == "" {
			named.Name = "item"
		}
		root.Item = &named
	}
	return &root, nil
}

// componentName returns the name of the schema that a reference refers to; "" if it is not a valid element name.
func (c *compiler) componentName(s *tree.Node) string {
	n := c.follow(s)
	switch n.Parent().Key() {
	case "schemas", "definitions":
		if wire.IsXMLName(n.Key()) {
			return strings.Clone(n.Key())
		}
	}
	return ""
}

// xmlNode compiles one schema. The plan of a schema is registered before those of its parts are made, so recursion
// ends.
func (c *compiler) xmlNode(s *tree.Node) (*wire.XMLNode, error) {
	ps := &c.xml
	target := c.follow(s)
	if target == nil {
		return &wire.XMLNode{}, nil
	}
	key := target
	if s != target && s.Get("xml") != nil {
		key = s // siblings of the reference count
	}
	if n := ps.known[key]; n != nil {
		return n, nil
	}
	n := &wire.XMLNode{}
	ps.known[key] = n
	v := xmlVisit{c: c, n: n, seen: make(map[*tree.Node]bool)}
	return n, v.visit(s)
}

// xmlVisit collects the declarations about one node in a schema and the schemas that it is composed of.
type xmlVisit struct {
	c         *compiler
	n         *wire.XMLNode
	seen      map[*tree.Node]bool
	described bool // the xml keyword was found, or must not be searched
}

func (v *xmlVisit) visit(s *tree.Node) error {
	if xml := s.Get("xml"); xml.Kind() == tree.Object && !v.described {
		v.described = true
		v.c.describeXML(v.n, xml)
	}
	t := v.c.follow(s)
	if t != nil && t != s {
		return v.visit(t)
	}
	if t == nil || v.seen[t] {
		return nil
	}
	v.seen[t] = true
	if err := v.members(t); err != nil {
		return err
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range t.Get(key).Items() {
			// The xml keyword of a part concerns the part: "allOf: [{$ref: Base}]" is not named after Base. As the only
			// part, which is the way of 3.0 to give a reference siblings, it is.
			before := v.described
			v.described = v.described || t.Get(key).Len() > 1 || key != "allOf"
			if err := v.visit(part); err != nil {
				return err
			}
			v.described = before || v.described && t.Get(key).Len() == 1 && key == "allOf"
		}
	}
	v.described = true
	for _, kind := range v.c.schema.Alternatives(t).Items() {
		if err := v.visit(kind); err != nil {
			return err
		}
	}
	return nil
}

// members adds the nodes within a schema: those of properties, items and additionalProperties.
func (v *xmlVisit) members(t *tree.Node) error {
	n := v.n
	for name, property := range t.Get("properties").Members() {
		if n.Members[name] != nil {
			continue
		}
		if v.c.xml.left--; v.c.xml.left < 0 {
			return errXMLSize
		}
		member, err := v.c.xmlNode(property)
		if err != nil {
			return err
		}
		if n.Members == nil {
			n.Members, n.Places = make(map[string]*wire.XMLNode), make(map[string]int)
		}
		name = strings.Clone(name)
		n.Places[name] = len(n.Members)
		n.Members[name] = member
	}
	if items := t.Get("items"); items.Kind() == tree.Object && n.Item == nil {
		item, err := v.c.xmlNode(items)
		if err != nil {
			return err
		}
		n.Item = item
	}
	if more := t.Get("additionalProperties"); more.Kind() == tree.Object && n.Other == nil {
		other, err := v.c.xmlNode(more)
		if err != nil {
			return err
		}
		n.Other = other
	}
	return nil
}

// describeXML reads an XML object.
func (c *compiler) describeXML(n *wire.XMLNode, xml *tree.Node) {
	if name := xml.Get("name").Text(); name != "" {
		prefix, local, found := strings.Cut(name, ":")
		switch {
		case wire.IsXMLName(name):
			n.Name = strings.Clone(name)
		case found && wire.IsXMLName(local): // the prefix belongs into its own member
			n.Name, n.Prefix = strings.Clone(local), strings.Clone(prefix)
		default:
			c.problems.at(xml, codeXMLName, "%q can't be the name of an XML element; the schema's own name is used", name)
		}
	}
	n.Namespace = strings.Clone(xml.Get("namespace").Text())
	if prefix := xml.Get("prefix").Text(); prefix != "" {
		n.Prefix = strings.Clone(prefix)
	}
	if lower := strings.ToLower(n.Prefix); n.Prefix != "" && (!wire.IsXMLName(n.Prefix) || strings.HasPrefix(lower, "xml")) {
		c.problems.at(xml, codeXMLName, "%q can't be a prefix in XML; it is left out", n.Prefix)
		n.Prefix = ""
	}
	n.Wrapped = isTrue(xml.Get("wrapped"))
	if isTrue(xml.Get("attribute")) {
		n.Kind = wire.XMLAttribute
	}
	switch xml.Get("nodeType").Text() {
	case "attribute":
		n.Kind = wire.XMLAttribute
	case "text":
		n.Kind = wire.XMLText
	case "cdata":
		n.Kind = wire.XMLCDATA
	case "none":
		n.Kind = wire.XMLNone
	case "element":
		n.Wrapped = true // of a list: an element around its members
	}
}
