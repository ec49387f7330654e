package fence

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWaitsAreBounded holds that no test waits for a channel or a wait group without a bound: the one that hangs takes all tests after
// it with it, and says nothing about the cause. test/timebox has the waits that end. A bubble of testing/synctest notices a deadlock by
// itself, and a goroutine or a handler is waited for by the test that started it. (pains row 117)
func TestWaitsAreBounded(t *testing.T) {
	packages := map[string]*tests{}
	fset := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "out" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if packages[dir] == nil {
			packages[dir] = &tests{fset: fset, uses: map[string][]use{}, methods: map[string]bool{}}
		}
		packages[dir].read(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Errorf("there are tests in %d folders", len(packages))
	}
	for _, p := range packages {
		for _, w := range p.unbounded() {
			t.Errorf("%s waits without a bound: use package test/timebox, or a select with a time limit", w)
		}
	}
}

// tests are those of one folder.
type tests struct {
	fset  *token.FileSet
	waits []use
	uses  map[string][]use // of functions, by their name
	// methods are the names of methods.
	methods map[string]bool
}

// use is a place in a test that waits, or that names a function.
type use struct {
	at      token.Position
	within  string // the function declared at the top level
	excused bool   // it is in a bubble, a goroutine or a handler
	text    string
}

// unbounded returns the waits that nothing ends.
func (p *tests) unbounded() []string {
	var list []string
	for _, w := range p.waits {
		if !w.excused && !p.excuses(w.within, nil) {
			list = append(list, fmt.Sprintf("%s: %s", w.at, w.text))
		}
	}
	slices.Sort(list)
	return list
}

// excuses tells whether a function runs in bubbles, goroutines and handlers only, or, a method of a fake, is called by the program only.
func (p *tests) excuses(function string, seen []string) bool {
	if slices.Contains(seen, function) {
		return false
	}
	if len(p.uses[function]) == 0 && !p.methods[function] {
		return false
	}
	for _, u := range p.uses[function] {
		if !u.excused && u.within != function && !p.excuses(u.within, append(seen, function)) {
			return false
		}
	}
	return true
}

func (p *tests) read(file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if f.Recv != nil {
			p.methods[f.Name.Name] = true
		}
		v := visitor{tests: p, function: f.Name.Name, excused: isHandler(f.Type) || f.Recv != nil && isOfStandard(f.Name.Name), bounded: map[ast.Node]bool{}, buffered: map[string]bool{}, times: map[string]bool{}}
		ast.Walk(&v, f.Body)
	}
}

type visitor struct {
	*tests
	function string
	excused  bool
	bounded  map[ast.Node]bool // waits that another case of their select ends
	buffered map[string]bool   // the channels made here, and whether they take what is sent
	times    map[string]bool   // the channels on which a time arrives
}

func (v *visitor) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.GoStmt:
		return v.excuse()
	case *ast.FuncLit:
		if isHandler(n.Type) {
			return v.excuse()
		}
	case *ast.CallExpr:
		name := text(n.Fun)
		if name == "synctest.Test" || strings.HasSuffix(name, ".Go") {
			return v.excuse()
		}
		if strings.HasSuffix(name, ".Wait") && len(n.Args) == 0 && name != "synctest.Wait" {
			v.wait(n, name+"()")
		}
	case *ast.AssignStmt:
		for i, value := range n.Rhs {
			if i < len(n.Lhs) && text(value) == "time.After()" {
				v.times[text(n.Lhs[i])] = true
			}
			if call, ok := value.(*ast.CallExpr); ok && text(call.Fun) == "make" && i < len(n.Lhs) {
				if _, ok := call.Args[0].(*ast.ChanType); ok {
					v.buffered[text(n.Lhs[i])] = len(call.Args) > 1
				}
			}
		}
	case *ast.SelectStmt:
		v.choose(n)
	case *ast.SendStmt:
		if buffered, ok := v.buffered[text(n.Chan)]; ok && !buffered {
			v.wait(n, text(n.Chan)+" <-")
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !v.ends(n.X) {
			v.wait(n, "<-"+text(n.X))
		}
	case *ast.Ident:
		v.uses[n.Name] = append(v.uses[n.Name], use{within: v.function, excused: v.excused})
	}
	return v
}

func (v *visitor) excuse() ast.Visitor {
	inner := *v
	inner.excused = true
	return &inner
}

func (v *visitor) wait(n ast.Node, text string) {
	if !v.bounded[n] {
		v.waits = append(v.waits, use{at: v.fset.Position(n.Pos()), within: v.function, excused: v.excused, text: text})
	}
}

// choose notes the cases of a select that has a bound.
func (v *visitor) choose(s *ast.SelectStmt) {
	var waits []ast.Node
	bound := false
	for _, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case nil:
			bound = true
		case *ast.SendStmt:
			waits = append(waits, comm)
		default:
			ast.Inspect(comm, func(n ast.Node) bool {
				if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
					waits = append(waits, u)
					bound = bound || v.ends(u.X)
				}
				return true
			})
		}
	}
	for _, w := range waits {
		v.bounded[w] = bound
	}
}

// ends tells whether something arrives on the channel in any case: a context's end or a time.
func (v *visitor) ends(channel ast.Expr) bool {
	is := text(channel)
	return v.times[is] || strings.HasPrefix(is, "time.After()") || strings.HasSuffix(is, ".Done()") || strings.HasSuffix(is, ".C")
}

// isOfStandard tells whether a method of that name is called by the program, which has a fake of a test for a connection, a listener or a body.
func isOfStandard(name string) bool {
	return slices.Contains([]string{"Accept", "Read", "Write", "Close"}, name)
}

// isHandler tells whether the function answers requests of HTTP.
func isHandler(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool { return text(p.Type) == "*http.Request" })
}

// text returns an expression as it is written, without what is in parentheses.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + text(e.X)
	case *ast.IndexExpr:
		return text(e.X)
	case *ast.CallExpr:
		return text(e.Fun) + "()"
	}
	return "…"
}
