package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"
)

// printable is a writer for texts from documents. Their paths and names are untrusted, so it
// replaces characters that can make a terminal mislead by U+FFFD: control, bidirectional and
// invisible ones (S8).
type printable struct{ w io.Writer }

func (p printable) Write(b []byte) (int, error) {
	text := b
	if slices.ContainsFunc(b, func(c byte) bool { return (c < ' ' || c > '~') && c != '\n' && c != '\t' }) {
		text = bytes.Map(visible, b)
	}
	if _, err := p.w.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// visible replaces a character that can make a terminal mislead.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point) && r != '\n' && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}

// oneLine returns a text from a document as printable text without line ends.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// breaks writes line breaks as they are written in code.
var breaks = strings.NewReplacer("\n", `\n`, "\r", `\r`)
