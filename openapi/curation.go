package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// A Curation changes how callers see the arguments of an operation. All arguments have the names that they have in
// Operation.Input of the operation that is curated.
type Curation struct {
	// Arguments are the changed arguments by their names.
	Arguments map[string]CuratedArgument
	// Hidden are the arguments that callers neither see nor give.
	Hidden []string
	// Optional are the arguments that callers may leave out, since they are filled in.
	Optional []string
}

// A CuratedArgument is what callers see of an argument. A zero field keeps what the document says.
type CuratedArgument struct {
	Name             string // [A-Za-z0-9_.-]{1,64}, and no other argument's
	Description      string
	Default, Example json.RawMessage
}

// RenameError is the reason why an argument can't have another name.
type RenameError struct {
	Argument string // its name in the operation
	Reason   string
}

// Error implements error.
func (e *RenameError) Error() string { return e.Reason }

// errNotRenamable is the reason why the arguments of an operation can't have other names.
var errNotRenamable = errors.New("the document restricts the names of the arguments by a pattern, or describes them in too many parts")

// Curate returns the operation with changed arguments: all has all of them and builds the requests, given is what callers
// see. Both are the same if nothing is hidden or optional. The faults of both are worded for callers. The error is a
// *[RenameError].
func (o *Operation) Curate(c Curation) (all, given *Operation, err error) {
	all, err = o.renamed(c.Arguments)
	if err != nil {
		return nil, nil, err
	}
	shown := func(names []string) (list []string) {
		for _, name := range names {
			if own := c.Arguments[name].Name; own != "" {
				name = own
			}
			list = append(list, name)
		}
		return list
	}
	if len(c.Hidden) == 0 && len(c.Optional) == 0 {
		return all, all, nil
	}
	given = all.Variant(shown(c.Optional), shown(c.Hidden), "")
	given.withheld = all.withheld
	given.optional = shown(c.Optional)
	given.hidden = slices.Concat(all.hidden, shown(c.Hidden))
	all.callers = given
	return all, given, nil
}

// renamed returns a copy of the operation with other names and texts of arguments.
func (o *Operation) renamed(changes map[string]CuratedArgument) (*Operation, error) {
	names := map[string]string{}
	declared := o.Names()
	wrong := func(name, format string, args ...any) error {
		return &RenameError{Argument: name, Reason: fmt.Sprintf(format, args...)}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		to := changes[name].Name
		switch {
		case to == "" || to == name:
			continue
		case !isArgumentName(to):
			return nil, wrong(name, "%q can't be the name of an argument: at most 64 letters, digits, _, . and -", to)
		case declared[to]:
			return nil, wrong(name, "the operation has an argument %q already", to)
		}
		for _, other := range names {
			if other == to {
				return nil, wrong(name, "two arguments would have the name %q", to)
			}
		}
		names[name] = to
	}
	e := schemaEditor{definitions: newDefinitions(o.inputSchema(), "_shown"), names: names, changes: changes}
	curated := *o
	var err error
	if curated.Input, err = e.input(); err != nil {
		return nil, wrong(slices.Sorted(maps.Keys(names))[0], "%v", err)
	}
	if len(names) > 0 {
		curated.rename(o, names)
	}
	curated.showLike(o, max(0, len(curated.Input)-len(o.Input)))
	curated.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(curated.Input) })
	return &curated, nil
}

// isArgumentName reports whether an argument can have the name.
func isArgumentName(name string) bool { return name != "" && legalName(name, name, false) == name }

// rename binds the arguments of the original under their new names.
func (o *Operation) rename(original *Operation, names map[string]string) {
	now := func(name string) string {
		if to, ok := names[name]; ok {
			return to
		}
		return name
	}
	o.arguments = slices.Clone(original.arguments)
	o.index = make(map[string]int, len(o.arguments))
	for i := range o.arguments {
		o.arguments[i].name = now(o.arguments[i].name)
		o.index[o.arguments[i].name] = i
	}
	o.former = make(map[string]string, len(original.former))
	for before, name := range original.former {
		o.former[before] = now(name)
	}
	o.withheld, o.hidden = slices.Clone(original.withheld), slices.Clone(original.hidden)
	for _, list := range [][]string{o.withheld, o.hidden} {
		for i, name := range list {
			list[i] = now(name)
		}
	}
	if original.Example != nil {
		o.Example = renameMembers(original.Example, names)
		o.ExampleInvented = slices.Clone(original.ExampleInvented)
		for i, name := range o.ExampleInvented {
			o.ExampleInvented[i] = now(name)
		}
	}
	if b := original.body; b != nil && b.form == formRoot {
		own := *b
		own.rename, own.renamed = maps.Clone(b.rename), maps.Clone(b.renamed)
		if own.rename == nil {
			own.rename, own.renamed = map[string]string{}, map[string]string{}
		}
		for name, to := range names {
			wireName := name
			if before, ok := b.rename[name]; ok {
				wireName = before
				delete(own.rename, name)
			}
			own.rename[to], own.renamed[wireName] = wireName, to
		}
		o.body = &own
	}
}

// renameMembers returns an object with other names of members.
func renameMembers(object []byte, names map[string]string) []byte {
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		to, ok := names[string(name)]
		if !ok {
			to = string(name)
		}
		dst = jsonscan.AppendMember(dst, to, value)
	}
	return append(dst, '}')
}

// FitArgument returns the value of one argument as requests are built of it, whatever the other arguments are. The error
// has the faults of the value alone.
func (o *Operation) FitArgument(name string, value json.RawMessage) (json.RawMessage, error) {
	single := jsonscan.AppendMember([]byte{'{'}, name, value)
	single = append(single, '}')
	alone := o.Variant(slices.Sorted(maps.Keys(o.Names())), nil, "")
	pointer := jsonscan.PointerTo(name)
	about := func(err error) error {
		var bad *ArgumentError
		if !errors.As(err, &bad) {
			return err
		}
		var faults []string
		for _, f := range bad.Faults {
			if rest, ok := strings.CutPrefix(f.Pointer, pointer); ok && (rest == "" || rest[0] == '/') {
				faults = append(faults, strings.TrimPrefix(rest+": ", ": ")+f.Message)
			}
		}
		if faults == nil {
			return nil // it is about what is missing
		}
		return errors.New(strings.Join(faults, "; "))
	}
	checked, dropped, err := alone.Check(single)
	if slices.Contains(dropped, pointer) {
		return nil, errors.New("it counts as absent, and would not be sent")
	}
	if err := about(err); err != nil {
		return nil, err
	}
	if err == nil {
		if fit := jsonscan.Lookup(checked, name); fit != nil {
			value = bytes.Clone(fit)
		}
		if _, err = alone.NewRequest(context.Background(), &url.URL{Scheme: "https", Host: "example"}, checked); err != nil {
			if err := about(err); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
