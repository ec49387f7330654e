package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A point is one change that can be made.
type point struct {
	id       int
	file     string // relative to the module
	function string
	line     int
	change   string // what becomes of what
	ordinal  int    // among the same changes of the function
}

// name is what stays the same while the lines of a file move.
func (p *point) name() string {
	name := fmt.Sprintf("%s %s: %s", p.file, p.function, p.change)
	if p.ordinal > 1 {
		name += fmt.Sprintf(" (%d)", p.ordinal)
	}
	return name
}

// finder collects the points of one file and the edits that put them in, asleep.
type finder struct {
	set      *token.FileSet
	info     *types.Info
	source   []byte
	file     string
	function string
	base     int
	points   []*point
	next     func() int
	edits    edits
	seen     map[string]int
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

// short is the text of a node on one line, cut.
func (f *finder) short(n ast.Node) string {
	s := strings.Join(strings.Fields(f.text(n)), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return s
}

func (f *finder) add(at ast.Node, format string, args ...any) int {
	p := &point{id: f.next(), file: f.file, function: f.function, line: f.set.Position(at.Pos()).Line, change: fmt.Sprintf(format, args...)}
	f.seen[p.name()]++
	p.ordinal = f.seen[p.name()]
	f.points = append(f.points, p)
	return p.id
}

// walk finds the points of a declaration of a function.
func (f *finder) walk(fn *ast.FuncDecl) {
	f.function = fn.Name.Name
	if fn.Recv != nil && len(fn.Recv.List) == 1 {
		f.function = strings.TrimPrefix(f.text(fn.Recv.List[0].Type), "*") + "." + f.function
	}
	if fn.Body == nil || fn.Type.TypeParams != nil {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if tv := f.info.Types[e]; tv.IsType() {
				return false
			} else if tv.Value != nil {
				f.constant(e)
				return false // of a constant nothing can be woken
			}
		}
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				f.negate(n, "%s → %s", f.short(n), f.short(n.X))
			}
		case *ast.IfStmt:
			if !f.covered(n.Cond) {
				f.negate(n.Cond, "if %s → if !(…)", f.short(n.Cond))
			}
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			f.statements(n.Body)
		case *ast.CommClause:
			f.statements(n.Body)
		}
		return true
	})
}

// constant wakes a literal true or false to the other one.
func (f *finder) constant(e ast.Expr) {
	id, ok := e.(*ast.Ident)
	if !ok || (id.Name != "true" && id.Name != "false") {
		return
	}
	if t, ok := f.info.Types[e].Type.(*types.Basic); !ok || t.Info()&types.IsBoolean == 0 {
		return
	}
	f.negate(e, "%s → %v", id.Name, id.Name == "false")
}

// covered tells whether the condition has points of its own that turn it around.
func (f *finder) covered(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return true
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	}
	return false
}

func (f *finder) negate(e ast.Expr, format string, args ...any) {
	id := f.add(e, format, args...)
	f.edits.around(f.offset(e.Pos()), f.offset(e.End()), "((", fmt.Sprintf(") != mutantOn(%d))", id))
}

// relations are the operators that have a bound, with what moves it, what turns it around and what does both asleep.
var relations = map[token.Token]struct{ bound, opposite, helper string }{
	token.LSS: {"<=", ">=", "mutantLess"},
	token.LEQ: {"<", ">", "mutantLessEqual"},
	token.GTR: {">=", "<=", "mutantGreater"},
	token.GEQ: {">", "<", "mutantGreaterEqual"},
}

var sums = map[token.Token]struct{ other, helper string }{
	token.ADD: {"-", "mutantAdd"},
	token.SUB: {"+", "mutantSubtract"},
	token.MUL: {"/", "mutantMultiply"},
	token.QUO: {"*", "mutantDivide"},
}

func (f *finder) binary(e *ast.BinaryExpr) {
	x, y := f.short(e.X), f.short(e.Y)
	from, to, op := f.offset(e.Pos()), f.offset(e.End()), f.offset(e.OpPos)
	switch e.Op {
	case token.EQL, token.NEQ:
		other := map[token.Token]string{token.EQL: "!=", token.NEQ: "=="}[e.Op]
		f.negate(e, "%s %s %s → %s", x, e.Op, y, other)
	case token.LAND, token.LOR:
		helper, other := "mutantAnd", "||"
		if e.Op == token.LOR {
			helper, other = "mutantOr", "&&"
		}
		id := f.add(e, "%s %s %s → %s", x, e.Op, y, other)
		f.edits.around(from, to, fmt.Sprintf("%s(%d, ", helper, id), ") })")
		f.edits.replace(op, 2, ", func() bool { return (")
	default:
		if !f.plain(e.X) || !f.plain(e.Y) {
			return
		}
		if r, ok := relations[e.Op]; ok {
			bound := f.add(e, "%s %s %s → %s", x, e.Op, y, r.bound)
			opposite := f.add(e, "%s %s %s → %s", x, e.Op, y, r.opposite)
			f.edits.around(from, to, fmt.Sprintf("%s(%d, %d, ", r.helper, bound, opposite), ")")
			f.edits.replace(op, len(e.Op.String()), ", ")
		} else if s, ok := sums[e.Op]; ok && f.numeric(e) {
			id := f.add(e, "%s %s %s → %s", x, e.Op, y, s.other)
			f.edits.around(from, to, fmt.Sprintf("%s(%d, ", s.helper, id), ")")
			f.edits.replace(op, len(e.Op.String()), ", ")
		}
	}
}

// plain tells whether an operand may become an argument: an untyped shift takes its type from where it stands.
func (f *finder) plain(e ast.Expr) bool {
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.SHL || b.Op == token.SHR) && f.info.Types[b].Value == nil {
			plain = false
		}
		return plain
	})
	return plain
}

func (f *finder) numeric(e ast.Expr) bool {
	t, ok := f.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && t.Info()&types.IsNumeric != 0 && t.Info()&types.IsUntyped == 0
}

// statements finds those that can be left out, and returned errors that can be none.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); !ok || f.indifferent(call) {
				continue
			}
			f.leaveOut(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !blank(s.Lhs) {
				f.leaveOut(s)
			}
		case *ast.IncDecStmt:
			f.leaveOut(s)
		case *ast.ReturnStmt:
			f.noError(s)
		}
	}
}

func (f *finder) leaveOut(s ast.Stmt) {
	id := f.add(s, "leave out: %s", f.short(s))
	f.edits.around(f.offset(s.Pos()), f.offset(s.End()), fmt.Sprintf("if !mutantOn(%d) { ", id), " }")
}

func (f *finder) noError(s *ast.ReturnStmt) {
	if len(s.Results) == 0 {
		return
	}
	last := s.Results[len(s.Results)-1]
	t := f.info.Types[last]
	if t.IsNil() || t.Type == nil || !isError(t.Type) {
		return
	}
	if _, ok := t.Type.(*types.Tuple); ok {
		return
	}
	id := f.add(s, "%s → nil", f.short(s))
	others := string(f.source[f.offset(s.Pos()):f.offset(last.Pos())])
	f.edits.around(f.offset(s.Pos()), f.offset(s.End()), fmt.Sprintf("if mutantOn(%d) { %snil }; ", id, others), "")
}

// isError tells whether nil can stand for a value of the type that is an error.
func isError(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Interface, *types.Pointer:
		return types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) //nolint:errcheck // it is one
	}
	return false
}

func blank(left []ast.Expr) bool {
	for _, e := range left {
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

// indifferent tells of calls that no test of behaviour can miss: locks, whose lack the race detector finds, and logs. A
// panic may be what ends a function, which the compiler wants to see.
func (f *finder) indifferent(call *ast.CallExpr) bool {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun.Name == "panic"
	case *ast.SelectorExpr:
		switch fun.Sel.Name {
		case "Lock", "Unlock", "RLock", "RUnlock":
			return true
		}
		if t := f.info.Types[fun.X].Type; t != nil {
			return t.String() == "*log/slog.Logger"
		}
	}
	return false
}
