package main

import (
	"slices"
	"strings"
)

// edits are what is put into a file, by the place where it goes. Points are found from the outside in, so what is
// put before an expression goes behind what is there, and what is put after it goes before that.
type edits map[int]*edit

type edit struct {
	after, before []string // of what ends and of what begins at the place
	cut           int      // bytes that are taken out
	instead       string
}

func (e edits) at(offset int) *edit {
	if e[offset] == nil {
		e[offset] = &edit{}
	}
	return e[offset]
}

func (e edits) around(from, to int, before, after string) {
	begin, end := e.at(from), e.at(to)
	begin.before = append(begin.before, before)
	end.after = slices.Insert(end.after, 0, after)
}

func (e edits) replace(offset, n int, text string) {
	at := e.at(offset)
	at.cut, at.instead = n, text
}

// apply returns the source with the edits in it.
func (e edits) apply(source []byte) []byte {
	offsets := make([]int, 0, len(e))
	for o := range e {
		offsets = append(offsets, o)
	}
	slices.Sort(offsets)
	var out strings.Builder
	done := 0
	for _, o := range offsets {
		out.Write(source[done:o])
		at := e[o]
		for _, text := range slices.Concat(at.after, at.before) {
			out.WriteString(text)
		}
		out.WriteString(at.instead)
		done = o + at.cut
	}
	out.Write(source[done:])
	return []byte(out.String())
}
