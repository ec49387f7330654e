package catalog

import (
	"encoding/json"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// A Tool is an operation under the name and in the words in which clients see it. It is immutable.
type Tool struct {
	Name        string // [A-Za-z0-9_-], unique in its catalog
	Title       string // for people, never empty
	Description string // for models, never empty, at most 1,024 characters
	// Said is Description without what was added from id, tag or path to tell the tool from others.
	Said        string
	API         string // name of the API that the operation belongs to
	Operation   *openapi.Operation
	Annotations Annotations
	// ParamHeaders are the arguments that clients repeat in headers; those that no header can hold are left out.
	ParamHeaders []ParamHeader
	Hidden       bool // no view lists it
	Shapeless    bool // it has no output schema, whatever the operation has
	// Wanted is the name that the tool would have were it alone and names of any length; "" if it has that.
	Wanted string
	// Lost tells that Wanted was transliterated, and that other names would read the same.
	Lost bool
	// Former is the name that the release before gave the tool, FormerAPI that of the API; "": the same. Approvals are known by them for
	// one release.
	Former, FormerAPI string

	// shown is the operation as clients see it: its schemas are published.
	shown *openapi.Operation
	// The definition in pieces, to be joined by appendDefinition. The schemas are taken from the operation.
	head     []byte // {"name":…
	title    []byte // the title as a JSON string
	middle   []byte // ,"description":…,"inputSchema":
	annotate []byte // ,"annotations":{… without the closing brace
}

func newTool(c *candidate) *Tool {
	shown := c.shown()
	t := &Tool{
		Name: c.name, Title: title(c.op, c.choice), Description: c.description, Said: c.said, API: c.api, Operation: c.op,
		Annotations: annotations(c.op.Method), Hidden: c.choice.Hidden, Shapeless: c.choice.Shapeless, shown: shown,
		Former: c.former,
	}
	if t.Name != c.full {
		t.Wanted, t.Lost = c.full, c.lost
	}
	if c.formerAPI != c.api {
		t.FormerAPI = c.formerAPI
	}
	t.head = jsonscan.AppendString([]byte(`{"name":`), t.Name)
	t.title = jsonscan.AppendString(nil, t.Title)
	t.middle = jsonscan.AppendString([]byte(`,"description":`), t.Description)
	t.middle = append(t.middle, `,"inputSchema":`...)
	t.annotate = t.Annotations.append([]byte(`,"annotations":{`))
	t.ParamHeaders = t.holdable(c.choice.ParamHeaders)
	return t
}

// Definition returns the tool as tools/list shows it to clients that know f.
func (t *Tool) Definition(f Features) []byte {
	return t.appendDefinition(make([]byte, 0, t.size(f)), f)
}

// Tokens estimates how many tokens the tool takes in a model's context: a quarter of the bytes of its definition, in the
// profile that its API is configured with.
func (t *Tool) Tokens() int {
	return t.size(Features{Title: true, Annotations: true, OutputSchema: true}) / 4
}

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
			// The revision that brought annotations had no other place for the title.
			dst = append(append(dst, titleKey...), t.title...)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// size returns the length of appendDefinition in the profile that the API is configured with. In another one it is about
// that, and good enough to make room.
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

// ExampleCall returns one set of arguments that callers may give, nil where none is found at once.
func (t *Tool) ExampleCall() json.RawMessage { return t.shown.ExampleCall() }

const (
	titleKey  = `,"title":`
	outputKey = `,"outputSchema":`
)
