package tree

import "strings"

// Identification of schemas by URI: $id and $anchor (JSON Schema 2020-12 section
// 8.2), $self of the document (OpenAPI 3.2).

// register records the names in f that references may use.
func (s *Set) register(f *file) {
	if f.names.id {
		s.hasIDs = true
	}
	if f.names.id || f.names.anchor {
		s.registerNames(f.root, f.location)
	}
}

func (s *Set) registerNames(n *Node, base string) {
	switch n.kind {
	case Array:
		for _, k := range n.body.kids {
			s.registerNames(k, base)
		}
	case Object:
		if id := n.ownURI(); id != "" {
			base = withoutFragment(joinLocation(base, id))
			s.name(base, n)
		}
		for _, anchor := range [...]string{"$anchor", "$dynamicAnchor"} {
			if a := n.Get(anchor); a.Kind() == String {
				s.name(base+"#"+a.text, n)
			}
		}
		for _, k := range n.body.kids {
			switch k.key {
			// Examples and values are data, even if they contain such names.
			case "example", "examples", "default", "enum", "const":
				if n.key != "properties" {
					continue
				}
			}
			s.registerNames(k, base)
		}
	}
}

// name registers n under uri; the first one keeps a name.
func (s *Set) name(uri string, n *Node) {
	if _, ok := s.ids[uri]; !ok {
		s.ids[uri] = n
	}
}

// ownURI returns the $id of a schema or the $self of a document; "" if it has none.
func (n *Node) ownURI() string {
	if id := n.Get("$id"); id.Kind() == String {
		return id.text
	}
	if n.isRoot() {
		if self := n.Get("$self"); self.Kind() == String {
			return self.text
		}
	}
	return ""
}

// baseURI returns the base URI at n: the location of its file, changed by every enclosing $id and $self.
func (s *Set) baseURI(n *Node) string {
	var around []string
	for up := n.source(); up != nil; up = up.up {
		if id := up.ownURI(); id != "" {
			around = append(around, id)
		}
	}
	base := n.location()
	for i := len(around) - 1; i >= 0; i-- {
		base = withoutFragment(joinLocation(base, around[i]))
	}
	return base
}

// resourceURI is baseURI for a node that is the root of a file or has an $id.
func (s *Set) resourceURI(n *Node) string {
	if !s.hasIDs {
		return n.location()
	}
	return s.baseURI(n)
}

// lookupID resolves a reference to something that has an $id or $self.
func (s *Set) lookupID(uri, fragment string) target {
	base := s.ids[uri]
	if base == nil {
		return target{}
	}
	n, problem := s.fragment(nil, base, fragment, new(int))
	return target{node: n, problem: problem}
}

// withoutFragment returns the part of a URI before "#".
func withoutFragment(uri string) string {
	base, _, _ := strings.Cut(uri, "#")
	return base
}
