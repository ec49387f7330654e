package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"drawbridge/gateway"
)

// accessNotes are the notes below a table of tools: what calls require and how they reach their
// service. Tools with equal access share a note.
type accessNotes struct{ notes []string }

// mark returns the reference to the note of a tool, such as [1]; "-" without a tool.
func (n *accessNotes) mark(a *gateway.ToolAccess) string {
	if a == nil {
		return "-"
	}
	note := strings.Join(a.Lines(), "\n")
	i := slices.Index(n.notes, note)
	if i < 0 {
		i = len(n.notes)
		n.notes = append(n.notes, note)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// print writes the notes, each line after the indent.
func (n *accessNotes) print(w io.Writer, indent string) {
	for i, note := range n.notes {
		mark := fmt.Sprintf("[%d] ", i+1)
		for line := range strings.SplitSeq(note, "\n") {
			fmt.Fprintf(w, "%s%s%s\n", indent, mark, line)
			mark = strings.Repeat(" ", len(mark))
		}
	}
}
