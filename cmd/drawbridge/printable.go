package main

import (
	"bytes"
	"io"
	"unicode"
)

// printable is a terminal that documents are shown on. Their paths and names come from strangers, so control
// characters, with which a terminal can be made to lie, become U+FFFD (S8).
type printable struct{ w io.Writer }

func (p printable) Write(b []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, b)
	if _, err := p.w.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}
