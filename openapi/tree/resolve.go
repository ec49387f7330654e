package tree

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Resolve returns the node that a reference points to, one step. ref is an object with a "$ref" (or "$dynamicRef")
// member, or the string itself; a relative reference is relative to the file that contains the string, or to the
// enclosing $id or $self. The error is a *RefError.
//
// A $dynamicRef is resolved as a $ref to the $dynamicAnchor: the dynamic scope of JSON Schema 2020-12 section 8.2.3.2
// is not followed.
func (s *Set) Resolve(ref *Node) (*Node, error) {
	r := refText(ref)
	if r == nil {
		return nil, &RefError{Position: ref.Position(), Ref: "", Message: "is not a reference: expected an object with a text member \"$ref\""}
	}
	t := s.resolve(nil, r)
	if t.node == nil {
		return nil, &RefError{Position: r.Position(), Ref: r.text, Message: t.problem}
	}
	return t.node, nil
}

// Follow follows n while it is an object with a "$ref", at most Limits.RefChain steps, and returns the first node
// without: n itself if it has no "$ref". A loop is a *RefError.
func (s *Set) Follow(n *Node) (*Node, error) {
	for steps := 0; ; steps++ {
		r := n.Get("$ref")
		if r.Kind() != String {
			return n, nil
		}
		if steps == s.refChain {
			return nil, &RefError{Position: r.Position(), Ref: r.text,
				Message: fmt.Sprintf("leads from reference to reference for more than %d steps", s.refChain)}
		}
		next, err := s.Resolve(r)
		if err != nil {
			return nil, err
		}
		n = next
	}
}

// refText returns the string node of a reference; nil if n is not one.
func refText(n *Node) *Node {
	switch n.Kind() {
	case String:
		return n
	case Object:
		if r := n.Get("$ref"); r.Kind() == String {
			return r
		}
		if r := n.Get("$dynamicRef"); r.Kind() == String {
			return r
		}
	}
	return nil
}

// resolve looks up the reference text r. With a loader, missing files are read and results are kept; without one
// nothing is written.
func (s *Set) resolve(l *loader, r *Node) target {
	from := s.files[r.location()]
	if from == nil || from.root == nil {
		return target{problem: "stands in no file of this document"}
	}
	if t, ok := from.targets[r.text]; ok {
		return t
	}
	t, local := s.lookup(l, from, r)
	// A target that depends on the position of the reference within its file can't be shared.
	if l != nil && !local && l.fatal == nil {
		from.targets[r.text] = t
	}
	return t
}

// lookup resolves r without the cache. local means that another reference with the same text in the same file may have
// another target.
func (s *Set) lookup(l *loader, from *file, r *Node) (t target, local bool) {
	where, fragment, _ := strings.Cut(strings.TrimSpace(r.text), "#")
	base := from.root
	if from.names.id || s.hasIDs {
		local = true
		uri := joinLocation(s.baseURI(r), where)
		if t := s.lookupID(uri, fragment); t.node != nil {
			return t, local
		}
	}
	if where != "" {
		if n := s.byName(where); n != nil && where == r.text {
			return target{node: n}, local
		}
		f, problem := s.target(l, from, where, r)
		if f == nil {
			return target{problem: problem}, local
		}
		base = f.root
	}
	n, problem := s.fragment(l, base, fragment, new(int))
	if n == nil && where == "" && (strings.HasPrefix(fragment, "/$defs/") || strings.HasPrefix(fragment, "/definitions/")) {
		// Generators that embed a JSON Schema leave its references relative to that schema; use the nearest enclosing
		// schema that has the definition.
		local = true
		for up := r.Parent(); up != nil; up = up.Parent() {
			if n, _ := s.fragment(l, up, fragment, new(int)); n != nil {
				return target{node: n}, local
			}
		}
	}
	if n == nil {
		return target{problem: problem}, local
	}
	return target{node: n}, local
}

// target returns the file at the location where, relative to the reference r.
func (s *Set) target(l *loader, from *file, where string, r *Node) (f *file, problem string) {
	location := joinLocation(from.location, where)
	if location == from.location {
		return from, ""
	}
	f = s.files[location]
	if f == nil && l != nil {
		if f = l.file(location, r, from.depth+1); f == nil {
			return nil, l.fatal.Error()
		}
	}
	switch {
	case f == nil:
		return nil, fmt.Sprintf("the file %s was not read", quote(location))
	case f.root == nil:
		return nil, fmt.Sprintf("can't use %s: %v", quote(location), f.err)
	}
	return f, ""
}

// byName finds a schema by its bare name, as Swagger drafts allowed.
func (s *Set) byName(name string) *Node {
	if strings.ContainsAny(name, "./") {
		return nil // looks like a file
	}
	if n := s.Root().Get("definitions").Get(name); n != nil {
		return n
	}
	return s.Root().Get("components").Get("schemas").Get(name)
}

// fragment resolves a URI fragment within base: a JSON pointer or an anchor. hops counts the references that it passes
// through.
func (s *Set) fragment(l *loader, base *Node, fragment string, hops *int) (n *Node, problem string) {
	if strings.Contains(fragment, "%") {
		if plain, err := url.PathUnescape(fragment); err == nil {
			fragment = plain
		}
	}
	if fragment == "" || fragment == "/" {
		return base, ""
	}
	if fragment[0] != '/' {
		if n := s.ids[s.resourceURI(base)+"#"+fragment]; n != nil {
			return n, ""
		}
		return nil, fmt.Sprintf("nothing has the anchor %s", quote(fragment))
	}
	n = base
	for rest := fragment[1:]; ; {
		token, after, more := strings.Cut(rest, "/")
		token = jsonscan.UnescapeToken(token)
		next := n.step(token)
		for next == nil && n.Get("$ref").Kind() == String {
			// The pointer continues after a reference: follow it.
			if *hops++; *hops > s.refChain {
				return nil, "leads through too many references"
			}
			t := s.resolveHop(l, n.Get("$ref"), hops)
			if t.node == nil {
				return nil, t.problem
			}
			n = t.node
			next = n.step(token)
		}
		if next == nil {
			return nil, missing(n, base, token)
		}
		n = next
		if !more {
			return n, ""
		}
		rest = after
	}
}

// resolveHop resolves a reference in the middle of a pointer; hops limits their number in one lookup, including nested
// ones.
func (s *Set) resolveHop(l *loader, r *Node, hops *int) target {
	from := s.files[r.location()]
	if from == nil || from.root == nil {
		return target{problem: "stands in no file of this document"}
	}
	if t, ok := from.targets[r.text]; ok {
		return t
	}
	where, fragment, _ := strings.Cut(r.text, "#")
	base := from.root
	if where != "" {
		f, problem := s.target(l, from, where, r)
		if f == nil {
			return target{problem: problem}
		}
		base = f.root
	}
	n, problem := s.fragment(l, base, fragment, hops)
	return target{node: n, problem: problem}
}

// step follows one reference token of a JSON pointer.
func (n *Node) step(token string) *Node {
	if n.Kind() == Array {
		i, err := strconv.Atoi(token)
		if err != nil || token != strconv.Itoa(i) {
			return nil
		}
		return n.At(i)
	}
	return n.Get(token)
}

// missing describes the step of a pointer within base that failed.
func missing(n, base *Node, token string) string {
	at := n.Pointer()
	switch {
	case at == "":
		at = quote(n.location())
	case base.isRoot():
		at += " in " + quote(n.location())
	}
	switch n.Kind() {
	case Object:
		return at + " has no member " + quote(clip(token))
	case Array:
		return at + " has no element " + quote(clip(token))
	}
	return fmt.Sprintf("%s is %s %s, which has no members", at, article(n.Kind()), n.Kind())
}

// joinLocation resolves the reference ref, without fragment, against the location
// or URI base.
func joinLocation(base, ref string) string {
	if ref == "" {
		return base
	}
	if hasScheme(ref) || strings.HasPrefix(ref, "//") && !hasScheme(base) {
		return ref
	}
	if hasScheme(base) {
		b, err := url.Parse(base)
		if err != nil {
			return ref
		}
		u, err := b.Parse(ref)
		if err != nil {
			return ref
		}
		return u.String()
	}
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	if path.IsAbs(ref) {
		return path.Clean(ref)
	}
	return path.Join(path.Dir(base), ref)
}

// hasScheme reports whether s begins with a URI scheme (RFC 3986 section 3.1) of two letters or more: one letter is a
// drive.
func hasScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return c == ':' && i > 1
		}
	}
	return false
}

// Locate returns the object or array at a JSON pointer within a file, or the nearest one that contains the value, or
// contained it before it was repaired. It is nil if the file was not read.
func (s *Set) Locate(location, pointer string) *Node {
	f := s.files[location]
	if f == nil && slices.Contains(s.Root().overlays(), location) {
		f = s.order[0] // the pointer of an overlaid value is that in the document
	}
	if f == nil || f.root == nil {
		return nil
	}
	n := f.root
	for rest := strings.TrimPrefix(pointer, "/"); rest != ""; {
		var token string
		token, rest, _ = strings.Cut(rest, "/")
		token = jsonscan.UnescapeToken(token)
		next := n.step(token)
		if next == nil {
			next = n.step(strings.ToLower(token)) // the name of an upper-case method
		}
		if next == nil || next.body == nil {
			break
		}
		n = next
	}
	return n
}
