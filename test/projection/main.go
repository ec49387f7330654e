// Command projection measures what a projection saves on answers that services give. It prints, for each recorded answer of
// testdata, its tokens as it is, without nulls, with the first elements of its longest list, with an expression of the
// operator, and with a list of fields of a model, and exits with 1
// if an expression saves less than the goal, or a result is not valid JSON.
//
//	go run ./test/projection [-goal 90] [DIRECTORY]
//
// The answers are the examples that public OpenAPI documents give. Notes count as tokens of the result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
)

func main() {
	goal := flag.Float64("goal", 90, "percent of the tokens that an expression must save")
	flag.Parse()
	dir := "test/projection/testdata"
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	if err := run(os.Stdout, dir, *goal); err != nil {
		fmt.Fprintln(os.Stderr, "projection:", err)
		os.Exit(1)
	}
}

// recorded is an answer with the projections that it is measured by.
type recorded struct {
	name, question string
	answer         []byte
	program        *projection.Program
	fields         *projection.FieldList
}

func run(w io.Writer, dir string, goal float64) error {
	all, err := read(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-24s %8s %8s %7s %8s %7s %8s %7s %8s %7s %9s  %s\n", "answer", "tokens", "no nulls", "saved", "[0:5]", "saved", "select", "saved", "_select", "saved", "time", "question")
	var missed []string
	var whole, selected, listed, filled, cut int
	for _, r := range all {
		bySelect, took, err := measure(&projection.Rule{Select: r.program}, r.answer, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		byFields, _, err := measure(&projection.Rule{}, r.answer, r.fields)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		withoutNulls, _, err := measure(&projection.Rule{DropNulls: true}, r.answer, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		n := tokenizer.Count(r.answer)
		first := n
		if slice := firstElements(r.answer); slice != nil {
			if first, _, err = measure(&projection.Rule{}, r.answer, slice); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		filled, cut = filled+withoutNulls, cut+first
		whole, selected, listed = whole+n, selected+bySelect, listed+byFields
		fmt.Fprintf(w, "%-24s %8d%s %9s  %s\n", r.name, n, columns(n, withoutNulls, first, bySelect, byFields), took.Round(10*time.Microsecond), r.question)
		if saved(n, bySelect) < goal {
			missed = append(missed, r.name)
		}
	}
	fmt.Fprintf(w, "%-24s %8d%s\n", fmt.Sprint(len(all), " answers"), whole, columns(whole, filled, cut, selected, listed))
	if missed != nil {
		return fmt.Errorf("less than %g %% saved: %s", goal, strings.Join(missed, ", "))
	}
	return nil
}

// firstElements returns the list of fields that takes the first elements of an answer or of its longest list; nil if no list has more.
func firstElements(answer []byte) *projection.FieldList {
	const elements = 5
	path, longest := "", elements
	note := func(name string, value []byte) {
		if n := count(value); n > longest {
			path, longest = name, n
		}
	}
	note("", answer)
	if jsonscan.KindOf(answer) == jsonscan.Object {
		for name, value := range jsonscan.Members(answer) {
			note(string(name), value)
		}
	}
	if longest == elements {
		return nil
	}
	fields, err := projection.ParseFieldList(fmt.Sprintf("%s[0:%d]", path, elements))
	if err != nil {
		return nil
	}
	return fields
}

// count returns the number of elements of an array; 0 for another value.
func count(value []byte) (n int) {
	if jsonscan.KindOf(value) == jsonscan.Array {
		for range jsonscan.Elements(value) {
			n++
		}
	}
	return n
}

// columns returns the tokens of projections of an answer with so many, each with what it saves.
func columns(whole int, projected ...int) string {
	var text strings.Builder
	for _, n := range projected {
		fmt.Fprintf(&text, " %8d %6.1f%%", n, saved(whole, n))
	}
	return text.String()
}

// saved returns the percentage that a projection saves.
func saved(before, after int) float64 { return 100 * float64(before-after) / float64(before) }

// measure returns the tokens of an answer after a projection, with those of the note, and the time that it takes.
func measure(rule *projection.Rule, data []byte, fields *projection.FieldList) (int, time.Duration, error) {
	begin := time.Now()
	a := rule.Apply(context.Background(), data, false, fields)
	took := time.Since(begin)
	switch {
	case a.Failed != nil:
		return 0, took, a.Failed
	case !json.Valid(a.Data):
		return 0, took, errors.New("the result is not JSON")
	case len(a.Missed) > 0:
		return 0, took, fmt.Errorf("%s is not in the answer", a.Missed[0].Path)
	}
	return tokenizer.Count(a.Data) + tokenizer.Count([]byte(a.Note())), took, nil
}

// read reads the recorded answers of a directory: sections answer, select and fields, after a line with the question.
func read(dir string) (all []recorded, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no answers in %s", dir)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			return nil, err
		}
		r := recorded{name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		r.question, _, _ = strings.Cut(string(a.Comment), "\n")
		for _, f := range a.Files {
			text := strings.TrimSpace(string(f.Data))
			switch f.Name {
			case "answer":
				var ok bool
				if r.answer, ok = projection.Compact(f.Data); !ok {
					return nil, fmt.Errorf("%s: the answer is not JSON", file)
				}
			case "select":
				r.program, err = projection.NewCompiler().Compile(text)
			case "fields":
				r.fields, err = projection.ParseFieldList(text)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s %w", file, f.Name, err)
			}
		}
		all = append(all, r)
	}
	return all, nil
}
