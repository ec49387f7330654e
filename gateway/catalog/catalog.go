package catalog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"drawbridge/openapi"
)

// Catalog is a set of tools, sorted by name. It is immutable.
type Catalog struct {
	tools   []*Tool
	byName  map[string]*Tool
	former  map[string]*Tool // by names that tools had, which no tool has
	clashes []Clash
	short   bool // see Short
	pace    *openapi.Pace
}

// API is an upstream service with its operations.
type API struct {
	Name   string
	Former string // the name that the previous release gave it; "" if unchanged
	// Yields reports that tools of the API leave their names to those of APIs that don't yield: the names of its operations, and its own,
	// are a stranger's.
	Yields     bool
	Operations []*openapi.Operation
	// Choose returns the configuration of an operation, and whether it becomes a tool. It is called
	// once for each operation. If nil, all become tools.
	Choose func(*openapi.Operation) (Choice, bool)
	// Before returns the tool that an earlier catalog made of the operation with the same choice, nil if
	// there is none. If the names of all tools of the API are the same as before, these are taken over.
	// If Before is nil, all tools are made anew.
	Before func(*openapi.Operation) *Tool
}

// Choice is the configuration of one operation. Empty values are derived from the document.
type Choice struct {
	Name        string // used without the API's prefix
	Title       string
	Description string
	Hidden      bool // no view lists the tool
	// Annotations are the hints of the tool; nil for those of the method.
	Annotations *Annotations
	// ParamHeaders are arguments that clients mirror in headers, in the order of the argument
	// names.
	ParamHeaders []ParamHeader
	// Shapeless reports that the response does not have the documented shape: the tool has no
	// output schema.
	Shapeless bool
	// Shown is the operation with the arguments that callers see; nil if they are unchanged.
	Shown *openapi.Operation
}

// Prefix determines when tool names begin with the name of their API.
type Prefix uint8

// Values of [Prefix].
const (
	Auto Prefix = iota // if more than one API is configured
	Always
	Never
)

// Names determines what tool names are derived from.
type Names uint8

// Values of [Names].
const (
	ByID  Names = iota // from the operationId as it is, or else method and path
	Short              // from the words of these that say what the operation does
)

// Options are the naming rules. The zero value is the default.
type Options struct {
	Names   Names
	Prefix  Prefix
	APIs    int           // number of configured APIs, whether or not all of them are in the catalog; 0 for those given to Build
	MaxName int           // maximum length of a name in bytes, 16 to 128; 0 for 64
	Pace    *openapi.Pace // pace of the work; nil if it does not yield
	// Reserved are names that no tool gets: an operation whose name would be one of them gets it with a hash.
	Reserved []string
	// Published are the names of earlier catalogs: with Short, operations keep them, and no other operation gets them.
	Published Published
}

// Build creates the catalog of all exposed operations. Others still count for name clashes, so that
// excluding one operation does not rename another.
func Build(apis []API, o Options) *Catalog {
	var candidates []*candidate
	ends := make([]int, 0, len(apis)) // of the candidates of each API
	for _, api := range apis {
		for _, op := range api.Operations {
			o.Pace.Step()
			c := &candidate{api: api.Name, formerAPI: cmp.Or(api.Former, api.Name), yields: api.Yields, op: op, exposed: true}
			if api.Choose != nil {
				c.choice, c.exposed = api.Choose(op)
			}
			candidates = append(candidates, c)
		}
		ends = append(ends, len(candidates))
	}
	if o.APIs == 0 {
		o.APIs = len(apis)
	}
	c := &Catalog{pace: o.Pace, short: o.Names == Short, clashes: name(candidates, o), byName: make(map[string]*Tool, len(candidates))}
	for i, begin := 0, 0; i < len(apis); begin, i = ends[i], i+1 {
		c.add(candidates[begin:ends[i]], apis[i].Before)
	}
	slices.SortFunc(c.tools, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	c.former = formerNames(c.tools, candidates)
	return c
}

// formerNames returns the tools by their former names, except those names that another operation has or had.
func formerNames(tools []*Tool, candidates []*candidate) map[string]*Tool {
	known := make(map[string]int, len(candidates)) // number of operations by name
	for _, c := range candidates {
		known[c.name]++
		for _, name := range c.former {
			known[name]++
		}
	}
	former := map[string]*Tool{}
	for _, t := range tools {
		for _, name := range t.Former {
			if known[name] == 1 {
				former[name] = t
			}
		}
	}
	return former
}

// add adds the tools of one API.
func (c *Catalog) add(candidates []*candidate, before func(*openapi.Operation) *Tool) {
	tools := takenOver(candidates, before)
	if tools == nil {
		describeAll(candidates, c.pace)
		shared := sharedBy(candidates)
		for _, candidate := range candidates {
			c.pace.Step()
			if candidate.exposed {
				tools = append(tools, newTool(candidate, shared))
			}
		}
	}
	for _, t := range tools {
		c.byName[t.Name] = t
	}
	c.tools = append(c.tools, tools...)
}

// takenOver returns the tools of an API that an earlier catalog made; nil if the names of one of them differ.
func takenOver(candidates []*candidate, before func(*openapi.Operation) *Tool) (tools []*Tool) {
	if before == nil {
		return nil
	}
	for _, candidate := range candidates {
		if !candidate.exposed {
			continue
		}
		t := before(candidate.op)
		if t == nil || t.API != candidate.api || !t.names().equal(candidate.names()) {
			return nil
		}
		tools = append(tools, t)
	}
	return tools
}

// All returns the tools by name. The slice must not be modified.
func (c *Catalog) All() []*Tool { return c.tools }

// Clashes returns the names that tools of several APIs would have. The slice must not be modified.
func (c *Catalog) Clashes() []Clash { return c.clashes }

// Lookup returns the tool with that name, nil if there is none.
func (c *Catalog) Lookup(name string) *Tool { return c.byName[name] }

// Renamed returns the tool that had a name which no tool has now, nil if there is none. It never returns one for a name that several
// operations have had.
func (c *Catalog) Renamed(name string) *Tool { return c.former[name] }

// Only returns the catalog of those tools for which keep returns true, with unchanged names. The others still count as
// clashes.
func (c *Catalog) Only(keep func(*Tool) bool) *Catalog {
	part := &Catalog{pace: c.pace, short: c.short, clashes: c.clashes, byName: map[string]*Tool{}, former: map[string]*Tool{}}
	for _, t := range c.tools {
		if keep(t) {
			part.tools = append(part.tools, t)
			part.byName[t.Name] = t
			for _, name := range t.Former {
				if c.former[name] == t {
					part.former[name] = t
				}
			}
		}
	}
	return part
}

// With returns the catalog with further tools, whose names no other tool has.
func (c *Catalog) With(more []*Tool) *Catalog {
	if len(more) == 0 {
		return c
	}
	all := *c
	all.tools, all.byName = slices.Concat(c.tools, more), maps.Clone(c.byName)
	slices.SortFunc(all.tools, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range more {
		all.byName[t.Name] = t
	}
	return &all
}

// Diff is the difference between two catalogs. Names are sorted.
type Diff struct {
	Added, Removed []string
	Changed        []string // the definition, the API, the method or the path has changed
}

// Empty reports whether nothing differs.
func (d Diff) Empty() bool { return len(d.Added)+len(d.Removed)+len(d.Changed) == 0 }

// Diff returns the changes since old, which may be nil.
func (c *Catalog) Diff(old *Catalog) Diff {
	if old == nil {
		old = &Catalog{}
	}
	var d Diff
	for _, t := range c.tools {
		c.pace.Step()
		switch before := old.byName[t.Name]; {
		case before == nil:
			d.Added = append(d.Added, t.Name)
		case !t.equal(before):
			d.Changed = append(d.Changed, t.Name)
		}
	}
	for _, t := range old.tools {
		if c.byName[t.Name] == nil {
			d.Removed = append(d.Removed, t.Name)
		}
	}
	return d
}

func (t *Tool) equal(old *Tool) bool {
	if t == old {
		return true
	}
	input, output := t.schemas.Published(openapi.ProfileFull)
	oldInput, oldOutput := old.schemas.Published(openapi.ProfileFull)
	return t.API == old.API && t.Method == old.Method && t.Path == old.Path &&
		t.Hidden == old.Hidden && t.Shapeless == old.Shapeless && bytes.Equal(t.title, old.title) && bytes.Equal(t.middle, old.middle) &&
		bytes.Equal(input, oldInput) && bytes.Equal(output, oldOutput) &&
		t.Annotations == old.Annotations && slices.Equal(t.ParamHeaders, old.ParamHeaders)
}
