package console

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"text/template/parse"
)

// TestFields: each field that a template names exists in the type that it is given, in branches too that no other test enters. Templates
// call no methods.
func TestFields(t *testing.T) {
	text := func(files ...string) map[string]*parse.Tree {
		all := map[string]*parse.Tree{}
		for _, name := range files {
			trees, err := parse.Parse(name, templateFile(name).Text, "", "", functions, map[string]any{"and": 0, "or": 0, "not": 0, "eq": 0, "ne": 0, "gt": 0, "len": 0, "index": 0})
			if err != nil {
				t.Fatal(err)
			}
			for defined, tree := range trees {
				all[defined] = tree
			}
		}
		return all
	}
	for name, data := range map[string]any{
		"access": accessData{}, "apis": apisData{}, "api": apiData{}, "connect": connectData{}, "live": liveData{}, "overview": overviewData{},
		"signin": signInData{}, "tools": toolsData{}, "tool": toolData{}, "try": tryData{}, "tryindex": "", "signedin": struct{ Next string }{},
		"error": struct{ Title, Reason string }{}, "document": struct {
			API, File string
			Line      int
			Lines     []line
		}{},
	} {
		c := typeCheck{t: t, trees: text("layout.html", name+".html"), data: reflect.TypeOf(data), variables: map[string]reflect.Type{}}
		c.template("layout.html", reflect.TypeFor[view]())
		if c.fields == 0 {
			t.Errorf("%s: no fields were found", name)
		}
	}
	if files, _ := templateFiles.ReadDir("templates"); len(files) != 15 {
		t.Errorf("%d templates: the new one has no type here", len(files))
	}
}

// typeCheck walks the templates of a page with the types of its values. An unknown type is nil.
type typeCheck struct {
	t         *testing.T
	trees     map[string]*parse.Tree
	data      reflect.Type // of view.Data
	variables map[string]reflect.Type
	fields    int
}

func (c *typeCheck) template(name string, dot reflect.Type) {
	outer := c.variables
	c.variables = map[string]reflect.Type{"$": dot}
	c.list(c.trees[name].Root, dot)
	c.variables = outer
}

func (c *typeCheck) list(l *parse.ListNode, dot reflect.Type) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.pipe(n.Pipe, dot)
		case *parse.IfNode:
			c.pipe(n.Pipe, dot)
			c.list(n.List, dot)
			c.list(n.ElseList, dot)
		case *parse.WithNode:
			c.list(n.List, c.pipe(n.Pipe, dot))
			c.list(n.ElseList, dot)
		case *parse.RangeNode:
			element := c.pipe(n.Pipe, dot)
			if element != nil {
				element = element.Elem()
			}
			if decl := n.Pipe.Decl; len(decl) > 0 {
				c.variables[decl[len(decl)-1].Ident[0]] = element
			}
			c.list(n.List, element)
			c.list(n.ElseList, dot)
		case *parse.TemplateNode:
			c.template(n.Name, c.pipe(n.Pipe, dot))
		}
	}
}

func (c *typeCheck) pipe(p *parse.PipeNode, dot reflect.Type) (of reflect.Type) {
	for _, command := range p.Cmds {
		var args []reflect.Type
		for _, a := range command.Args {
			args = append(args, c.value(a, dot))
		}
		of = args[0]
		if f, ok := command.Args[0].(*parse.IdentifierNode); ok && f.Ident == "index" {
			of = args[1].Elem()
		}
	}
	for _, d := range p.Decl {
		c.variables[d.Ident[0]] = of
	}
	return of
}

func (c *typeCheck) value(n parse.Node, dot reflect.Type) reflect.Type {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.follow(dot, n.Ident, n)
	case *parse.VariableNode:
		return c.follow(c.variables[n.Ident[0]], n.Ident[1:], n)
	case *parse.PipeNode:
		return c.pipe(n, dot)
	case *parse.IdentifierNode:
		if f := functions[n.Ident]; f != nil {
			return reflect.TypeOf(f).Out(0)
		}
	}
	return nil
}

func (c *typeCheck) follow(of reflect.Type, names []string, n parse.Node) reflect.Type {
	for _, name := range names {
		c.fields++
		for of != nil && of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		place := fmt.Sprintf("%s in a value of type %v", n, of)
		if of == nil || of.Kind() != reflect.Struct {
			c.t.Errorf("%s: it is no struct, so it has no field %s", place, name)
			return nil
		}
		f, ok := of.FieldByName(name)
		if !ok || !f.IsExported() {
			c.t.Errorf("%s: there is no field %s", place, name)
			return nil
		}
		if of = f.Type; of.Kind() == reflect.Interface && strings.HasSuffix(place, "console.view") {
			of = c.data
		}
	}
	return of
}
