package overlay

import (
	"fmt"
	"strings"

	"drawbridge/openapi/overlay/jsonpath"
	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// File is an overlay as it was read.
type File struct {
	Location string
	Data     []byte
}

// Kind is the effect of an action on the nodes that its target selects.
type Kind string

// The kinds.
const (
	Update Kind = "update"
	Copy   Kind = "copy"
	Remove Kind = "remove"
	None   Kind = "none" // no effect: the action has neither update nor copy, or both
)

// Action reports the result of an action.
type Action struct {
	Position tree.Position // of its target
	Target   string        // as written
	Kind     Kind
	Matched  int  // nodes that its target selected
	Optional bool // the target need not select anything
}

// IsSameRemoval reports whether another action is a removal by the same query of the same overlay.
func (a Action) IsSameRemoval(other Action) bool {
	return a.Kind == Remove && other.Kind == Remove && a.Target == other.Target && a.Position.File == other.Position.File
}

// Apply applies overlays in their order to the document at a location, and returns the result of each of their actions.
// An action that selects nothing is a warning of the document. The error is of type [Fault] or [Faults], or one of
// package tree.
func Apply(e *tree.Editor, location string, files []File) ([]Action, error) {
	a := &applier{editor: e, work: &work{editor: e, left: maxSteps}}
	for _, f := range files {
		root, err := e.Parse(f.Location, f.Data)
		if err != nil {
			return nil, err
		}
		o, err := parse(root)
		if err != nil {
			return nil, err
		}
		if o.extends != "" && !isSame(f.Location, o.extends, location) {
			e.Warn(o.extendsAt, tree.CodeOverlayExtends, "the overlay extends %q, which is not the location of this document; it is applied all the same", o.extends)
		}
		for i := range o.actions {
			if err := a.apply(&o.actions[i], o.revision); err != nil {
				return nil, err
			}
		}
	}
	return a.done, nil
}

// applier applies actions to one document.
type applier struct {
	editor *tree.Editor
	work   *work
	done   []Action
}

// apply applies one action to the result of those before it.
func (a *applier) apply(act *action, revision int) error {
	targets, err := a.selected(act.target)
	if err != nil {
		return Fault{Position: act.at, Message: fmt.Sprintf("target %q %v", shown(act.target), err)}
	}
	report := Action{Position: act.at, Target: strings.Clone(act.target.String()), // the text is a slice of the overlay's
		Kind: act.kind(), Matched: len(targets), Optional: act.optional}
	a.done = append(a.done, report)
	if report.Kind == None {
		why := "has neither update, copy nor remove: true"
		if act.update != nil {
			why = "has both update and copy, of which each has no effect beside the other"
		}
		a.editor.Warn(act.at, tree.CodeOverlayNoEffect, "the action %s", why)
	}
	if len(targets) == 0 {
		if !act.optional {
			a.editor.Warn(act.at, tree.CodeOverlayUnmatched, "the target %q selects nothing, so the action (%s) changes nothing", shown(act.target), report.Kind)
		}
		return nil
	}
	if err := checkTargets(act, targets, revision); err != nil {
		return err
	}
	switch report.Kind {
	case Remove:
		return a.remove(act, targets)
	case Update:
		return a.update(act, targets, act.update)
	case Copy:
		return a.copy(act, targets)
	case None:
	}
	return nil
}

// selected returns the values of the document that a query selects.
func (a *applier) selected(q *jsonpath.Query) ([]*tree.Node, error) {
	nodes, err := q.Select(a.editor.Root(), a.work)
	if err == nil && len(nodes) > maxMatches {
		err = errTooManyMatches
	}
	return nodes, err
}

// shown returns a query for errors.
func shown(q *jsonpath.Query) string { return text.Truncate(q.String(), maxShown) }

// checkTargets checks that the targets of an action are of kinds that the version of the overlay allows. Version 1.0 allows
// objects and arrays only, but an official example of it removes a string, so only updates of primitive values are refused.
func checkTargets(act *action, targets []*tree.Node, revision int) error {
	if act.remove {
		return nil
	}
	for _, n := range targets {
		if revision == 0 && isPrimitive(n) {
			return Fault{Position: act.at, Message: fmt.Sprintf("target %q selects %s, at %s; an overlay of version 1.0 can update objects and arrays only: write overlay: 1.1.0, or select what it is in",
				shown(act.target), kindName(n), n.Position())}
		}
		if revision > 0 && class(n) != class(targets[0]) {
			return Fault{Position: act.at, Message: fmt.Sprintf("target %q selects %s, at %s, and %s, at %s; it must select only objects, only arrays or only primitive values",
				shown(act.target), kindName(targets[0]), targets[0].Position(), kindName(n), n.Position())}
		}
	}
	return nil
}

func (a *applier) remove(act *action, targets []*tree.Node) error {
	for _, n := range targets {
		if n == a.editor.Root() {
			return Fault{Position: act.at, Message: "the root of the document can't be removed"}
		}
	}
	if err := a.work.Take(siblings(targets)); err != nil {
		return Fault{Position: act.at, Message: fmt.Sprintf("target %q %v", shown(act.target), err)}
	}
	a.editor.Remove(targets)
	return nil
}

// siblings counts the siblings of removed values, which move.
func siblings(targets []*tree.Node) (n int) {
	counted := make(map[*tree.Node]struct{})
	for _, target := range targets {
		parent := target.Parent()
		if _, known := counted[parent]; !known {
			counted[parent] = struct{}{}
			n += parent.Len()
		}
	}
	return n
}

// copy merges the one node that the action copies into each target.
func (a *applier) copy(act *action, targets []*tree.Node) error {
	sources, err := a.selected(act.copy)
	if err != nil {
		return Fault{Position: act.copyAt, Message: fmt.Sprintf("copy %q %v", shown(act.copy), err)}
	}
	if len(sources) != 1 {
		return Fault{Position: act.copyAt, Message: fmt.Sprintf("copy %q selects %d values; it must select one", shown(act.copy), len(sources))}
	}
	// The targets may be parts of the copied value, or the other way round.
	value, err := a.editor.Clone(sources[0])
	if err != nil {
		return err
	}
	return a.update(act, targets, value)
}

// update merges a value into each target.
func (a *applier) update(act *action, targets []*tree.Node, value *tree.Node) error {
	m := merger{editor: a.editor, work: a.work, act: act}
	for _, target := range targets {
		if err := m.into(target, value); err != nil {
			return err
		}
	}
	return nil
}
