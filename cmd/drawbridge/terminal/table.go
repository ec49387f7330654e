package terminal

import (
	"io"
	"strings"
)

// Table is text in columns. The zero value has no rows and no limit of width.
type Table struct {
	// Indent precedes each line.
	Indent string
	// Width is the number of cells that a line may take; 0 for any number.
	Width int
	// Flexible are the columns whose cells may be truncated, by index: the first to be truncated first.
	Flexible []int

	rows [][]string
}

const (
	columnGap = 2
	// leastCells is what remains of a truncated column.
	leastCells = 12
)

// Row adds a row. The first row is the heading.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// WriteTo writes the table. A table that is too wide even with truncated columns is written as wide as it has to be.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := t.fit()
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(t.Indent)
		for i, cell := range row {
			cell = Truncate(cell, widths[i])
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-Cells(cell)+columnGap))
			}
		}
		b.WriteByte('\n')
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// fit returns the width of each column: that of its widest cell, less what has to go.
func (t *Table) fit() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Cells(cell))
		}
	}
	if t.Width == 0 {
		return widths
	}
	over := Cells(t.Indent) + columnGap*(len(widths)-1) - t.Width
	for _, n := range widths {
		over += n
	}
	for _, i := range t.Flexible {
		if i < len(widths) && over > 0 {
			less := min(over, max(0, widths[i]-leastCells))
			widths[i] -= less
			over -= less
		}
	}
	return widths
}
