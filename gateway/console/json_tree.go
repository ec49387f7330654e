package console

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const (
	// maxTreeNodes is the most values of a JSON text that are shown as a tree; a longer one is shown as text.
	maxTreeNodes = 3000
	// maxTreeDepth is the deepest nesting that is shown as a tree.
	maxTreeDepth = 64
	// openDepth is how deep a tree is unfolded at first.
	openDepth = 3
)

// jsonNode is a JSON value as pages show it: highlighted, its members folded. The texts of a tree in their order are the JSON again.
type jsonNode struct {
	Name  string // of the member, as JSON with its colon; "" for an element and the root
	Class string // of the style sheet; "" for an object and an array
	Text  string // of a value without members
	Open  string // bracket; "" for a value without members
	Close string
	Comma string // after the value; "" for the last
	Depth int
	Items []*jsonNode
}

// newJSONTree returns the tree of a JSON text; nil if the text is no JSON, or too large to be shown as one.
func newJSONTree(text []byte) *jsonNode {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	left := maxTreeNodes
	root, err := readNode(d, 0, &left)
	if err != nil || d.More() {
		return nil
	}
	return root
}

// readNode reads a value. left is how many more are shown.
func readNode(d *json.Decoder, depth int, left *int) (*jsonNode, error) {
	if *left--; *left < 0 || depth > maxTreeDepth {
		return nil, fmt.Errorf("more than %d values, or deeper than %d", maxTreeNodes, maxTreeDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &jsonNode{Depth: depth}
	switch v := token.(type) {
	case json.Delim:
		n.Open, n.Close = v.String(), "]"
		if v == '{' {
			n.Close = "}"
		}
		for d.More() {
			name := ""
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					return nil, err
				}
				name = quotedJSON(key) + ": "
			}
			item, err := readNode(d, depth+1, left)
			if err != nil {
				return nil, err
			}
			item.Name = name
			if len(n.Items) > 0 {
				n.Items[len(n.Items)-1].Comma = ","
			}
			n.Items = append(n.Items, item)
		}
		_, err = d.Token()
		return n, err
	case string:
		n.Class, n.Text = "string", quotedJSON(v)
	case json.Number:
		n.Class, n.Text = "number", v.String()
	case bool:
		n.Class, n.Text = "literal", fmt.Sprint(v)
	default:
		n.Class, n.Text = "literal", "null"
	}
	return n, nil
}

// quotedJSON returns a string as JSON, with escapes for what nobody sees.
func quotedJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings can be written
	return string(visible(bytes.TrimRight(b.Bytes(), "\n")))
}

// size says how many members are folded.
func (n *jsonNode) size() string {
	if n.Open == "{" {
		return counted(len(n.Items), "member", "members")
	}
	return counted(len(n.Items), "element", "elements")
}
