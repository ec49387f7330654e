package projection

import (
	"slices"
	"unicode/utf8"

	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
)

// Fit returns an answer of at most a number of tokens, as [Limits].Apply does, and the number of its tokens. It is for a caller that has
// counted those of a beginning of the answer, which has as many or more.
func Fit(data []byte, most int, counted Counted) (fitted []byte, left []Cut, tokens int) {
	var all cuts
	fitted, tokens = fit(data, most, counted, &all)
	return fitted, all.all, tokens
}

// Counted is a beginning of an answer whose tokens were counted.
type Counted struct{ Bytes, Tokens int }

// fit returns an answer of at most MaxTokens tokens.
func (l Limits) fit(data []byte, all *cuts) []byte {
	if room, tokens := prefix(data, l.MaxTokens); room < len(data) {
		data, _ = fit(data, l.MaxTokens, Counted{room, tokens}, all)
	}
	return data
}

// fit returns an answer of at most a number of tokens, and its tokens. The tokens of a part can't be known before it is cut, so its room
// is estimated by what was counted, and they are counted again.
func fit(data []byte, most int, counted Counted, all *cuts) (fitted []byte, tokens int) {
	if short := shortenOpaque(data, all); len(short) < len(data) {
		data = short
		if counted.Bytes, counted.Tokens = prefix(data, most); counted.Bytes == len(data) {
			return data, counted.Tokens
		}
	}
	room := min(counted.Bytes, share(counted.Bytes, most, counted.Tokens))
	room -= room / 64 // an estimate that is a little too large costs another count
	before := slices.Clone(all.all)
	for range maxFits {
		f := fitter{cuts: all}
		all.path = all.path[:0]
		out := f.value(make([]byte, 0, room+16), data, room, 0)
		if len(out) <= most { // no token has less than a byte
			return out, len(out)
		}
		if tokens = tokenizer.CountBeside(out, data[:counted.Bytes], counted.Tokens); tokens <= most {
			return out, tokens
		}
		room = min(room*9/10, share(room, most, tokens))
		all.all = append(all.all[:0], before...)
	}
	all.path = all.path[:0]
	all.add(jsonscan.KindOf(data), 1, 0)
	switch data[0] { // what has the kind of the answer fits its schema
	case '{':
		return []byte("{}"), 1
	case '[':
		return []byte("[]"), 1
	}
	return []byte("null"), 1
}

const (
	// maxFits is how often an answer is cut until its tokens are few enough.
	maxFits = 8
	// maxFitDepth is how deep a value is cut; what is nested deeper is left out as a whole. Each level reads the value again.
	maxFitDepth = 16
	// minString is the number of bytes below which a string is not shortened.
	minString = 24
)

// prefix returns the length of a beginning of a text that has at most a number of tokens, and the whole length if all of it has.
func prefix(data []byte, most int) (length, tokens int) {
	if len(data) <= most {
		return len(data), len(data)
	}
	return tokenizer.Prefix(data, most)
}

// share returns the part of a size that some of its tokens take.
func share(size, part, tokens int) int { return int(int64(size) * int64(part) / int64(max(tokens, 1))) }

// fitter writes a value in at most a number of bytes, as far as that can be done without making it invalid.
type fitter struct{ cuts *cuts }

// value appends a value in at most room bytes.
func (f *fitter) value(dst, value []byte, room, depth int) []byte {
	if len(value) <= room {
		return append(dst, value...)
	}
	switch value[0] {
	case '[':
		return f.array(dst, value, room, depth)
	case '{':
		return f.object(dst, value, room, depth)
	case '"':
		return f.str(dst, value, room)
	}
	return append(dst, value...) // a number is not cut; it is not long, either
}

// array keeps the elements that fit, in order, and at least a part of the first.
func (f *fitter) array(dst, value []byte, room, depth int) []byte {
	room -= len("[]")
	dst = append(dst, '[')
	shown, total, used, full := 0, 0, 0, depth == maxFitDepth
	for element := range jsonscan.Elements(value) {
		total++
		if full {
			continue
		}
		n := len(element)
		if shown > 0 {
			n++
		}
		switch {
		case used+n <= room:
			if shown > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, element...)
			used += n
			shown++
		case shown == 0 && canCut(element):
			dst = f.element(dst, element, room, depth+1)
			shown++
			full = true
		default:
			full = true
		}
	}
	if shown < total {
		f.cuts.add(jsonscan.Array, total-shown, shown)
	}
	return append(dst, ']')
}

// element appends the first element of an array, of which a part fits.
func (f *fitter) element(dst, value []byte, room, depth int) []byte {
	if value[0] != '[' {
		return f.value(dst, value, room, depth)
	}
	f.cuts.nested++
	dst = f.array(dst, value, room, depth)
	f.cuts.nested--
	return dst
}

// canCut reports whether a value may become shorter.
func canCut(value []byte) bool {
	return value[0] == '{' || value[0] == '[' || value[0] == '"' && len(value) > minString
}

// fitted is a member of an object that is cut.
type fitted struct {
	name, value []byte // the name with its quotes
	room        int    // bytes of the value
}

// object gives each member what it needs least, and shares the rest so that short members stay whole: totals and links beside
// a long list are not cut for it.
func (f *fitter) object(dst, value []byte, room, depth int) []byte {
	if depth == maxFitDepth {
		f.cuts.add(jsonscan.Object, countMembers(value), 0)
		return append(dst, "{}"...)
	}
	members, rest, left := fittingMembers(value, room)
	bySize := make([]*fitted, len(members))
	for i := range members {
		bySize[i] = &members[i]
	}
	slices.SortStableFunc(bySize, func(a, b *fitted) int { return len(a.value) - len(b.value) })
	for i, m := range bySize {
		more := min(len(m.value)-m.room, rest/(len(bySize)-i))
		m.room += more
		rest -= more
	}
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, m.name...), ':')
		length := f.cuts.enter(m.name)
		dst = f.value(dst, m.value, m.room, depth+1)
		f.cuts.leave(length)
	}
	if left > 0 {
		f.cuts.add(jsonscan.Object, left, 0)
	}
	return append(dst, '}')
}

// fittingMembers returns the members of an object with the least room for each, and the room that is left then. Members are left
// out once there is not even that; left is their number. What is kept grows with the room, not with the object.
func fittingMembers(object []byte, room int) (members []fitted, rest, left int) {
	rest = room - len("{}")
	for i := 1; object[i] != '}'; i++ {
		start := i
		i = jsonscan.Skip(object, i)
		m := fitted{name: object[start:i]}
		start = i + 1
		i = jsonscan.Skip(object, start)
		m.value = object[start:i]
		m.room = minRoom(m.value)
		if n := len(m.name) + len(":,") + m.room; n <= rest {
			rest -= n
			members = append(members, m)
		} else {
			left++
		}
		if object[i] == '}' {
			break
		}
	}
	return members, rest, left
}

func countMembers(object []byte) (n int) {
	for range jsonscan.Members(object) {
		n++
	}
	return n
}

// minRoom returns the fewest bytes to which a value can be cut.
func minRoom(value []byte) int {
	switch value[0] {
	case '[', '{':
		return len("[]")
	case '"':
		return min(len(value), minString)
	}
	return len(value)
}

// str shortens a string, and ends it with an ellipsis.
func (f *fitter) str(dst, value []byte, room int) []byte {
	const ellipsis = `…"`
	room = max(room, minString)
	if len(value) <= room {
		return append(dst, value...)
	}
	end, limit := 1, room-len(ellipsis)
	for end < limit {
		n := 1
		switch c := value[end]; {
		case c == '\\' && value[end+1] == 'u':
			n = len(`\u0000`)
			if end+2*n < len(value) && value[end+2]|0x20 == 'd' && value[end+3] >= '8' && value[end+6] == '\\' && value[end+7] == 'u' {
				n *= 2 // a surrogate pair is one character
			}
		case c == '\\':
			n = 2
		case c >= utf8.RuneSelf:
			_, n = utf8.DecodeRune(value[end:])
		}
		if end+n > limit {
			break
		}
		end += n
	}
	f.cuts.add(jsonscan.String, len(value)-1-end, 0)
	return append(append(dst, value[:end]...), ellipsis...)
}
