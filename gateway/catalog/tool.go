package catalog

import (
	"encoding/json"
	"sync/atomic"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Tool is an operation with the name and texts that clients see. It is immutable.
type Tool struct {
	Name        string // [A-Za-z0-9_-], unique in its catalog
	Title       string // display name, never empty
	Description string // for models, never empty, at most 1,024 characters
	// Said is Description without additions from id, tag or path that distinguish the tool from
	// others.
	Said        string
	API         string // name of the API that the operation belongs to
	Operation   *openapi.Operation
	Annotations Annotations
	// ParamHeaders are the arguments that clients mirror in headers, without those that a header
	// can't represent.
	ParamHeaders []ParamHeader
	Hidden       bool // no view lists it
	Shapeless    bool // it has no output schema, even if the operation has
	// Wanted is the name without clashes and length limit; "" if the tool has that.
	Wanted string
	// Lost reports that Wanted was transliterated from a form that others share.
	Lost bool
	// Digit reports that the name begins with "_" because a digit would be its first character.
	Digit bool
	// Former is the name that the previous release gave the tool, FormerAPI that of the API; "" if
	// unchanged. Approvals are looked up by them for one release.
	Former, FormerAPI string

	// shown is the operation as clients see it, with the published schemas.
	shown *openapi.Operation
	// The pieces of the definition, joined by appendDefinition. The schemas are taken from the
	// operation.
	head     []byte // {"name":…
	title    []byte // the title as a JSON string
	middle   []byte // ,"description":…,"inputSchema":
	annotate []byte // ,"annotations":{… without the closing brace

	tokens atomic.Int64 // of the definition; 0 if they haven't been counted
}

func newTool(c *candidate) *Tool {
	shown := c.shown()
	t := &Tool{
		Title: title(c.op, c.choice), Description: c.description, Said: c.said, API: c.api, Operation: c.op,
		Annotations: c.annotations(), Hidden: c.choice.Hidden, Shapeless: c.choice.Shapeless, shown: shown,
	}
	names := c.names()
	t.Name, t.Wanted, t.Lost, t.Digit, t.Former, t.FormerAPI = names.name, names.wanted, names.lost, names.digit, names.former, names.formerAPI
	t.head = jsonscan.AppendString([]byte(`{"name":`), t.Name)
	t.title = jsonscan.AppendString(nil, t.Title)
	t.middle = jsonscan.AppendString([]byte(`,"description":`), t.Description)
	t.middle = append(t.middle, `,"inputSchema":`...)
	t.annotate = t.Annotations.Append([]byte(`,"annotations":{`))
	t.ParamHeaders = t.headerSafe(c.choice.ParamHeaders)
	return t
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
	name, wanted      string
	lost, digit       bool
	former, formerAPI string
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
	if input, output = t.shown.Published(p); t.Shapeless {
		output = nil
	}
	return input, output
}

// Approved returns the schemas that an approval of the tool covers; output is nil if the tool has none.
func (t *Tool) Approved() (input, output json.RawMessage) {
	if input, output = t.shown.Approved(); t.Shapeless {
		output = nil
	}
	return input, output
}

// Structured reports whether the tool has an output schema.
func (t *Tool) Structured() bool { return !t.Shapeless && t.shown.Output != nil }

// ExampleCall returns an example of valid arguments, nil if none is found at once.
func (t *Tool) ExampleCall() json.RawMessage { return t.shown.ExampleCall() }

const (
	titleKey  = `,"title":`
	outputKey = `,"outputSchema":`
)
