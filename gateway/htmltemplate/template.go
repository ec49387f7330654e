package htmltemplate

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"text/template/parse"
)

// HTML is markup that is written as it is. Whatever makes one escapes what it contains.
type HTML string

// Functions are functions that templates call, by name. Each returns one value, or a value and an error.
type Functions map[string]any

// Template is a set of named templates. It is immutable and safe for concurrent use.
type Template struct {
	trees     map[string]*parse.Tree
	functions Functions
	escapers  map[*parse.ActionNode]escaper
}

// File is the text of a template, which has the name of its file.
type File struct{ Name, Text string }

// Parse parses files, which may define further templates; a later definition replaces an earlier one. The error says where a value can't
// be escaped.
func Parse(functions Functions, files ...File) (*Template, error) {
	t := &Template{trees: map[string]*parse.Tree{}, functions: maps.Clone(builtins), escapers: map[*parse.ActionNode]escaper{}}
	maps.Copy(t.functions, functions)
	for _, f := range files {
		trees, err := parse.Parse(f.Name, f.Text, "", "", t.functions)
		if err != nil {
			return nil, err
		}
		maps.Copy(t.trees, trees)
	}
	for name, tree := range t.trees {
		end, err := t.contextualize(tree, tree.Root, context{})
		if err != nil {
			return nil, err
		}
		if end != (context{}) {
			return nil, fmt.Errorf("template %q ends inside of a tag, an attribute or an element of text", name)
		}
	}
	return t, nil
}

// Must returns the template, or panics with the error: for templates that are compiled into the program.
func Must(t *Template, err error) *Template {
	if err != nil {
		panic(err)
	}
	return t
}

// Has reports whether there is a template of that name.
func (t *Template) Has(name string) bool { return t.trees[name] != nil }

// Execute writes the template of that name for some data. Nothing is written if there is an error.
func (t *Template) Execute(w io.Writer, name string, data any) (err error) {
	var b bytes.Buffer
	if err := t.run(&b, name, data); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
