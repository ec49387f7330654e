package schema

import (
	"errors"
	"fmt"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// noLimit is the value of cut.text and cut.depth that takes nothing away.
const noLimit = 255

// cut limits how much of a schema is written. Depth counts levels of schemas: the schema of a property is one level below the schema
// with the property, and so is a member of allOf.
type cut struct {
	text  uint8 // from this depth on, no descriptions, titles, defaults and examples
	depth uint8 // from this depth on, nothing but the type
	short bool  // what descriptions stay are cut to maxShortText characters
}

const maxShortText = 200

var uncut = cut{text: noLimit, depth: noLimit}

// below returns the cut for a schema that is a number of levels deeper.
func (c cut) below(levels int) cut {
	less := func(n uint8) uint8 {
		if n == noLimit {
			return n
		}
		return uint8(max(0, int(n)-levels))
	}
	return cut{text: less(c.text), depth: less(c.depth), short: c.short}
}

// fragmentKey names one form of a schema that others refer to.
type fragmentKey struct {
	node  *tree.Node
	base  bool // without its oneOf and anyOf: what an alternative takes over from the schema that lists it
	kept  bool // with its readOnly properties
	merge bool // of a merge patch
	cut   cut
	in    *scope
}

// A fragment is a schema as JSON with holes where it refers to others, which are known only when a tool's schema is
// put together. It is immutable.
type fragment struct {
	body  []byte
	holes []hole
}

// A hole is a reference in a fragment, to be filled at offset at.
type hole struct {
	at      int
	node    *tree.Node
	base    bool
	whole   bool // the hole is a whole schema; else it is the value of a "$ref" beside other keywords
	inPlace bool // the schema referred to applies to the value of the fragment's own schema
	all     bool // it is a member of allOf, or has keywords beside it
	union   bool // it is a member of anyOf or oneOf
	kept    bool // its readOnly properties stay
	merge   bool // it is part of a merge patch
	renamed bool // it applies to the root value of a tool, whose properties have other names for the model
	in      *scope
	depth   int // levels between the fragment's schema and the one referred to
}

// fragment returns the form of a schema that key names, converted on first use.
func (c *Converter) fragment(key fragmentKey) *fragment {
	if known, ok := c.fragments.Load(key); ok {
		f, _ := known.(*fragment)
		return f
	}
	made, e := c.convert(key, nil)
	if known, ok := c.fragments.LoadOrStore(key, made); ok {
		f, _ := known.(*fragment)
		return f
	}
	if !key.base && key.cut == uncut {
		e.report()
	}
	return made
}

// convert makes a fragment. rename is that of the tool, if the fragment applies to its root value.
func (c *Converter) convert(key fragmentKey, rename map[string]string) (*fragment, *emitter) {
	e := &emitter{c: c, self: key.node, cut: key.cut, in: key.in, rename: rename}
	body := c.written(func(dst []byte) []byte {
		e.out = dst
		e.schema(key.node, place{base: key.base, kept: key.kept, merge: key.merge, inPlace: true})
		return e.out
	})
	return &fragment{body: body, holes: e.holes}, e
}

// target returns the schema that a reference refers to, after chains of references without other keywords. If it is nil, problem is
// the reason.
func (c *Converter) target(ref *tree.Node) (node *tree.Node, problem string) {
	node, err := c.set.Resolve(ref)
	if err == nil {
		for range maxRefChain {
			if !c.pureRef(node) {
				break
			}
			if node, err = c.set.Resolve(node); err != nil {
				break
			}
		}
	}
	switch {
	case err != nil:
		if e := (*tree.RefError)(nil); errors.As(err, &e) {
			return nil, fmt.Sprintf("the reference %q leads nowhere: %s", text.TruncateWords(e.Ref, maxTitle), e.Message)
		}
		return nil, err.Error()
	case node.Kind() != tree.Object && node.Kind() != tree.Bool:
		return nil, fmt.Sprintf("the reference leads to a value of type %s", node.Kind())
	case c.pureRef(node):
		return nil, "the reference leads back to itself"
	}
	return node, ""
}

const maxRefChain = 64

// reference returns the reference in a schema, or nil.
func (c *Converter) reference(n *tree.Node) *tree.Node {
	if ref := n.Get("$ref"); ref.Kind() == tree.String {
		return ref
	}
	if c.dialect == OpenAPI31 {
		if ref := n.Get("$dynamicRef"); ref.Kind() == tree.String {
			return ref
		}
	}
	return nil
}

// pureRef reports whether a schema is a reference without other keywords that matter.
func (c *Converter) pureRef(n *tree.Node) bool {
	if c.reference(n) == nil {
		return false
	}
	for name := range n.Members() {
		if r := ruleOf(name, c.dialect); r != dropped && r != refRule {
			return false
		}
	}
	return true
}

// resolve returns what a schema stands for: n itself, or the schema its reference leads to, siblings of the reference
// left aside. Nil when the reference leads nowhere.
func (c *Converter) resolve(n *tree.Node) *tree.Node {
	for range maxRefChain {
		ref := c.reference(n)
		if ref == nil {
			return n
		}
		n, _ = c.target(ref)
	}
	return nil
}

// hidden reports whether a property does not exist for values that are sent (readOnly) or received (writeOnly).
func (c *Converter) hidden(property *tree.Node, d Direction) bool {
	word := "readOnly"
	if d == Response {
		word = "writeOnly"
	}
	if property.Get(word).Bool() {
		return true
	}
	if c.reference(property) == nil || property.Get(word) != nil {
		return false
	}
	return c.resolve(property).Get(word).Bool()
}

// tell reports a warning the first time it is made.
func (c *Converter) tell(w nodeWarning) {
	type once struct {
		node *tree.Node
		code string
	}
	if _, told := c.told.LoadOrStore(once{w.node, w.Code}, true); !told {
		c.warn(w.Warning)
	}
}

// warning makes a warning about a node.
func warning(n *tree.Node, code, format string, args ...any) tree.Warning {
	return tree.Warning{Position: n.Position(), Pointer: n.Pointer(), Code: code, Message: fmt.Sprintf(format, args...)}
}

// Codes of the warnings of this package.
const (
	CodeSchemaRef     = "schema-ref"       // a reference that leads to no schema: anything is accepted there
	CodeSchemaCycle   = "schema-cycle"     // a schema that contains itself in place: the inner one is left out
	CodeSchemaKind    = "schema-kind"      // something else than a schema: anything is accepted there
	CodeSchemaWord    = "schema-type-word" // a word under "type" that JSON Schema doesn't have: read as one that it has
	CodeSchemaType    = "schema-type"      // an unknown word under "type": left out
	CodeSchemaKeyword = "schema-keyword"   // a keyword with a value that it can't have: left out
	CodeSchemaText    = "schema-unclean"   // a value that holds hidden characters or is too long: left out
	CodeSchemaPattern = "schema-pattern"   // a regular expression that JavaScript does not know: left out
	CodeSchemaRE2     = "pattern-not-re2"  // a regular expression that stays but is not checked here
	CodeSchemaOneOf   = "schema-one-of"    // alternatives that overlap: anyOf instead of oneOf
	CodeSchemaSize    = "schema-size"      // a schema that had to be reduced
	CodeSchemaExample = "schema-example"   // an example or default that breaks its own schema: left out
)
