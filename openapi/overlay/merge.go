package overlay

import (
	"fmt"

	"drawbridge/openapi/tree"
)

// merger merges the value of an action into its targets.
type merger struct {
	editor *tree.Editor
	work   *work
	act    *action
}

// into merges a value into a target: an object into an object, an array or one element into an array; a primitive value
// replaces a primitive value.
func (m merger) into(target, value *tree.Node) error {
	switch class(target) {
	case classObject:
		if value.Kind() == tree.Object {
			return m.object(target, value)
		}
	case classArray:
		return m.array(target, value)
	case classPrimitive:
		if isPrimitive(value) {
			return m.editor.Replace(target, value)
		}
	}
	return m.incompatible(target, value)
}

// object merges the members of an object into those of another.
func (m merger) object(target, value *tree.Node) error {
	for name, member := range value.Members() {
		if err := m.work.Take(mergeSteps); err != nil {
			return Fault{Position: m.act.at, Message: fmt.Sprintf("target %q %v", shown(m.act.target), err)}
		}
		old := target.Get(name)
		var err error
		switch {
		case old == nil:
			err = m.editor.Set(target, name, member)
		case class(old) == class(member):
			err = m.into(old, member)
		default:
			err = m.incompatible(old, member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// array concatenates an array, or appends one element. Version 1.0 of the specification mentions one entry only; an
// array is concatenated there too, since no array of an OpenAPI document contains arrays.
func (m merger) array(target, value *tree.Node) error {
	if value.Kind() != tree.Array {
		return m.editor.Append(target, value)
	}
	for _, item := range value.Items() {
		if err := m.editor.Append(target, item); err != nil {
			return err
		}
	}
	return nil
}

func (m merger) incompatible(target, value *tree.Node) error {
	at, what := value.Position(), "the value"
	if m.act.copy != nil {
		at, what = m.act.copyAt, "the copied value"
	}
	return Fault{Position: at, Message: fmt.Sprintf("%s is %s and can't be merged into %s, at %s, %s", what, kindName(value), kindName(target), target.Position(), target.Pointer())}
}

// valueClass groups the kinds of values that can be merged.
type valueClass uint8

const (
	classPrimitive valueClass = iota
	classArray
	classObject
)

func class(n *tree.Node) valueClass {
	switch n.Kind() {
	case tree.Array:
		return classArray
	case tree.Object:
		return classObject
	default:
		return classPrimitive
	}
}

func isPrimitive(n *tree.Node) bool { return class(n) == classPrimitive }
