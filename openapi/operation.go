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
// requests are built and answers read. It is immutable after Compile and safe for concurrent use.
type Operation struct {
	ID          string // operationId as written, "" when there is none
	Method      string // as it is sent: in capitals, but for unusual ones
	Path        string // path template as written, with the query or fragment that some documents put there
	Tags        []string
	Summary     string // both texts are plain and cleaned for reading (S8), but not shortened
	Description string
	Deprecated  bool

	// Returns says in one phrase what a successful call gives, for the tool's description: "200: an Order object
	// (application/json)". It is "" when the document says nothing.
	Returns string

	// Input is the JSON Schema (2020-12) of the arguments, always of type object. Output is that of a structured
	// answer in the loose form of decision D8, nil when there is none. Published says what clients see of them.
	Input, Output json.RawMessage

	// Answers reads the answers of the service.
	Answers *answer.Plan

	// Example is one valid call for the tool's description, of what the document gives as examples of the body: compact
	// JSON of at most 300 bytes. It is nil when there is none.
	Example json.RawMessage
	// ExampleInvented names the arguments in Example with values that the document does not give and that don't show it.
	ExampleInvented []string

	// Base is where calls go when NewRequest is given no base: CompileOptions.BaseURL, else a server of the document; for an operation
	// with servers of its own one of those. It is nil when there is none that may be used; BaseProblem then says what to configure.
	Base        *url.URL
	BaseProblem string

	// Security lists the alternatives of which one must be met. Nil means that none is asked for; an empty
	// Requirement among them makes the others optional.
	Security []Requirement

	Position tree.Position // where the operation stands
	Pointer  string        // RFC 6901 pointer from the root of Position.File

	// Problems are places in API.Problems, in order: what was found in the parts of the document that the operation is
	// made of. They are its parameters, body and servers, the answers that Output and Returns are made of, and all that
	// these refer to. At most 100 are kept.
	Problems []int

	// Links are those of its answers of status 2xx, Callbacks the requests of which it tells the service the URL.
	Links     []Link
	Callbacks []Callback

	// Extensions are those that CompileOptions.Extensions names, and those with CompileOptions.ExtensionPrefix.
	Extensions []Extension

	// Marks are the names of the extensions of the operation and of its path whose values are neither false nor null,
	// sorted. HiddenBy is the one by which the document says that the operation is not for models; nil if there is none.
	Marks    []string
	HiddenBy *Hiding

	arguments []argument
	index     map[string]int    // argument name → place in arguments
	former    map[string]string // what the release before named arguments → their names now
	template  *wire.Template
	variables []int // template variable → place in arguments
	body      *body // nil: none is sent
	accept    []string
	validator func() (*schema.Validator, error)
	maxDepth  int        // of arguments; 0: that of jsonscan
	shown     *shown     // what is published instead of Input and Output; nil: those themselves
	withheld  []string   // arguments that callers can't give, see Variant
	hidden    []string   // arguments that callers don't know of, see Curate
	optional  []string   // arguments that callers may leave out, since they are filled in; see Curate
	safety    *bool      // whether a call changes nothing, see WithSafety; nil: the method says
	callers   *Operation // by whose arguments faults are explained, see Curate; nil: the operation itself
}

// CheckSchema finds out whether a validator of the arguments can be made, which happens on the first call. An error means that
// the operation can't be called. It keeps nothing.
func (o *Operation) CheckSchema() error { return schema.Check(o.Input) }

// A Renamed argument has another name than the parameter or property that it becomes.
type Renamed struct {
	Argument, Name string
	In             string // where Name stands: "path", "query", "header", "cookie" or "body"
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

// operation compiles one operation. A panic is one operation's misfortune, not that of the document (S4, S5).
func (c *compiler) operation(f found) (op *Operation, err error) {
	defer func() {
		if r := recover(); r != nil {
			if pacing.Cause(r) != nil {
				panic(r) // it ends the document, not the operation alone
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
	to := c.servers.of(f)
	if to.refused != nil {
		return nil, coded(codeSkipServer, &skipError{at: to.at, reason: to.refused})
	}
	op.Base, op.BaseProblem = to.url, to.problem
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
	if f.place < maxExampled {
		op.Example, op.ExampleInvented = c.exampleCall(op, m)
	}
	c.output(op, m)
	op.Extensions = c.extensions(m)
	op.Marks, op.HiddenBy = marks(f), hiding(f)
	op.Links, op.Callbacks = c.links(m.responses), c.callbacks(m)
	op.shown = op.in(c.options.Profile, c.options.MaxSchema)
	op.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(op.Input) })
	return op, nil
}

// texts returns what an operation or a path item says of itself.
func texts(n *tree.Node) (summary, description string) {
	return strings.Clone(schema.Prose(n.Get("summary").Text(), 0)), strings.Clone(schema.Prose(n.Get("description").Text(), 0))
}

// validMethod accepts any token (RFC 9110 section 9.1) but CONNECT, which makes a tunnel of the connection.
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

// panicSite returns the file and line of ours that a panic came from.
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
