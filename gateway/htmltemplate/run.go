package htmltemplate

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"
)

// maxDepth is how deep templates may execute each other.
const maxDepth = 100

// execution is one execution of a template.
type execution struct {
	t         *Template
	tree      *parse.Tree
	out       *bytes.Buffer
	variables []variable
	depth     int
}

type variable struct {
	name  string
	value reflect.Value
}

func (t *Template) run(b *bytes.Buffer, name string, data any) (err error) {
	x := &execution{t: t, out: b}
	return x.execute(name, reflect.ValueOf(data))
}

func (x *execution) execute(name string, dot reflect.Value) error {
	tree := x.t.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	if x.depth == maxDepth {
		return fmt.Errorf("template %q executes itself", name)
	}
	inner := &execution{t: x.t, tree: tree, out: x.out, variables: []variable{{"$", dot}}, depth: x.depth + 1}
	return inner.walk(dot, tree.Root)
}

func (x *execution) walk(dot reflect.Value, n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode:
		x.out.Write(n.Text)
		return nil
	case *parse.ActionNode:
		v, err := x.pipe(dot, n.Pipe)
		if err != nil || len(n.Pipe.Decl) > 0 {
			return x.failed(n, err)
		}
		return x.failed(n, x.write(v, x.t.escapers[n]))
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, child := range n.Nodes {
			if err := x.walk(dot, child); err != nil {
				return err
			}
		}
		return nil
	case *parse.IfNode:
		return x.branch(dot, &n.BranchNode, false)
	case *parse.WithNode:
		return x.branch(dot, &n.BranchNode, true)
	case *parse.RangeNode:
		return x.loop(dot, n)
	case *parse.TemplateNode:
		v, err := x.pipe(dot, n.Pipe)
		if err != nil {
			return x.failed(n, err)
		}
		return x.execute(n.Name, v)
	}
	return nil // comments
}

// failed adds the position of a node to an error.
func (x *execution) failed(n parse.Node, err error) error {
	if err == nil {
		return nil
	}
	return at(x.tree, n, err)
}

func (x *execution) write(v reflect.Value, escape escaper) error {
	v = indirect(v)
	if !v.IsValid() {
		return errors.New("the value is nil")
	}
	if html, ok := v.Interface().(HTML); ok {
		x.out.WriteString(string(html))
		return nil
	}
	escape(x.out, fmt.Sprint(v.Interface()))
	return nil
}

func (x *execution) branch(dot reflect.Value, n *parse.BranchNode, becomesDot bool) error {
	defer x.forget(len(x.variables))
	v, err := x.pipe(dot, n.Pipe)
	if err != nil {
		return x.failed(n.Pipe, err)
	}
	if !truth(v) {
		return x.walk(dot, n.ElseList)
	}
	if becomesDot {
		dot = v
	}
	return x.walk(dot, n.List)
}

func (x *execution) loop(dot reflect.Value, n *parse.RangeNode) error {
	defer x.forget(len(x.variables))
	v, err := x.pipe(dot, n.Pipe)
	if err != nil {
		return x.failed(n.Pipe, err)
	}
	v = indirect(v)
	if !v.IsValid() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return x.walk(dot, n.ElseList)
	}
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return x.failed(n, fmt.Errorf("range over %s is not supported", v.Type()))
	}
	own := len(x.variables) - len(n.Pipe.Decl)
	for i := range v.Len() {
		x.forget(own) // those of the pipeline, or of the iteration before
		switch decl := n.Pipe.Decl; len(decl) {
		case 1:
			x.declare(decl[0].Ident[0], v.Index(i))
		case 2:
			x.declare(decl[0].Ident[0], reflect.ValueOf(i))
			x.declare(decl[1].Ident[0], v.Index(i))
		}
		if err := x.walk(v.Index(i), n.List); err != nil {
			return err
		}
	}
	return nil
}

func (x *execution) declare(name string, v reflect.Value) {
	x.variables = append(x.variables, variable{name, v})
}

func (x *execution) forget(n int) { x.variables = x.variables[:n] }

func (x *execution) lookup(name string) reflect.Value {
	for i := len(x.variables) - 1; i >= 0; i-- {
		if x.variables[i].name == name {
			return x.variables[i].value
		}
	}
	return reflect.Value{} // the parser has found unknown ones
}

// truth reports whether a value counts as true: it is neither zero nor empty.
func truth(v reflect.Value) bool {
	if v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	default:
		return !v.IsZero()
	}
}

// indirect follows interfaces and pointers; the zero value if one is nil.
func indirect(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	return v
}
