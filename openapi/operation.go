package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/pacing"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// An Operation is one callable operation of a document: its description for people and models, and the plan by which
// requests are built and responses read. It is immutable after Compile and safe for concurrent use.
type Operation struct {
	ID          string // operationId as written; "" if there is none
	Method      string // as sent: upper case, except for unusual ones
	Path        string // path template as written, with the query or fragment that some documents append
	Tags        []string
	Summary     string // both texts are plain and cleaned (S8), but not shortened
	Description string
	Deprecated  bool

	// Returns is a phrase for the result of a successful call, for the tool's description: "200: an Order object
	// (application/json)". It is "" if the document does not describe it.
	Returns string

	// Input is the JSON Schema (2020-12) of the arguments, always of type object. Output is that of a structured
	// response in the form of [OutputLoose]; nil if there is none. Published returns what clients see of them.
	Input, Output json.RawMessage

	// Answers reads the responses of the service.
	Answers *answer.Plan

	// Example is one valid call for the tool's description, made from the document's examples of the body: compact JSON
	// of at most 300 bytes. It is nil if there is none.
	Example json.RawMessage
	// ExampleInvented names the arguments in Example whose values are invented and not recognizable as such.
	ExampleInvented []string

	// Base is the base URL of calls if NewRequest is given none: CompileOptions.BaseURL, or else a server of the
	// document; for an operation with servers of its own one of those. It is nil if there is no usable one; BaseProblem
	// then names the setting to configure.
	Base        *url.URL
	BaseProblem string
	// Bases are the base URLs of calls by CompileOptions.ServerChoices, the first of which is Base; nil without choices, or
	// if one of them has no usable server.
	Bases []*url.URL

	// Security lists the alternatives of which one must be met. If it is nil, none is required; an empty Requirement
	// among them makes the others optional.
	Security []Requirement

	Position tree.Position // of the operation
	Pointer  string        // RFC 6901 pointer from the root of Position.File

	// Problems are indices in API.Problems, in order: the problems in the parts of the document that the operation
	// depends on. These are its parameters, body and servers, the responses that determine Output and Returns, and
	// everything that these refer to. At most 100 are kept.
	Problems []int

	// Links are those of its responses of status 2xx, Callbacks the requests to URLs that the service gets from the
	// call.
	Links     []Link
	Callbacks []Callback

	// Extensions are those that CompileOptions.Extensions names, and those with CompileOptions.ExtensionPrefix.
	Extensions []Extension

	// Marks are the names of the extensions of the operation and of its path whose values are neither false nor null,
	// sorted. HiddenBy is the one by which the document hides the operation from models; nil if there is none.
	Marks    []string
	HiddenBy *Hiding

	arguments []argument
	index     map[string]int    // argument name → index in arguments
	former    map[string]string // argument names in the previous release → current names
	template  *wire.Template
	variables []int                 // template variable → index in arguments
	neighbors []neighbors           // paths that values must not lead to, see claimed; nil if no value can
	apart     func(*Operation) bool // reports neighbors to and below whose paths no value may lead, see Apart; nil if there are none
	body      *body                 // nil if none is sent
	accept    []string
	validator func() (*schema.Validator, error)
	maxDepth  int                    // of arguments; 0 for that of jsonscan
	shown     *shown                 // published instead of Input and Output; nil for those themselves
	withheld  []string               // arguments that callers can't give, see Variant
	hidden    []string               // arguments that are hidden from callers, see Curate
	optional  []string               // arguments that callers may leave out, since they are filled in; see Curate
	mistypes  func(name string) bool // reports whether members of the body may have another type, see Lenient; nil if none may
	safety    *bool                  // whether a call changes nothing, see WithSafety; nil if the method decides
	callers   *Operation             // the operation whose arguments explain faults, see Curate; nil for the operation itself
}

// CheckSchema reports whether a validator of the arguments can be made, which happens in the first call. An error means
// that the operation can't be called. It keeps nothing.
func (o *Operation) CheckSchema() error { return schema.Check(o.Input) }

// A Renamed argument has another name than the parameter or property that it becomes.
type Renamed struct {
	Argument, Name string
	In             string // location of Name: "path", "query", "header", "cookie" or "body"
}

// Renamed lists the arguments that could not keep their names, in the order of the arguments.
func (o *Operation) Renamed() (all []Renamed) {
	for _, a := range o.arguments {
		if a.name != a.wire {
			all = append(all, Renamed{a.name, a.wire, a.place.String()})
		}
	}
	if o.body != nil {
		for _, name := range slices.Sorted(maps.Keys(o.body.rename)) {
			all = append(all, Renamed{name, o.body.rename[name], inBody.String()})
		}
	}
	return all
}

// operation compiles one operation. A panic affects only that operation, not the document (S4, S5).
func (c *compiler) operation(f found) (op *Operation, err error) {
	defer func() {
		if r := recover(); r != nil {
			if pacing.Cause(r) != nil {
				panic(r) // it ends the document, not only the operation
			}
			op, err = nil, coded(codeSkipInternal, fmt.Errorf("internal error while compiling it: %v at %s", r, panicSite(debug.Stack())))
		}
	}()
	if _, err := c.set.Follow(f.node); err != nil {
		return nil, coded(codeSkipMissing, skip(f.node, "the operation is missing: %s", cause(err)))
	}
	if f.node.Kind() != tree.Object {
		return nil, coded(codeSkipKind, skip(f.node, "the operation is not an object"))
	}
	if !validMethod(f.method) {
		return nil, coded(codeSkipMethod, skip(f.node, "%q is not a method that can be called", f.method))
	}
	op = &Operation{
		Method: strings.Clone(f.method), Path: strings.Clone(f.path),
		Position: f.node.Position(), Pointer: strings.Clone(f.node.Pointer()),
		maxDepth: c.options.MaxDepth,
	}
	if err := c.setBase(op, f); err != nil {
		return nil, err
	}
	if c.doc.dialect == swagger2 {
		f = c.upgrade(f)
	} else {
		f = c.liftBody(f)
	}
	m, err := c.model(f)
	if err != nil {
		return nil, err
	}
	op.ID = strings.Clone(m.typed.OperationID)
	op.Summary, op.Description = texts(m.node)
	if op.Summary == "" && op.Description == "" {
		op.Summary, op.Description = texts(f.item) // meant for all of its operations (OAS path item object)
	}
	op.Summary, op.Description = op.wordsOf(op.Summary, op.Description)
	op.Deprecated = m.typed.Deprecated
	for _, tag := range m.typed.Tags {
		op.Tags = append(op.Tags, strings.Clone(tag))
	}
	op.Security = c.security.of(m, c.problems)
	if err := c.input(op, m); err != nil {
		return nil, err
	}
	input := sync.OnceValue(op.inputSchema)
	if f.index < maxExampled {
		op.Example, op.ExampleInvented = c.exampleCall(op, m, input)
	}
	c.output(op, m)
	op.Extensions = c.extensions(m)
	op.Marks, op.HiddenBy = marks(f), hiding(f)
	op.Links, op.Callbacks = c.links(m.responses), c.callbacks(m)
	op.shown = op.in(c.options.Profile, c.options.MaxSchema, input)
	op.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(op.Input) })
	return op, nil
}

// texts returns the summary and description of an operation or a path item.
func texts(n *tree.Node) (summary, description string) {
	return strings.Clone(schema.Prose(n.Get("summary").Text(), 0)), strings.Clone(schema.Prose(n.Get("description").Text(), 0))
}

// validMethod accepts any token (RFC 9110 section 9.1) but CONNECT, which turns the connection into a tunnel.
func validMethod(method string) bool {
	if slices.Contains(methods, strings.ToLower(method)) {
		return true
	}
	if strings.EqualFold(method, http.MethodConnect) {
		return false
	}
	_, err := http.NewRequestWithContext(context.Background(), method, "", nil)
	return err == nil
}

// panicSite returns the file and line of the project that a panic came from.
func panicSite(stack []byte) string {
	past := false
	for line := range strings.Lines(string(stack)) {
		if strings.HasPrefix(line, "panic(") {
			past = true
		}
		if past && strings.HasPrefix(line, "\t") && !strings.Contains(line, "/runtime/") {
			place, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			return place[strings.LastIndexByte(place, '/')+1:]
		}
	}
	return "an unknown place"
}
