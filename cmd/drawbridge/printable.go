package main

import (
	"bytes"
	"io"
	"unicode"
)

// printable is a terminal that documents are shown on. Their paths and names come from strangers, so characters with which a
// terminal can be made to lie become U+FFFD: those that control it, that turn the text around them, and that nobody sees (S8).
type printable struct{ w io.Writer }

func (p printable) Write(b []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, b)
	if _, err := p.w.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}
