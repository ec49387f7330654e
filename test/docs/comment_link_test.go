package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// commentLink matches a link to a declaration in a comment: a name, the member of a type, or either in a package, in brackets.
// Capital letters alone are an argument of a command line. What is beside other brackets, quotes or letters is code or a list.
var commentLink = regexp.MustCompile(`(?:^|[\s(])\[\*?([A-Za-z]\w*(?:\.\w+){0,2})\](?:[\s.,;:)']|$)`)

// TestCommentLinks: a link in a comment names something that is declared, in its package or in one of the project that it names.
// Links to other modules are left to go vet and the reader.
func TestCommentLinks(t *testing.T) {
	packages := map[string]*declared{} // by directory
	var comments []comment
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "out" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && name != root) {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			return nil //nolint:nilerr // not for the compiler either: testdata
		}
		dir := filepath.Dir(name)
		if packages[dir] == nil {
			packages[dir] = &declared{name: strings.TrimSuffix(file.Name.Name, "_test"), names: map[string]bool{}, embedded: map[string][]string{}}
		}
		packages[dir].add(file)
		imported := map[string]bool{}
		for _, spec := range file.Imports {
			if at, err := strconv.Unquote(spec.Path.Value); err == nil && !strings.HasPrefix(at, "drawbridge/") {
				imported[path.Base(at)] = true
				if spec.Name != nil {
					imported[spec.Name.Name] = true
				}
			}
		}
		for _, group := range file.Comments {
			for _, line := range group.List {
				for _, match := range commentLink.FindAllStringSubmatch(strings.TrimPrefix(line.Text, "//"), -1) {
					comments = append(comments, comment{files.Position(line.Pos()), dir, match[1], imported})
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]*declared{}
	for _, p := range packages {
		byName[p.name] = append(byName[p.name], p)
	}
	for _, c := range comments {
		if !c.resolves(packages[c.dir], byName) {
			t.Errorf("%s: [%s] is not declared", c.at, c.link)
		}
	}
	if len(comments) < 500 {
		t.Errorf("only %d links found: expected more than 500", len(comments))
	}
}

// comment is a link in a comment.
type comment struct {
	at       token.Position
	dir      string
	link     string
	imported map[string]bool // names of the packages of other modules that the file imports
}

func (c *comment) resolves(own *declared, byName map[string][]*declared) bool {
	if own.declares(c.link) {
		return true
	}
	if strings.ToUpper(c.link) == c.link {
		return true
	}
	first, rest, qualified := strings.Cut(c.link, ".")
	if !qualified {
		return byName[first] != nil || isBuiltin(first)
	}
	for _, p := range byName[first] {
		if p.declares(rest) {
			return true
		}
	}
	return byName[first] == nil && strings.ToLower(first) == first && !own.names[first]
}

func isBuiltin(name string) bool { return name == "error" || name == "any" || name == "string" }

// declared is what the files of a folder declare: names, and Type.Member for fields and methods.
type declared struct {
	name     string
	names    map[string]bool
	embedded map[string][]string // names of the types that a type embeds
}

func (d *declared) add(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				d.names[decl.Name.Name] = true
			} else {
				d.names[typeName(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					d.names[spec.Name.Name] = true
					d.addMembers(spec.Name.Name, spec.Type)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.names[name.Name] = true
					}
				}
			}
		}
	}
}

// addMembers adds the fields of a struct, or the methods of an interface.
func (d *declared) addMembers(of string, expr ast.Expr) {
	var list *ast.FieldList
	switch expr := expr.(type) {
	case *ast.StructType:
		list = expr.Fields
	case *ast.InterfaceType:
		list = expr.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			d.names[of+"."+name.Name] = true
		}
		if len(field.Names) == 0 {
			d.embedded[of] = append(d.embedded[of], typeName(field.Type))
		}
	}
}

// declares reports whether a name, or the member of a type or of one that it embeds, is declared.
func (d *declared) declares(name string) bool {
	if d.names[name] {
		return true
	}
	of, member, _ := strings.Cut(name, ".")
	for _, embedded := range d.embedded[of] {
		if d.declares(embedded + "." + member) {
			return true
		}
	}
	return false
}

// typeName returns the name of a receiver's type, without a pointer and type parameters.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.IndexListExpr:
		return typeName(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
