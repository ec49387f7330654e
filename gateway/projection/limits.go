package projection

import (
	"bytes"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
)

// Limits bound an answer. A zero field is no limit.
type Limits struct {
	MaxItems  int // elements of each array
	MaxTokens int // tokens of the answer
}

// Prepare loads the vocabulary that tokens are counted with, so that the first call with a limit on tokens does not wait for it.
func Prepare() { tokenizer.Load() }

// Cut is what a limit left out at one place, or at all places that a path leads to.
type Cut struct {
	// Path is the place, in the notation of a [FieldList]; "" is the answer itself.
	Path string
	// Kind is the kind of the values that were cut; 0 for several places that are not told apart.
	Kind jsonscan.Kind
	// Left is the number of elements of arrays, members of objects or bytes of strings that were left out, or of places.
	Left int
	// Shown is the number of elements of the array, or of whole lines of the text, that are left; 0 if that is not known, or differs among
	// the arrays that the path leads to.
	Shown int
	// Text reports that the answer is text and not JSON.
	Text bool
}

// Apply returns an answer within the limits, and what was left out. The answer must be compact JSON that was scanned before;
// it is returned as it is if it is within the limits. Arrays lose elements at their end. If that is not enough for MaxTokens,
// long strings are shortened, and objects lose members.
func (l Limits) Apply(data []byte) ([]byte, []Cut) {
	var cuts cuts
	if l.MaxItems > 0 {
		c := itemCutter{data: data, most: l.MaxItems, cuts: &cuts}
		c.value(0)
		if c.out != nil {
			data = append(c.out, data[c.copied:]...)
		}
	}
	if l.MaxTokens > 0 {
		data = l.fit(data, &cuts)
	}
	return data, cuts.all
}

// ApplyText is Apply for an answer that is text and no JSON: it loses its end if it has more than MaxTokens tokens, from the end of a
// line on if a good part of it ends there.
func (l Limits) ApplyText(text []byte) ([]byte, []Cut) {
	if l.MaxTokens <= 0 {
		return text, nil
	}
	n, _ := prefix(text, l.MaxTokens)
	return CutText(text, n)
}

// CutText returns the first n bytes of a text, or nearly as many, to the end of a line if a good part ends there, and what is left out.
func CutText(text []byte, n int) ([]byte, []Cut) {
	if n == len(text) {
		return text, nil
	}
	if end := bytes.LastIndexByte(text[:n], '\n') + 1; end > n/2 {
		n = end
	}
	return text[:n], []Cut{{Kind: jsonscan.String, Left: len(text) - n, Shown: bytes.Count(text[:n], []byte{'\n'}), Text: true}}
}

// cuts collect what is left out, by path.
type cuts struct {
	all    []Cut
	path   []byte // where the cutter is
	nested int    // arrays that are elements of others around it
}

// add records that something was left out at the present path. shown is the number of elements of an array that are left.
func (c *cuts) add(kind jsonscan.Kind, left, shown int) {
	if c.nested > 0 {
		shown = 0
	}
	for i := range c.all {
		if one := &c.all[i]; one.Kind == kind && one.Path == string(c.path) {
			one.Left += left
			if one.Shown != shown {
				one.Shown = 0
			}
			return
		}
	}
	switch last := len(c.all) - 1; {
	case last < maxCuts-1:
		c.all = append(c.all, Cut{Path: string(c.path), Kind: kind, Left: left, Shown: shown})
	case c.all[last].Kind != 0:
		c.all[last] = Cut{Left: 2} // the last one, and this
	default:
		c.all[last].Left++
	}
}

// maxCuts is the number of places in a note; the last may stand for all others.
const maxCuts = 4

// enter adds a name to the path, and returns the length to leave it by. A long path is cut: it is for a note.
func (c *cuts) enter(quoted []byte) (length int) {
	const most = 120
	length = len(c.path)
	if length > most {
		return length
	}
	if length > 0 {
		c.path = append(c.path, '.')
	}
	name := quoted[1 : len(quoted)-1]
	if len(name) == 0 || len(name) > 60 || bytes.ContainsAny(name, ".,[]\"\\* \t\r\n") {
		name = append([]byte{'"'}, append(bytes.ToValidUTF8(name[:min(len(name), 60)], nil), '"')...)
	}
	c.path = append(c.path, name...)
	return length
}

func (c *cuts) leave(length int) { c.path = c.path[:length] }

// itemCutter copies an answer without the elements of arrays beyond a number, in one pass.
type itemCutter struct {
	data   []byte
	most   int
	out    []byte // what was decided on, as far as copied; nil if nothing was cut so far
	copied int
	cuts   *cuts
}

// value goes through the value that starts at i, and returns the offset behind it.
func (c *itemCutter) value(i int) int {
	switch c.data[i] {
	case '{':
		return c.object(i)
	case '[':
		return c.array(i)
	}
	return jsonscan.Skip(c.data, i)
}

func (c *itemCutter) object(i int) int {
	if i++; c.data[i] == '}' {
		return i + 1
	}
	for {
		start := i
		i = jsonscan.Skip(c.data, i)
		switch c.data[i+1] {
		case '{', '[':
			length := c.cuts.enter(c.data[start:i])
			i = c.value(i + 1)
			c.cuts.leave(length)
		default:
			i = jsonscan.Skip(c.data, i+1)
		}
		if i++; c.data[i-1] == '}' {
			return i
		}
	}
}

func (c *itemCutter) array(i int) int {
	if i++; c.data[i] == ']' {
		return i + 1
	}
	for n := 1; ; n++ {
		if n <= c.most && c.data[i] == '[' {
			c.cuts.nested++
			i = c.array(i)
			c.cuts.nested--
		} else if n <= c.most {
			i = c.value(i)
		} else {
			i = jsonscan.Skip(c.data, i)
		}
		if n == c.most && c.data[i] == ',' {
			if c.out == nil {
				c.out = make([]byte, 0, len(c.data))
			}
			c.out = append(c.out, c.data[c.copied:i]...)
		}
		if c.data[i] == ']' {
			if n > c.most {
				c.copied = i
				c.cuts.add(jsonscan.Array, n-c.most, c.most)
			}
			return i + 1
		}
		i++
	}
}
