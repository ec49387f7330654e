package tree

import "strings"

// Bounds of the position of an overlaid value: its line and the index of its overlay share one field of a Node.
const (
	lineBits = 24
	maxLine  = 1<<lineBits - 1
	// maxSources is the number of files that values of a document may come from besides its own.
	maxSources = 1<<(32-lineBits) - 1
)

// overlaySeparator separates the locations in the text of a root; no location contains it.
const overlaySeparator = "\x00"

// overlays returns the locations of the files that the values of a root file come from.
func (n *Node) overlays() []string {
	if n.kind != Object || n.text == "" {
		return nil
	}
	return strings.Split(n.text, overlaySeparator)
}

// overlayPosition returns the position of an overlaid value in the file that it came from.
func (n *Node) overlayPosition() Position {
	p := Position{Line: int(n.line & maxLine), Column: int(n.col)}
	if r := n.root(); r.isRoot() {
		if all := r.overlays(); int(n.line>>lineBits) < len(all) {
			p.File = all[n.line>>lineBits]
		}
	}
	return p
}
