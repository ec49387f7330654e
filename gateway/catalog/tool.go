package catalog

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Tool is the definition of a tool of any kind: the name, texts and schemas that clients see, and what operators filter and search
// by. It is immutable.
type Tool struct {
	Name        string // [A-Za-z0-9_-], unique in its catalog
	Title       string // display name, never empty
	Description string // for models, never empty, at most 1,024 characters
	// Said is Description without additions from id, tag or path that distinguish the tool from
	// others.
	Said string
	// Described reports that the configuration gives the description, instead of the document.
	Described   bool
	API         string // name of the API that the tool belongs to; "" if it belongs to none
	Annotations Annotations
	Tags        []string
	Deprecated  bool
	// Method and Path are those of the requests of its calls; Path is a template. They are empty for a tool that is no operation.
	Method, Path string
	// Document has the texts of the API's document, of which Title and Description are made.
	Document Document
	// Configured has the texts that the configuration sets instead.
	Configured Texts
	// Operation is the operation that the tool is; nil for a tool of another kind. It is for what is about operations, such as
	// their plans, reports and approval.
	Operation *openapi.Operation
	// ParamHeaders are the arguments that clients mirror in headers, without those that a header
	// can't represent.
	ParamHeaders []ParamHeader
	Hidden       bool // no view lists it
	Shapeless    bool // it has no output schema, even if Schemas has one
	// Wanted is the name without clashes and length limit; "" if the tool has that.
	Wanted string
	// Lost reports that Wanted was transliterated from a form that others share.
	Lost bool
	// Digit reports that the name begins with "_" because a digit would be its first character.
	Digit bool
	// Former are other names of the tool: those under which it was published, that of the previous release, and with [Short] that of its
	// operationId. Approvals are looked up by them, and calls as far as [Catalog.Renamed] returns the tool.
	Former []string
	// FormerAPI is the name that the previous release gave the API; "" if unchanged.
	FormerAPI string

	schemas    Schemas
	structured bool            // schemas has an output schema
	shared     sharedArguments // of its API
	// The pieces of the definition, joined by appendDefinition. The schemas come in between.
	head     []byte // {"name":…
	title    []byte // the title as a JSON string
	middle   []byte // ,"description":…,"inputSchema":
	annotate []byte // ,"annotations":{… without the closing brace

	tokens  atomic.Int64           // of the definition; 0 if they haven't been counted
	caution atomic.Pointer[string] // nil if it hasn't been looked for
	// Those of the signature without a query; nil until they are needed.
	arguments, answer atomic.Pointer[string]
}

func newTool(c *candidate, shared sharedArguments) *Tool {
	op, shown := c.op, c.shown()
	t := &Tool{
		Title: title(op, c.choice), Description: c.description, Said: c.said, Described: c.choice.Description != "", API: c.api, Annotations: c.annotations(),
		Tags: op.Tags, Deprecated: op.Deprecated, Method: op.Method, Path: op.Path, Operation: op,
		Document:   Document{ID: op.ID, Summary: op.Summary, Description: op.Description, Returns: op.Returns},
		Configured: Texts{Name: c.choice.Name, Title: c.choice.Title, Description: c.choice.Description},
		Hidden:     c.choice.Hidden, Shapeless: c.choice.Shapeless, schemas: shown, structured: shown.Output != nil,
		shared: shared,
	}
	names := c.names()
	t.Name, t.Wanted, t.Lost, t.Digit, t.Former, t.FormerAPI = names.name, names.wanted, names.lost, names.digit, names.former, names.formerAPI
	t.serialize()
	t.ParamHeaders = t.headerSafe(c.choice.ParamHeaders)
	return t
}

// Texts are the texts of an operation that the configuration sets; they are empty where those of the document apply.
type Texts struct{ Name, Title, Description string }

// Definition is what a tool that is no operation says of itself. All texts but Output are required.
type Definition struct {
	Name, Title, Description string
	// Input is the schema of the arguments, Output that of the structured result, nil if there is none. They use no keywords but
	// those that every client understands.
	Input, Output json.RawMessage
	Annotations   Annotations
}

// NewTool returns a tool of another kind than an operation.
func NewTool(d Definition) *Tool {
	t := &Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, Said: d.Description, Annotations: d.Annotations,
		Document: Document{ID: d.Name, Summary: d.Title, Description: d.Description}, schemas: ownSchemas{d.Input, d.Output}, structured: d.Output != nil,
	}
	t.serialize()
	return t
}

// serialize makes the pieces of the definition.
func (t *Tool) serialize() {
	t.head = jsonscan.AppendString([]byte(`{"name":`), t.Name)
	t.title = jsonscan.AppendString(nil, t.Title)
	t.middle = jsonscan.AppendString([]byte(`,"description":`), t.Description)
	t.middle = append(t.middle, `,"inputSchema":`...)
	t.annotate = t.Annotations.Append([]byte(`,"annotations":{`))
}

// annotations returns the chosen annotations, else those of the method.
func (c *candidate) annotations() Annotations {
	if a := c.choice.Annotations; a != nil {
		return *a
	}
	return AnnotationsOf(c.op.Method)
}

// names are the names of a tool, which other documents may change.
type names struct {
	name, wanted string
	lost, digit  bool
	former       []string
	formerAPI    string
}

func (n names) equal(other names) bool {
	return n.name == other.name && n.wanted == other.wanted && n.lost == other.lost && n.digit == other.digit &&
		slices.Equal(n.former, other.former) && n.formerAPI == other.formerAPI
}

func (t *Tool) names() names { return names{t.Name, t.Wanted, t.Lost, t.Digit, t.Former, t.FormerAPI} }

func (c *candidate) names() names {
	n := names{name: c.name, digit: c.digit, former: c.former}
	switch {
	case c.twin != "":
		n.wanted = c.twin
	case c.name != c.full:
		n.wanted, n.lost = c.full, c.lost
	}
	if c.formerAPI != c.api {
		n.formerAPI = c.formerAPI
	}
	return n
}

// Definition returns the tool as in tools/list for clients with the features f.
func (t *Tool) Definition(f Features) []byte {
	return t.appendDefinition(make([]byte, 0, t.size(f)), f)
}

// DefinitionWith returns a definition with other schemas, such as excerpts of its own; output may be nil.
func (t *Tool) DefinitionWith(input, output []byte) []byte {
	dst := append(append(slices.Clone(t.head), t.middle...), input...)
	if output != nil {
		dst = append(append(dst, outputKey...), output...)
	}
	return append(dst, '}')
}

// Tokens returns how many tokens the tool uses in a model's context: those of its definition with
// all features, in the configured profile of its API. They are counted at the first call, which
// takes 50 µs for a definition of the usual size.
func (t *Tool) Tokens() int {
	if n := t.tokens.Load(); n > 0 {
		return int(n)
	}
	n := tokenizer.Count(t.Definition(AllFeatures))
	t.tokens.Store(int64(n))
	return n
}

// Bytes returns the length of the definition that [Tool.Tokens] counts, without counting anything.
func (t *Tool) Bytes() int { return t.size(AllFeatures) }

func (t *Tool) appendDefinition(dst []byte, f Features) []byte {
	dst = append(dst, t.head...)
	if f.Title {
		dst = append(append(dst, titleKey...), t.title...)
	}
	input, output := t.Published(f.Profile)
	dst = append(dst, t.middle...)
	if f.ParamHeaders && t.ParamHeaders != nil {
		dst = t.appendMarked(dst, input)
	} else {
		dst = append(dst, input...)
	}
	if f.OutputSchema && output != nil {
		dst = append(append(dst, outputKey...), output...)
	}
	if f.Annotations {
		dst = append(dst, t.annotate...)
		if !f.Title {
			// The revision that introduced annotations has no other place for the title.
			dst = append(append(dst, titleKey...), t.title...)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// size returns the length of appendDefinition in the configured profile of the API. In another
// profile it is approximate, which suffices to allocate.
func (t *Tool) size(f Features) int {
	input, output := t.Published(openapi.ProfileFull)
	n := len(t.head) + len(t.middle) + len(input) + 1
	if f.Title || f.Annotations {
		n += len(titleKey) + len(t.title)
	}
	if f.OutputSchema && output != nil {
		n += len(outputKey) + len(output)
	}
	if f.Annotations {
		n += len(t.annotate) + 1
	}
	if f.ParamHeaders {
		for _, h := range t.ParamHeaders {
			n += len(paramHeaderKey) + len(h.Name) + len(`"",`)
		}
	}
	return n
}

// Published returns the schemas as clients see them; output is nil if the tool has none.
func (t *Tool) Published(p openapi.Profile) (input, output json.RawMessage) {
	if input, output = t.schemas.Published(p); t.Shapeless {
		output = nil
	}
	return input, output
}

// Approved returns the schemas that an approval of the tool covers; output is nil if the tool has none.
func (t *Tool) Approved() (input, output json.RawMessage) {
	if input, output = t.schemas.Approved(); t.Shapeless {
		output = nil
	}
	return input, output
}

// Structured reports whether the tool has an output schema.
func (t *Tool) Structured() bool { return !t.Shapeless && t.structured }

// ExampleCall returns an example of valid arguments, nil if none is found at once.
func (t *Tool) ExampleCall() json.RawMessage { return t.schemas.ExampleCall() }

const (
	titleKey  = `,"title":`
	outputKey = `,"outputSchema":`
)
