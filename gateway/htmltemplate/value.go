package htmltemplate

import (
	"errors"
	"fmt"
	"reflect"
	"text/template/parse"
)

// pipe returns the value of a pipeline, and declares its variables, but for those of range.
func (x *execution) pipe(dot reflect.Value, p *parse.PipeNode) (v reflect.Value, err error) {
	if p == nil {
		return reflect.Value{}, nil
	}
	for i, c := range p.Cmds {
		if i > 0 {
			v, err = x.command(dot, c, v)
		} else {
			v, err = x.command(dot, c)
		}
		if err != nil {
			return reflect.Value{}, err
		}
	}
	for _, d := range p.Decl {
		if p.IsAssign {
			return reflect.Value{}, errors.New("assignments are not supported")
		}
		x.declare(d.Ident[0], v)
	}
	return v, nil
}

// command returns the value of a command, whose last arguments are those of the pipeline before it.
func (x *execution) command(dot reflect.Value, c *parse.CommandNode, last ...reflect.Value) (reflect.Value, error) {
	function, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		if len(c.Args) > 1 || len(last) > 0 {
			return reflect.Value{}, fmt.Errorf("%s is no function", c.Args[0])
		}
		return x.argument(dot, c.Args[0])
	}
	var args []reflect.Value
	for _, a := range c.Args[1:] {
		v, err := x.argument(dot, a)
		if err != nil {
			return reflect.Value{}, err
		}
		args = append(args, v)
	}
	return call(function.Ident, x.t.functions[function.Ident], append(args, last...))
}

func (x *execution) argument(dot reflect.Value, n parse.Node) (reflect.Value, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		return fields(dot, n.Ident)
	case *parse.VariableNode:
		return fields(x.lookup(n.Ident[0]), n.Ident[1:])
	case *parse.ChainNode:
		v, err := x.argument(dot, n.Node)
		if err != nil {
			return v, err
		}
		return fields(v, n.Field)
	case *parse.PipeNode:
		return x.pipe(dot, n)
	case *parse.IdentifierNode:
		return call(n.Ident, x.t.functions[n.Ident], nil)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text), nil
	case *parse.BoolNode:
		return reflect.ValueOf(n.True), nil
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64)), nil
		}
		return reflect.ValueOf(n.Float64), nil
	case *parse.NilNode:
		return reflect.Value{}, nil
	}
	return reflect.Value{}, fmt.Errorf("%s is not supported", n)
}

// fields follows the names of fields.
func fields(v reflect.Value, names []string) (reflect.Value, error) {
	for _, name := range names {
		of := indirect(v)
		if !of.IsValid() {
			return of, fmt.Errorf("the value that should have the field %s is nil", name)
		}
		if of.Kind() != reflect.Struct {
			return of, fmt.Errorf("a value of type %s has no field %s", of.Type(), name)
		}
		f, ok := of.Type().FieldByName(name)
		if !ok || !f.IsExported() {
			return of, fmt.Errorf("the type %s has no field %s", of.Type(), name)
		}
		var err error
		if v, err = of.FieldByIndexErr(f.Index); err != nil {
			return v, err
		}
	}
	return v, nil
}

// call calls a function. A nil argument is the zero value of its type.
func call(name string, function any, args []reflect.Value) (reflect.Value, error) {
	f := reflect.ValueOf(function)
	t := f.Type()
	if least := t.NumIn(); t.IsVariadic() && len(args) < least-1 || !t.IsVariadic() && len(args) != least {
		return reflect.Value{}, fmt.Errorf("%s: expected %d arguments, got %d", name, least, len(args))
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		for a.IsValid() && !a.Type().AssignableTo(want) && (a.Kind() == reflect.Interface || a.Kind() == reflect.Pointer) && !a.IsNil() {
			a = a.Elem()
		}
		switch {
		case !a.IsValid():
			a = reflect.Zero(want)
		case !a.Type().AssignableTo(want):
			return reflect.Value{}, fmt.Errorf("%s: argument %d is of type %s, not %s", name, i+1, a.Type(), want)
		}
		in[i] = a
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		err, _ := out[1].Interface().(error)
		return reflect.Value{}, fmt.Errorf("%s: %w", name, err)
	}
	return out[0], nil
}
