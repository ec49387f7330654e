package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// std is the row of the standard library and the runtime.
const std = "std"

// program is what was read of a program.
type program struct {
	modules []string // paths, the longest first
	symbols []symbol
	tables  int64 // bytes of .gopclntab
	loaded  int64 // bytes of all sections that are loaded from the file, which is about the size of a stripped program
}

// symbol is a function or a variable of a package.
type symbol struct {
	name string
	pkg  string
	size int64
	code bool
}

// read reads a program for Linux that has its symbols.
func read(path string) (*program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	p := &program{modules: []string{info.Main.Path}}
	for _, m := range info.Deps {
		p.modules = append(p.modules, m.Path)
	}
	slices.SortFunc(p.modules, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			p.loaded += int64(s.FileSize)
		}
		if s.Name == ".gopclntab" {
			p.tables = int64(s.FileSize)
		}
	}
	all, err := file.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s has no symbols: build it without -ldflags=-s", path)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if int(s.Section) >= len(file.Sections) || file.Sections[s.Section].Type == elf.SHT_NOBITS {
			continue // not in the file
		}
		p.symbols = append(p.symbols, symbol{s.Name, packageOf(s.Name), int64(s.Size), file.Sections[s.Section].Name == ".text"})
	}
	return p, nil
}

// packageOf returns the package of a symbol, such as example.com/a/b of example.com/a/b.(*T).Method[go.shape.int]; "" if it has none. The
// linker writes dots of the last element of a path as %2e.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	if strings.HasPrefix(name, "go:") || strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "$") {
		return ""
	}
	last := strings.LastIndexByte(name, '/') + 1
	end := strings.IndexByte(name[last:], '.')
	if end < 0 {
		return ""
	}
	return strings.ReplaceAll(name[:last+end], "%2e", ".")
}

// module returns the module of a package.
func (p *program) module(pkg string) string {
	for _, m := range p.modules {
		if pkg == m || strings.HasPrefix(pkg, m+"/") {
			return m
		}
	}
	if pkg == "main" {
		return p.main()
	}
	return std
}

// main is the module of the program: the one without a dot in its path.
func (p *program) main() string {
	i := slices.IndexFunc(p.modules, func(m string) bool { return !strings.Contains(m, ".") })
	return p.modules[max(i, 0)]
}

// cost is what a module or package costs, in bytes.
type cost struct {
	name               string
	code, tables, data int64
}

func (c cost) sum() int64 { return c.code + c.tables + c.data }

// costs groups the symbols by a name of their package, the most expensive first. A package without a name is left out.
func (p *program) costs(by func(pkg string) string) []cost {
	var code int64
	all := map[string]*cost{}
	for _, s := range p.symbols {
		if s.code {
			code += s.size
		}
		if s.pkg == "" {
			continue
		}
		name := by(s.pkg)
		if name == "" {
			continue
		}
		c := all[name]
		if c == nil {
			c = &cost{name: name}
			all[name] = c
		}
		if s.code {
			c.code += s.size
		} else {
			c.data += s.size
		}
	}
	var list []cost
	for _, c := range all {
		c.tables = int64(float64(p.tables) * float64(c.code) / float64(max(code, 1)))
		list = append(list, *c)
	}
	return slices.SortedFunc(slices.Values(list), func(a, b cost) int {
		return cmp.Or(cmp.Compare(b.sum(), a.sum()), strings.Compare(a.name, b.name))
	})
}

// printTable prints the costs in thousands of bytes. Those below least are one row.
func printTable(w io.Writer, all []cost, least, loaded int64) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, c cost) {
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t  %s\n", c.sum()/1000, c.code/1000, c.tables/1000, c.data/1000, name)
	}
	fmt.Fprintln(table, "kB\tcode\ttables\tdata\t  module")
	var sum, small cost
	few := 0
	for _, c := range all {
		sum.code, sum.tables, sum.data = sum.code+c.code, sum.tables+c.tables, sum.data+c.data
		if c.sum() >= least {
			row(c.name, c)
			continue
		}
		few++
		small.code, small.tables, small.data = small.code+c.code, small.tables+c.tables, small.data+c.data
	}
	row(fmt.Sprintf("%d smaller ones", few), small)
	row("all of these", sum)
	fmt.Fprintf(table, "%d\t\t\t\t  the program without symbols, with types, strings and embedded files\n", loaded/1000)
	_ = table.Flush()
}
