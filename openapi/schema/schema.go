package schema

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// Dialect is the schema language of a document.
type Dialect uint8

// The three schema languages of OpenAPI. Version 3.2 has the one of 3.1.
const (
	Swagger20 Dialect = iota
	OpenAPI30
	OpenAPI31
)

// Direction is the direction in which a value is sent. It decides which properties are left out (OAS 3.0.4, Schema Object, readOnly and
// writeOnly).
type Direction uint8

// The two directions.
const (
	Request  Direction = iota // properties that are readOnly are left out
	Response                  // properties that are writeOnly are left out
)

// Limits bound what is emitted for one tool. Zero values mean the defaults.
type Limits struct {
	// MaxBytes is the maximum size of an input schema in bytes; default 64 KiB (S6). A larger one is reduced in stages: deep
	// descriptions go first, then deep branches lose everything but their type.
	MaxBytes int
	// MaxOutput is the maximum size of an output schema in bytes; default 4 KiB. A larger one is cut by depth, and left
	// out when that does not help.
	MaxOutput int
	// Pace slows the conversion down in favour of other work; nil: it does not.
	Pace *pacing.Pace
}

// defaultMaxOutput is the default of Limits.MaxOutput.
const defaultMaxOutput = 4 << 10

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = 64 << 10
	}
	if l.MaxOutput <= 0 {
		l.MaxOutput = defaultMaxOutput
	}
	return l
}

// A Converter makes JSON Schemas from the schemas of one document. It is safe for concurrent use. It keeps what it
// has converted, and the document with it: drop both when all operations are compiled.
type Converter struct {
	set     *tree.Set
	dialect Dialect
	warn    func(tree.Warning)
	limits  Limits
	at      *tree.Node                // what is converted for, see For
	found   map[*tree.Node]*tree.Node // base → its alternatives, see alternativesOfBases
	dynamic bool                      // there are $dynamicAnchors, see scope
	steps   *atomic.Int64             // see step

	*converted
}

// converted is what has been converted so far.
type converted struct {
	pace      *pacing.Pace
	fragments sync.Map // fragmentKey → *fragment
	roots     sync.Map // rootKey → *fitted, see Root
	outputs   sync.Map // *tree.Node → *Output (nil: none)
	told      sync.Map // what has been reported, see tell
	scopes    sync.Map // what it binds → *scope
	enums     sync.Map // enumKey → []byte
	reaches   sync.Map // *tree.Node → bool: a $dynamicRef is met below
	referred  referred // checks of what is referred to
	kept      sync.Map // *tree.Node → bool, see keeps
	tags      sync.Map // list of alternatives → those of tagged
	sent      sync.Map // *tree.Node → bool: a property is sent
	readOnly  sync.Map // *tree.Node → *readOnlyPart
	listed    sync.Map // *tree.Node → *listed
	overlaps  sync.Map // overlapKey → bool
	plain     sync.Map // *tree.Node → types, see typesOf
	walked    sync.Map // partKey → true: of a schema that was too large uncut, see collect

	sampledOnce sync.Once
	sampled     map[*tree.Node]bool // see samples
	// scratch has a *[]byte for each goroutine, see written. It is a pointer because the runtime knows every pool until the second
	// collection after its last use, and with it all that it is a part of.
	scratch *sync.Pool
}

// bytesOfStep is how many bytes are written in the time of a step.
const bytesOfStep = 128

// written returns what write appends to an empty slice, in memory of its own that is no longer than it. Schemas are written
// in many small steps, and what they need is known at the end only.
func (c *converted) written(write func(dst []byte) []byte) []byte {
	buffer, _ := c.scratch.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	out := write((*buffer)[:0])
	c.pace.Work(len(out) / bytesOfStep)
	defer func() { *buffer = out; c.scratch.Put(buffer) }()
	return bytes.Clone(out)
}

// NewConverter returns a converter for the document in set. warn hears of everything that was repaired or left out; it may be
// called concurrently, and may be nil. A limit that is 0 has its default.
func NewConverter(set *tree.Set, d Dialect, warn func(tree.Warning), l Limits) *Converter {
	if warn == nil {
		warn = func(tree.Warning) {}
	}
	return &Converter{set: set, dialect: d, warn: warn, limits: l.withDefaults(), found: alternativesOfBases(set), dynamic: hasAnchors(set, d), steps: new(atomic.Int64), converted: &converted{pace: l.Pace, scratch: &sync.Pool{}}}
}

// For returns a converter for one owner of schemas, such as an operation, at the node at: what concerns all of a tool's
// schema is reported there, and everything to warn. It shares with c what has been converted; what was reported
// about a part before is not reported again.
func (c *Converter) For(at *tree.Node, warn func(tree.Warning)) *Converter {
	own := *c
	own.at, own.warn, own.steps = at, warn, new(atomic.Int64)
	return &own
}

// A Property is one argument of an operation.
type Property struct {
	Name        string     // the argument's name
	Schema      *tree.Node // nil: anything
	Required    bool
	Description string // wins over the schema's own; "" keeps that
	Deprecated  bool
	Example     *tree.Node // shown to the model when it is short and fits Schema, in place of the schema's own; may be nil
	Given       *tree.Node // the value in an example of an object that has the property; not shown; may be nil
	// Sends reports whether a value can be sent, as JSON. Examples and defaults that can't are left out. It returns the value
	// that is shown as an example in its place. nil: all can be sent, and are shown as they are.
	Sends    func(value []byte) (shown []byte, ok bool)
	Demands  Demands
	WireName string // the name in the request; mentioned in the description when it differs from Name
	In       string // where the argument goes ("query", "header" …), for the mention of WireName; may be ""
	// MergePatch is the schema of the merge patch (RFC 7396) that the argument is or belongs to: Schema, or one of its alternatives. It
	// is nil without such a patch. Removable reports whether the argument is a member of the patch, which null removes.
	MergePatch *tree.Node
	Removable  bool
}

// Member is one property of a plain object, see [Converter.Plain].
type Member struct {
	Name     string
	Schema   *tree.Node
	Required bool
}

// Output is what is published and checked of an operation's answer, whose schema promises types and nothing else.
type Output struct {
	// Schema is a JSON Schema of type object that every answer fits that keeps to the document's types.
	Schema json.RawMessage
	// Shape decides about the answer as it comes from upstream what Schema decides about it after wrapping.
	// It is compiled.
	Shape *jsonscan.Shape
	// Wrapped says that the answer goes under the member "result", because it may be something else than an object.
	Wrapped bool
}
