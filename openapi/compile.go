package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/pacing"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
)

// OutputMode is the kind of output schemas.
type OutputMode uint8

// The modes of output_schemas.
const (
	OutputLoose OutputMode = iota // types and names only, so that every response close to the document is valid
	OutputOff                     // none
)

// Profile is the set of keywords that published schemas may use.
type Profile uint8

// The profiles.
const (
	ProfileFull       Profile = iota // all of JSON Schema 2020-12
	ProfileCompatible                // the keywords that converters and APIs of the common model vendors accept
	ProfilePortable                  // the keywords that every known model and client accepts
)

// DefaultMaxOperations is the maximum number of operations of one document if CompileOptions.MaxOperations is zero
// (S3).
const DefaultMaxOperations = 10_000

// A SlashParameter is a path parameter whose values may contain slashes.
type SlashParameter struct {
	Name     string
	Encoded  bool // a slash is sent as "%2F"; otherwise unchanged
	Rejected bool // a slash is refused, although the document allows it
}

// CompileOptions are the settings of one API.
type CompileOptions struct {
	// BaseURL replaces the servers of the document as a whole: http or https, absolute, without user, query and
	// fragment. Operations with other servers on the same origin keep their path. If it is nil, the document's servers
	// apply, as far as S7 allows.
	BaseURL *url.URL
	// ServicePath determines the path of BaseURL; nil if BaseURL has it.
	ServicePath *ServicePath
	// AllowServers lists further origins ("https://api.example.com") that servers of the document may have.
	AllowServers []string
	Output       OutputMode
	// ReadableHTML reduces HTML responses to their visible text; those of failures always are.
	ReadableHTML bool
	// MaxOperations is the maximum number of operations of a document; 0 for DefaultMaxOperations.
	MaxOperations int
	// Reserved names the parameters that the gateway itself sends, above all its credential (R5, R7): operations don't
	// offer them as arguments.
	Reserved []Reserved
	// Profile is the set of keywords of the published schemas. It changes no name and no check.
	Profile Profile
	// MaxSchema is the maximum size of an input schema in bytes; 0 for 64 KiB. A larger one is reduced, and
	// API.Problems lists the reductions.
	MaxSchema int
	// ServerVariables are values for variables of the document's servers, by name (S7).
	ServerVariables map[string]string
	// ServerChoices are the servers of which each call goes to one, see Operation.Bases; none if all calls have the same
	// server.
	ServerChoices []ServerChoice
	// SlashParameters are the path parameters whose values may contain slashes (R2), or must not, overriding the
	// document.
	SlashParameters []SlashParameter
	// Extensions names the extensions of operations that are kept, in the order in which Operation.Extensions has them.
	Extensions []string
	// ExtensionPrefix adds to Operation.Extensions the names of other extensions with this prefix, without their
	// values, to report misspelt ones. It is limited to 20 per operation.
	ExtensionPrefix string
	// Pace is the pace of the work; nil never yields, and uses all processors.
	Pace *Pace
	// MaxDepth is the maximum nesting of arguments, including that of JSON within their strings; 0 for 200.
	MaxDepth int
	// MaxSize limits the memory that the API keeps, in bytes, see API.Size; 0 for the total of the limits of S3.
	MaxSize int64
}

// ErrLargeAPI is returned by [Document.Compile] if the API would keep more than CompileOptions.MaxSize.
var ErrLargeAPI = errors.New("the operations of the document take more memory than there is for them")

// Reserved is the name of a parameter that is never an argument.
type Reserved struct {
	In   string // "query", "header" or "cookie"
	Name string // header names are compared ignoring case
}

// An API is a compiled document. It is immutable and safe for concurrent use.
type API struct {
	Operations []*Operation // in the document's order
	Skipped    []Skipped    // in the document's order
	Problems   []Problem    // by file, line and column
	Schemes    []Scheme     // the security schemes that the document declares, in its order
	Incoming   Incoming     // requests that the service makes to callers
	// Used is the part of its budget of steps that reading and compiling the document used.
	Used pacing.Used
	// Base is the base URL of operations without servers of their own; nil if there is no usable one.
	Base *url.URL
	// Hosts are those that the document names for its readers, at most 64: of servers, documentation and info.
	Hosts []string
	// Size is the approximate memory of the API in bytes, with a tool for each of its operations.
	Size int64
}

// Compile compiles every operation. A fault in one operation removes only that one, into API.Skipped. The error is for
// a document that can't be used at all, for options that can't be met (such as [ErrLargeAPI]), and for the end of ctx.
func (d *Document) Compile(ctx context.Context, o CompileOptions) (api *API, err error) {
	o.Pace = o.Pace.Bound(loadBudget)
	o.Pace.Resume(d.used)
	defer func() {
		if ended := pacing.Cause(recover()); ended != nil {
			api, err = nil, d.exceeded(ended, d.set.Root())
		}
	}()
	if err := o.Pace.Take(ctx); err != nil {
		return nil, err
	}
	defer o.Pace.Give()
	c, err := newCompiler(d, o)
	if err != nil {
		return nil, err
	}
	found, skipped := c.walk()
	if err := c.checkVariables(found); err != nil {
		return nil, err
	}
	limit := o.MaxOperations
	if limit <= 0 {
		limit = DefaultMaxOperations
	}
	if len(found) > limit {
		return nil, fmt.Errorf("%s: the document has %d operations; at most %d are allowed", d.set.Root().Position(), len(found), limit)
	}
	budget := newBudget(d.used.Bytes)
	results, err := c.compileAll(ctx, found, budget)
	if err != nil {
		return nil, err
	}
	if api, err = c.collect(found, skipped, results, budget); err != nil {
		return nil, err
	}
	api.Used = o.Pace.Used()
	return api, nil
}

func newCompiler(d *Document, o CompileOptions) (c *compiler, err error) {
	c = &compiler{doc: d, set: d.set, options: o, problems: &problems{}, memory: &memory{plans: answer.NewCompiler(o.ReadableHTML)}}
	for _, p := range d.problems {
		c.problems.add(p)
	}
	if err = c.setServers(); err != nil {
		return nil, err
	}
	c.schema = schema.NewConverter(d.set, schemaDialect(d.dialect), c.problems.warn, schema.Limits{MaxBytes: o.MaxSchema, Pace: o.Pace})
	c.security.init(d.set, c.problems)
	return c, nil
}

// compileAll compiles operations, several at a time. If the operations before one have exhausted the budget, it is
// passed over and its result is empty.
func (c *compiler) compileAll(ctx context.Context, found []found, budget *budget) ([]result, error) {
	results := make([]result, len(found))
	var emitted, kept atomic.Int64
	keep := func(r result) error {
		if n := kept.Add(r.kept()); c.options.MaxSize > 0 && n > c.options.MaxSize {
			return ErrLargeAPI
		}
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Pace.Workers())
	for i := range found {
		found[i].index = i
		f := found[i]
		if err := budget.lists(c, f); err != nil {
			s := f.skipped(err)
			results[i] = result{skipped: &s}
			if err := keep(results[i]); err != nil {
				group.Go(func() error { return err })
				break
			}
			continue
		}
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if emitted.Load() <= budget.most {
				if results[i], err = c.compileBounded(f); err != nil {
					return err
				}
				emitted.Add(results[i].cost())
				return keep(results[i])
			}
			return nil
		})
	}
	return results, group.Wait()
}

// collect makes an API from results in the document's order, so that the same operations are skipped each time. An
// operation that was passed over because later ones had exhausted the budget first is compiled now.
func (c *compiler) collect(found []found, skipped []Skipped, results []result, budget *budget) (*API, error) {
	api := &API{Skipped: skipped, Schemes: c.security.schemes, Incoming: c.incoming(found), Base: c.servers.root.url, Hosts: c.hosts(found)}
	for i := range skipped {
		api.Size += result{skipped: &skipped[i]}.kept()
	}
	var touched []touch
	for i, r := range results {
		if r == (result{}) && budget.left() {
			var err error
			if r, err = c.compileBounded(found[i]); err != nil {
				return nil, err
			}
		}
		if err := budget.memory(r.cost()); err != nil {
			s := found[i].skipped(err)
			r = result{skipped: &s}
		}
		if r.skipped != nil {
			api.Skipped = append(api.Skipped, *r.skipped)
		} else {
			api.Operations = append(api.Operations, r.operation)
			touched = append(touched, touch{found[i], r.operation, r.met})
		}
		if api.Size += r.kept(); c.options.MaxSize > 0 && api.Size > c.options.MaxSize {
			return nil, ErrLargeAPI
		}
	}
	api.setNeighbors()
	c.reportTwins(touched)
	api.Problems = c.problems.sorted()
	attribute(c.set, api.Problems, touched, c.options.Pace)
	return api, nil
}

// reportTwins reports operations that have the operationId of an earlier one. The standard requires unique ids (OAS Operation Object).
func (c *compiler) reportTwins(all []touch) {
	first := make(map[string]*touch, len(all))
	for i := range all {
		t := &all[i]
		if t.operation.ID == "" {
			continue
		}
		if twin := first[t.operation.ID]; twin != nil {
			at := t.found.node.Get("operationId")
			if at == nil {
				at = t.found.node
			}
			c.problems.at(at, codeOperationID, "the operationId %.100q is also that of %s %.200s (%s); tools that would have the same name get words of their paths",
				shortCopy(t.operation.ID), twin.operation.Method, shortCopy(twin.operation.Path), twin.operation.Position)
			continue
		}
		first[t.operation.ID] = t
	}
}

// A result is that of one operation; the zero value means that it was passed over.
type result struct {
	operation *Operation // nil if it is skipped
	skipped   *Skipped
	met       *problems // found while it was compiled
	wasted    bool      // its schema was too large after every reduction
}

// compile compiles an operation, or returns the reason to skip it.
func (c *compiler) compile(f found) result {
	c.options.Pace.Work(stepsOfOperation)
	own := c.alone(f)
	op, err := own.operation(f)
	if err != nil {
		s := f.skipped(err)
		var size *schema.SizeError
		return result{skipped: &s, wasted: errors.As(err, &size)}
	}
	return result{operation: op, met: own.problems}
}

// compileBounded is compile with an error that ends the whole document.
func (c *compiler) compileBounded(f found) (r result, err error) {
	defer func() {
		if v := recover(); v != nil {
			ended := pacing.Cause(v)
			if ended == nil {
				panic(v)
			}
			err = c.doc.exceeded(ended, f.node)
		}
	}()
	return c.compile(f), nil
}

// cost returns the memory of the result that counts against the budget.
func (r result) cost() int64 {
	switch {
	case r.wasted:
		return wastedBytes
	case r.operation != nil:
		return r.operation.size()
	default:
		return 0
	}
}

// kept returns the approximate memory of the result that remains in use.
func (r result) kept() int64 {
	switch {
	case r.skipped != nil:
		return skippedBytes + r.skipped.size()
	case r.operation != nil:
		return toolBytes + r.operation.size() + int64(len(r.operation.Input)+len(r.operation.Output)) // which its tool contains again
	default:
		return 0
	}
}

// A compiler holds the state that the operations of one document share while they are compiled, by several goroutines.
type compiler struct {
	doc      *Document
	set      *tree.Set
	options  CompileOptions
	schema   *schema.Converter
	servers  *servers
	choices  []*servers // of the options, the first of which is servers; nil without choices
	security security
	problems *problems
	*memory
}

// memory is the part that the compilers of all operations write, see alone.
type memory struct {
	plans *answer.Compiler // for responses
	typed sync.Map         // *tree.Node of a parameter → *openapi3.Parameter
	xml   xmlPlans
	// prepared holds the schemas of multipart bodies, see multipartSchema.
	prepared sync.Map // preparedKey → *tree.Node
}

func schemaDialect(d dialect) schema.Dialect {
	switch d {
	case swagger2:
		return schema.Swagger20
	case openapi30:
		return schema.OpenAPI30
	default:
		return schema.OpenAPI31
	}
}

// alone returns the compiler for one operation, which records the problems that it finds.
func (c *compiler) alone(f found) *compiler {
	own := *c
	own.problems = &problems{all: c.problems}
	own.schema = c.schema.For(f.node, own.problems.warn)
	return &own
}

// found is an operation in the document that has not been interpreted yet.
type found struct {
	method, path string
	item, node   *tree.Node // path item object and operation object, references followed
	index        int        // in the list of all
}

func (f found) skipped(err error) Skipped {
	s := Skipped{
		Method: shortCopy(f.method), Path: shortCopy(f.path), ID: shortCopy(f.node.Get("operationId").Text()),
		Position: f.node.Position(), Pointer: shortCopy(f.node.Pointer()), Reason: shortCopy(err.Error()),
	}
	var e *skipError
	if errors.As(err, &e) && e.at != nil {
		s.Position, s.Pointer = e.at.Position(), shortCopy(e.at.Pointer())
	}
	left := skippedText
	for _, tag := range f.node.Get("tags").Items() {
		if left -= textBytes + len(tag.Text()); left < 0 {
			break
		}
		s.Tags = append(s.Tags, strings.Clone(tag.Text()))
	}
	if s.Code = codeSkipKind; e != nil && e.code != "" {
		s.Code = e.code
	}
	return s
}

// methods are the fixed fields of a path item for operations; query was added in 3.2.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// walk lists all operations in the document's order, and as skipped those that it can't reach.
func (c *compiler) walk() (all []found, skipped []Skipped) {
	for _, key := range []string{"paths", tree.MSPaths} {
		all, skipped = c.walkPaths(c.set.Root().Get(key), all, skipped)
	}
	return all, skipped
}

func (c *compiler) walkPaths(paths *tree.Node, all []found, skipped []Skipped) ([]found, []Skipped) {
	for path, node := range paths.Members() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, err := c.set.Follow(node)
		if err != nil {
			skipped = append(skipped, Skipped{Path: strings.Clone(path), Position: node.Position(),
				Pointer: strings.Clone(node.Pointer()), Reason: "the path item is missing: " + cause(err), Code: codeSkipMissing})
			continue
		}
		all = c.walkItem(path, item, all)
		if item != node {
			// Siblings of the reference: undefined in 3.0, but they were intended.
			for name, member := range node.Members() {
				if slices.Contains(methods, name) && item.Get(name) == nil {
					all = c.add(all, found{strings.ToUpper(name), path, node, member, 0})
				}
			}
		}
	}
	return all, skipped
}

func (c *compiler) walkItem(path string, item *tree.Node, all []found) []found {
	for name, node := range item.Members() {
		switch {
		case slices.Contains(methods, name):
			all = c.add(all, found{strings.ToUpper(name), path, item, node, 0})
		case name == "additionalOperations" && c.doc.dialect == openapi31:
			for method, node := range node.Members() {
				// The key is the method as sent (OAS 3.2 path item object); methods that have a field of their own are
				// valid in one spelling only.
				if slices.Contains(methods, strings.ToLower(method)) {
					method = strings.ToUpper(method)
				}
				all = c.add(all, found{method, path, item, node, 0})
			}
		}
	}
	return all
}

// add appends an operation. An operation that is a reference (as all of DigitalOcean's) is followed here; one that is
// missing is skipped later with the reason.
func (c *compiler) add(all []found, f found) []found {
	if f.node.Kind() == tree.Null {
		return all
	}
	if node, err := c.set.Follow(f.node); err == nil {
		f.node = node
	}
	return append(all, f)
}
