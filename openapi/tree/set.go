package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Opener reads the file or URL that a reference points to. The location is derived from the location of the referring
// file, from, so it is a path if that is a path. depth counts the files on the path to it: 1 for one that the root
// refers to. The Opener decides which locations may be read: an error becomes a warning of the document, and the
// reference stays unresolved. Load calls it from one goroutine, once for each location, with the first reference to it.
type Opener func(ctx context.Context, location, from string, depth int) ([]byte, error)

// Set is a document: its root file and all files that it refers to. It is
// read-only and safe for concurrent use.
type Set struct {
	files    map[string]*file // by location, failed ones too
	order    []*file          // the files that were read, root first
	ids      map[string]*Node // by absolute URI: $id, $self; "uri#name": $anchor
	hasIDs   bool             // some file uses $id or $self
	refChain int
}

// file is one file of a Set.
type file struct {
	location string
	root     *Node
	err      error // the reason why it can't be used; root is nil then
	depth    int   // number of files on the path to it
	names    nameSet
	targets  map[string]target // resolved references, by their text
}

// target is the target of a reference, or the reason why there is none.
type target struct {
	node    *Node
	problem string
}

// Load parses the document in data, which was read from location, follows its references over all files, and repairs
// values of the wrong shape; each repair is a Warning. data belongs to the Set afterwards and must not be changed. The
// error is a *SyntaxError, a *LimitError or ctx's error.
func Load(ctx context.Context, location string, data []byte, open Opener, limits Limits) (*Set, []Warning, error) {
	return LoadEdited(ctx, location, data, open, nil, limits)
}

// LoadEdited is Load with an edit of the root file before references are followed and values repaired; a nil edit
// changes nothing.
func LoadEdited(ctx context.Context, location string, data []byte, open Opener, edit Edit, limits Limits) (*Set, []Warning, error) {
	l := &loader{
		ctx: ctx, open: open,
		budget: newBudget(limits),
		warn:   newWarnings(),
		set:    &Set{files: map[string]*file{}, ids: map[string]*Node{}},
	}
	l.set.refChain = l.budget.RefChain
	root, err := l.read(location, data, 0, edit)
	if err == nil {
		err = l.checkVersion(root.root)
	}
	if err != nil {
		return nil, l.warn.list, explained(err, location, data)
	}
	w := newWalker(l)
	if err := w.walk(root.root); err != nil {
		return nil, l.warn.list, err
	}
	return l.set, l.warn.all(root.root.Position()), nil
}

// Root returns the top-level object of the document.
func (s *Set) Root() *Node { return s.order[0].root }

// Files returns the locations of all files read, the root first.
func (s *Set) Files() []string {
	out := make([]string, len(s.order))
	for i, f := range s.order {
		out[i] = f.location
	}
	return out
}

// loader builds a Set.
type loader struct {
	ctx    context.Context // of the one call to Load that uses this loader
	open   Opener
	budget *budget
	warn   *warnings
	set    *Set
	fatal  error // an error while resolving that ends the whole load
}

// read parses one file and adds it to the set, with the changes of an edit, which may be nil.
func (l *loader) read(location string, data []byte, depth int, edit Edit) (*file, error) {
	f := &file{location: location, depth: depth, targets: map[string]target{}}
	r := &reader{file: location, budget: l.budget, warn: l.warn}
	if f.root, f.err = r.parse(data); f.err == nil {
		f.err = l.edit(r, f.root, edit)
	}
	f.names = r.names
	l.set.files[location] = f
	if f.err != nil {
		return f, f.err
	}
	l.set.order = append(l.set.order, f)
	l.set.register(f)
	return f, nil
}

// edit runs an Edit on the root file that r has read.
func (l *loader) edit(r *reader, root *Node, edit Edit) error {
	if edit == nil || root.kind != Object { // checkVersion returns the error
		return nil
	}
	return edit(&Editor{ctx: l.ctx, file: r, root: root})
}

// file returns the file at location, which from refers to, and reads it if necessary. It returns nil if the whole load
// must end; l.fatal is then the reason.
func (l *loader) file(location string, from *Node, depth int) *file {
	if f := l.set.files[location]; f != nil {
		return f
	}
	if l.fatal = l.ctx.Err(); l.fatal != nil {
		return nil
	}
	p := from.Position()
	if l.budget.files++; l.budget.files >= l.budget.Files {
		l.fatal = tooMany(p, l.budget.Files, "files")
		return nil
	}
	if depth > l.budget.FileDepth {
		l.fatal = &LimitError{Position: p, Message: fmt.Sprintf(
			"files refer to files more than %d levels deep; bundle the document into one file", l.budget.FileDepth)}
		return nil
	}
	fail := func(err error) *file {
		f := &file{location: location, err: err}
		l.set.files[location] = f
		return f
	}
	if l.open == nil {
		return fail(errors.New("references to other files are not allowed here"))
	}
	data, err := l.open(l.ctx, location, from.location(), depth)
	if err != nil {
		if l.fatal = l.ctx.Err(); l.fatal != nil {
			return nil
		}
		return fail(reason(err))
	}
	f, err := l.read(location, data, depth, nil)
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		l.fatal = err
		return nil
	}
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) {
		l.warn.addAt(syntax.Position, CodeFile, "%s", syntax.Message)
		return fail(errors.New("it can't be parsed"))
	}
	if err != nil {
		return fail(err)
	}
	return f
}

// reason removes the path from a file system error, since the surrounding message already has it.
func reason(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
