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

// OutputMode says which output schemas are made (D8).
type OutputMode uint8

// The modes of output_schemas.
const (
	OutputLoose OutputMode = iota // types and names only, so that every answer near the document fits
	OutputOff                     // none
)

// Profile says which keywords the published schemas may use.
type Profile uint8

// The profiles.
const (
	ProfileFull       Profile = iota // all of JSON Schema 2020-12
	ProfileCompatible                // what the converters and APIs of the common model vendors take
	ProfilePortable                  // what every known model and client takes
)

// DefaultMaxOperations is the most operations of one document when CompileOptions.MaxOperations is zero (S3).
const DefaultMaxOperations = 10_000

// A SlashParameter is a path parameter whose values may hold slashes.
type SlashParameter struct {
	Name     string
	Encoded  bool // a slash is sent as "%2F"; else as it is
	Rejected bool // a slash is refused, although the document allows it
}

// CompileOptions is what the configuration says of one API.
type CompileOptions struct {
	// BaseURL stands for the servers of the document as a whole: http or https, absolute, without user, query and
	// fragment. Operations with other servers on the same origin keep the path of those. Nil: the document's servers, as far as S7 allows.
	BaseURL *url.URL
	// ServicePath is how the path of BaseURL is found; nil if BaseURL has it.
	ServicePath *ServicePath
	// AllowServers lists further origins ("https://api.example.com") that servers of the document may have.
	AllowServers []string
	Output       OutputMode
	// ReadableHTML reduces answers that are HTML to the text that a reader sees; those of failures always are.
	ReadableHTML bool
	// MaxOperations is the most operations that a document may have; 0: DefaultMaxOperations.
	MaxOperations int
	// Reserved names the parameters that the gateway itself sends, its credential above all (R5, R7): operations
	// don't offer them as arguments.
	Reserved []Reserved
	// Profile is which keywords the published schemas may use. It changes no name and no check.
	Profile Profile
	// MaxSchema is the most bytes of an input schema; 0: 64 KiB. A larger one is reduced, and API.Problems says how.
	MaxSchema int
	// ServerVariables are values for variables of the document's servers, by name (S7).
	ServerVariables map[string]string
	// SlashParameters are the path parameters whose values may hold slashes (R2), or must not, whatever the document says.
	SlashParameters []SlashParameter
	// Extensions names the extensions of operations that are kept, in the order in which Operation.Extensions has them.
	Extensions []string
	// ExtensionPrefix has Operation.Extensions tell of others whose names begin with it, behind those, without their values: for who
	// wants to know what is misspelt. At most 20 of an operation are told.
	ExtensionPrefix string
	// Pace is that of the work; nil: it makes way for nobody, and takes all processors.
	Pace *Pace
	// MaxDepth is the deepest nesting of arguments, that of JSON which they hold as text included; 0: 200.
	MaxDepth int
	// MaxSize is the most bytes that the API may keep, see API.Size; 0: what the limits of S3 come to.
	MaxSize int64
}

// ErrLargeAPI is returned by [Document.Compile] when the API would keep more than CompileOptions.MaxSize.
var ErrLargeAPI = errors.New("the operations of the document take more memory than there is for them")

// Reserved is the name of a parameter that is never an argument.
type Reserved struct {
	In   string // "query", "header" or "cookie"
	Name string // header names are compared without regard to case
}

// An API is what Compile makes of a document. It is immutable and safe for concurrent use.
type API struct {
	Operations []*Operation // in the document's order
	Skipped    []Skipped    // in the document's order
	Problems   []Problem    // by file, line and column
	Schemes    []Scheme     // the security schemes that the document declares, in its order
	Incoming   Incoming     // what is described and goes the other way
	// Used is what reading and compiling the document took of its budget of steps.
	Used pacing.Used
	// Base is where operations without servers of their own go; nil if there is none that may be used.
	Base *url.URL
	// Hosts are those that the document names for its readers, at most 64: of servers, documentation and info.
	Hosts []string
	// Size is about how many bytes the API keeps, with a tool for each of its operations.
	Size int64
}

// Compile makes a plan of every operation. A fault in one operation removes only that one, into API.Skipped.
// The error is for a document that can't be used at all, for options that can't be met ([ErrLargeAPI] is one), and for the end of ctx.
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
	if err := c.servers.checkVariables(d.set.Root(), found); err != nil {
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
	if o.BaseURL != nil {
		if err := checkBase(o.BaseURL); err != nil {
			return nil, fmt.Errorf("base URL %q: %w", o.BaseURL.Redacted(), err)
		}
	}
	c = &compiler{doc: d, set: d.set, options: o, problems: &problems{}, memory: &memory{plans: answer.NewCompiler(o.ReadableHTML)}}
	for _, p := range d.problems {
		c.problems.add(p)
	}
	if c.servers, err = newServers(d, o, c.problems); err != nil {
		return nil, err
	}
	c.schema = schema.NewConverter(d.set, schemaDialect(d.dialect), c.problems.warn, schema.Limits{MaxBytes: o.MaxSchema, Pace: o.Pace})
	c.security.init(d.set, c.problems)
	return c, nil
}

// compileAll compiles operations, several at a time. The result of one that was passed over, because those that were compiled before it
// have used up the budget, is empty.
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
		found[i].place = i
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

// collect makes an API of results in the document's order, so that the same operations are skipped each time. One that was passed over
// because of some that come after it has its turn now.
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
	c.reportTwins(touched)
	api.Problems = c.problems.sorted()
	attribute(c.set, api.Problems, touched, c.options.Pace)
	return api, nil
}

// reportTwins reports operations whose operationId another one before them has: ids are unique (OAS Operation Object).
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
				brief(t.operation.ID), twin.operation.Method, brief(twin.operation.Path), twin.operation.Position)
			continue
		}
		first[t.operation.ID] = t
	}
}

// A result is what became of one operation; the zero value stands for one that had no turn yet.
type result struct {
	operation *Operation // nil: it is skipped
	skipped   *Skipped
	met       *problems // while it was compiled
	wasted    bool      // its schema was found too large after all ways of reducing it were tried
}

// compile makes an operation, or says why it is skipped.
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

// cost is what the result takes of the budget of memory.
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

// kept is what the result goes on to take, about.
func (r result) kept() int64 {
	switch {
	case r.skipped != nil:
		return skippedBytes + r.skipped.size()
	case r.operation != nil:
		return toolBytes + r.operation.size() + int64(len(r.operation.Input)+len(r.operation.Output)) // which stand in its tool again
	default:
		return 0
	}
}

// A compiler holds what the operations of one document share while they are compiled, by several goroutines.
type compiler struct {
	doc      *Document
	set      *tree.Set
	options  CompileOptions
	schema   *schema.Converter
	servers  *servers
	security security
	problems *problems
	*memory
}

// memory is what the compilers of all operations write, see alone.
type memory struct {
	plans *answer.Compiler // of answers
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

// alone returns the compiler for one operation, which notes the problems that it meets.
func (c *compiler) alone(f found) *compiler {
	own := *c
	own.problems = &problems{all: c.problems}
	own.schema = c.schema.For(f.node, own.problems.warn)
	return &own
}

// found is an operation in the document, before anything in it is understood.
type found struct {
	method, path string
	item, node   *tree.Node // path item object and operation object, references followed
	place        int        // in the list of all
}

func (f found) skipped(err error) Skipped {
	s := Skipped{
		Method: brief(f.method), Path: brief(f.path), ID: brief(f.node.Get("operationId").Text()),
		Position: f.node.Position(), Pointer: brief(f.node.Pointer()), Reason: brief(err.Error()),
	}
	var e *skipError
	if errors.As(err, &e) && e.at != nil {
		s.Position, s.Pointer = e.at.Position(), brief(e.at.Pointer())
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

// methods are the fixed fields of a path item that hold operations; query came with 3.2.
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
			// Siblings of the reference: undefined in 3.0, but what stands there was meant.
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
				// The key is the method as it is to be sent (OAS 3.2 path item object); those that have a field of their own
				// are known in one spelling only.
				if slices.Contains(methods, strings.ToLower(method)) {
					method = strings.ToUpper(method)
				}
				all = c.add(all, found{method, path, item, node, 0})
			}
		}
	}
	return all
}

// add appends an operation. An operation that is a reference (DigitalOcean writes all of its so) is followed here; one
// that is missing is left to be skipped with the reason.
func (c *compiler) add(all []found, f found) []found {
	if f.node.Kind() == tree.Null {
		return all
	}
	if node, err := c.set.Follow(f.node); err == nil {
		f.node = node
	}
	return append(all, f)
}
