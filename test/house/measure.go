package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "drawbridge"

// measured is the figures of one package.
type measured struct {
	name      string // import path below the module
	files     int
	lines     int
	longest   file
	exported  int        // package-level names, and methods of exported types
	set       []string   // files of the largest set that need each other; empty if no file needs another that needs it
	methodful []typeSize // types with more than manyMethods methods, largest first
	comments  int        // lines of comments
	dialect   int        // turns of phrase in them, see dialect
}

// file is a file with its number of lines.
type file struct {
	name  string
	lines int
}

// typeSize is a type with its number of methods.
type typeSize struct {
	name    string
	methods int
}

// measure loads the packages that match the patterns and returns their figures in the order of their names, but for those below test/.
func measure(patterns []string) ([]measured, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var all []measured
	var faults []error
	for _, p := range loaded {
		name := strings.TrimPrefix(p.PkgPath, module+"/")
		if name == "test" || strings.HasPrefix(name, "test/") {
			continue
		}
		for _, e := range p.Errors {
			faults = append(faults, e)
		}
		m, err := measurePackage(name, p)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("the packages don't compile: %w", err)
	}
	slices.SortFunc(all, func(a, b measured) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// measurePackage leaves out generated files, which nobody reads.
func measurePackage(name string, p *packages.Package) (measured, error) {
	m := measured{name: name, exported: exportedNames(p.Types), methodful: methodfulTypes(p.Types)}
	p.Syntax = slices.DeleteFunc(p.Syntax, ast.IsGenerated)
	for _, syntax := range p.Syntax {
		path := p.Fset.Position(syntax.FileStart).Filename
		text, err := os.ReadFile(path)
		if err != nil {
			return m, err
		}
		f := file{filepath.Base(path), bytes.Count(text, []byte("\n"))}
		m.files++
		m.lines += f.lines
		if f.lines > m.longest.lines {
			m.longest = f
		}
	}
	for _, syntax := range p.Syntax {
		lines, turns := countDialect(syntax)
		m.comments, m.dialect = m.comments+lines, m.dialect+turns
	}
	m.set = largestSet(needs(p))
	return m, nil
}

// needs returns, for each file of a package, the other files that declare what it names.
func needs(p *packages.Package) map[string][]string {
	need := make(map[string][]string, len(p.Syntax))
	for _, syntax := range p.Syntax {
		from := filepath.Base(p.Fset.Position(syntax.FileStart).Filename)
		seen := map[string]bool{}
		ast.Inspect(syntax, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := p.TypesInfo.Uses[id]
			if used == nil || used.Pkg() != p.Types || !used.Pos().IsValid() {
				return true
			}
			if to := filepath.Base(p.Fset.Position(used.Pos()).Filename); to != from {
				seen[to] = true
			}
			return true
		})
		need[from] = nil
		for to := range seen {
			need[from] = append(need[from], to)
		}
		slices.Sort(need[from])
	}
	return need
}

// exportedNames counts the exported package-level names and the exported methods of exported types.
func exportedNames(p *types.Package) int {
	n := 0
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		n++
		if named, ok := object.Type().(*types.Named); ok && isTypeName(object) {
			for method := range named.Methods() {
				if method.Exported() {
					n++
				}
			}
		}
	}
	return n
}

// manyMethods is the number of methods above which a type is listed.
const manyMethods = 25

func methodfulTypes(p *types.Package) []typeSize {
	var found []typeSize
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		named, ok := object.Type().(*types.Named)
		if ok && isTypeName(object) && named.NumMethods() > manyMethods {
			found = append(found, typeSize{name, named.NumMethods()})
		}
	}
	slices.SortStableFunc(found, func(a, b typeSize) int { return b.methods - a.methods })
	return found
}

func isTypeName(object types.Object) bool {
	name, ok := object.(*types.TypeName)
	return ok && !name.IsAlias()
}
