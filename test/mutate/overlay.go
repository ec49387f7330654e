package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// overlay writes the changed files of a group below dir, and the file for -overlay that puts them in the place of the real ones.
func overlay(ctx context.Context, g group, dir string, every int) (file string, points []*point, err error) {
	set := token.NewFileSet()
	names, imports, err := listed(ctx, g.dir)
	if err != nil {
		return "", nil, err
	}
	var files []*ast.File
	var sources [][]byte
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(g.dir, name))
		if err != nil {
			return "", nil, err
		}
		parsed, err := parser.ParseFile(set, filepath.Join(g.dir, name), source, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		files, sources = append(files, parsed), append(sources, source)
	}
	for _, name := range g.files {
		if !slices.Contains(names, name) {
			return "", nil, fmt.Errorf("%s: there is no file %s any more", g.name, filepath.Join(g.dir, name))
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(imports[path]) })}
	if _, err := config.Check("drawbridge/"+g.dir, set, files, info); err != nil {
		return "", nil, err
	}
	replaced := map[string]string{}
	count := 0
	for i, parsed := range files {
		if g.files != nil && !slices.Contains(g.files, names[i]) {
			continue
		}
		f := &finder{set: set, info: info, source: sources[i], file: filepath.Join(g.dir, names[i]), edits: edits{}, seen: map[string]int{},
			next: func() int { count++; return count }}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				f.walk(fn)
			}
		}
		points = append(points, f.points...)
		changed := filepath.Join(dir, g.name+"-"+names[i])
		if err := os.WriteFile(changed, f.edits.apply(sources[i]), 0o600); err != nil {
			return "", nil, err
		}
		replaced[absolute(f.file)] = changed
	}
	asleep := filepath.Join(dir, g.name+"-asleep.go")
	if err := os.WriteFile(asleep, []byte("package "+files[0].Name.Name+"\n"+sleeping), 0o600); err != nil {
		return "", nil, err
	}
	replaced[absolute(filepath.Join(g.dir, "mutant_asleep.go"))] = asleep
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", nil, err
	}
	if every > 1 {
		points = slices.DeleteFunc(points, func(p *point) bool { return p.id%every != 0 })
	}
	file = filepath.Join(dir, g.name+".json")
	return file, points, os.WriteFile(file, text, 0o600)
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err) // the working directory is gone
	}
	return abs
}

// listed returns the files of a package, and where the compiled form of each package is that it imports.
func listed(ctx context.Context, dir string) (files []string, exports map[string]string, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./"+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	exports = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := d.Decode(&p); err != nil {
			if errors.Is(err, io.EOF) {
				return files, exports, nil
			}
			return nil, nil, err
		}
		if exports[p.ImportPath] = p.Export; p.Dir == absolute(dir) {
			files = p.GoFiles
		}
	}
}

// sleeping is what the changed files call. A change is asleep unless its number is in MUTANT; with MUTANT_REACHED the numbers of
// all that were reached are written there.
const sleeping = `
import (
	"cmp"
	"os"
	"strconv"
	"sync"
)

var mutantAwake, _ = strconv.Atoi(os.Getenv("MUTANT"))

var mutantReached = func() func(int) {
	name := os.Getenv("MUTANT_REACHED")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	var seen sync.Map
	return func(id int) {
		if _, ok := seen.LoadOrStore(id, true); !ok {
			file.WriteString(strconv.Itoa(id) + "\n")
		}
	}
}()

func mutantOn(id int) bool {
	if mutantReached != nil {
		mutantReached(id)
	}
	return id == mutantAwake
}

func mutantAnd(id int, x bool, y func() bool) bool {
	if mutantOn(id) {
		return x || y()
	}
	return x && y()
}

func mutantOr(id int, x bool, y func() bool) bool {
	if mutantOn(id) {
		return x && y()
	}
	return x || y()
}

func mutantLess[T cmp.Ordered](bound, opposite int, x, y T) bool {
	return ((x < y) || mutantOn(bound) && x == y) != mutantOn(opposite)
}

func mutantLessEqual[T cmp.Ordered](bound, opposite int, x, y T) bool {
	return (x < y || x == y && !mutantOn(bound)) != mutantOn(opposite)
}

func mutantGreater[T cmp.Ordered](bound, opposite int, x, y T) bool {
	return mutantLess(bound, opposite, y, x)
}

func mutantGreaterEqual[T cmp.Ordered](bound, opposite int, x, y T) bool {
	return mutantLessEqual(bound, opposite, y, x)
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutantAdd[T mutantNumber](id int, x, y T) T {
	if mutantOn(id) {
		return x - y
	}
	return x + y
}

func mutantSubtract[T mutantNumber](id int, x, y T) T {
	if mutantOn(id) {
		return x + y
	}
	return x - y
}

func mutantMultiply[T mutantNumber](id int, x, y T) T {
	if mutantOn(id) {
		return x / y
	}
	return x * y
}

func mutantDivide[T mutantNumber](id int, x, y T) T {
	if mutantOn(id) {
		return x * y
	}
	return x / y
}
`
