package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestCountDialect(t *testing.T) {
	tests := map[string]int{
		"isEmpty reports whether a value is empty.":            0,
		"isEmpty tells whether a value is empty.":              1,
		"x replaces y where it stands, in the place\n// of z.": 2,
		"What is found goes. The rest stays.":                  1,
		"A dot stands for any character. Which one?":           0,
	}
	for comment, want := range tests {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n\n// "+comment+"\nvar x int\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := countDialect(file); got != want {
			t.Errorf("%q has %d turns of phrase, want %d", comment, got, want)
		}
	}
}
