package wire

import (
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// Forms, parts and XML have no null: RFC 6570 section 2.3 treats it as undefined, and an element or a field without
// content is the empty text. The encoders leave null out; the functions in this file return its pointers, so that the
// omission can be reported.

// Unwritten returns the pointers of the nulls in the value of a member that are left out.
func (f *FormEncoder) Unwritten(name string, v []byte) []string {
	p := &f.fallback
	if e := f.properties[name]; e != nil {
		p = &e.p
	}
	switch {
	case p.ContentType != "":
		return nil // JSON has null
	case p.Style == DeepObject:
		return Nulls(v)
	case jsonscan.KindOf(v) == jsonscan.Object && p.Style == ByType:
		return nil // as JSON
	}
	return nullsAtTop(v, len(p.Nested))
}

// Unwritten returns the pointers of the nulls in the value of a part that are left out.
func (e *MultipartEncoder) Unwritten(name string, v []byte) []string {
	p := e.parts[name]
	if p == nil {
		p = e.fallback
	}
	kind := jsonscan.KindOf(v)
	switch {
	case p.Styled && p.Style == DeepObject, p.XML != nil:
		return Nulls(v)
	case !p.Styled && (kind == jsonscan.Object || kind == jsonscan.Array && len(p.Types) > 0 && isJSON(p.Types[0])):
		return nil
	}
	return nullsAtTop(v, 0)
}

// Unwritten returns the pointers of the nulls in the value of a member that are left out: all, at any depth.
func (n *XMLNode) Unwritten(_ string, v []byte) []string { return Nulls(v) }

// Nulls returns the pointers of all nulls in a value.
func Nulls(v []byte) []string { return nullsWithin(v, maxDeep) }

const (
	maxDeep     = 1 << 20   // levels: more than any value has
	maxPointers = 512 << 10 // bytes of pointers that are returned: names may be long, and contain many nulls
)

// nullsAtTop returns the pointer of a value that is null, and those of the nulls among its members, and in that many
// levels of lists below.
func nullsAtTop(v []byte, levels int) []string { return nullsWithin(v, 1+levels) }

func nullsWithin(v []byte, levels int) []string {
	f := nullFinder{left: maxPointers}
	f.find(v, levels)
	return f.pointers
}

// nullFinder collects the pointers of nulls.
type nullFinder struct {
	at       []byte // pointer of the current value
	left     int    // bytes of pointers that may be added
	pointers []string
}

func (f *nullFinder) find(v []byte, levels int) {
	end := len(f.at)
	switch kind := jsonscan.KindOf(v); {
	case kind == jsonscan.Null:
		if f.left -= end; f.left >= 0 {
			f.pointers = append(f.pointers, string(f.at))
		}
	case levels == 0 || f.left < 0:
	case kind == jsonscan.Object:
		for name, member := range jsonscan.Members(v) {
			if mayHoldNull(member) {
				f.at = append(append(f.at[:end], '/'), jsonscan.EscapeToken(string(name))...)
				f.find(member, levels-1)
			}
		}
	case kind == jsonscan.Array:
		i := 0
		for item := range jsonscan.Elements(v) {
			if mayHoldNull(item) {
				f.at = strconv.AppendInt(append(f.at[:end], '/'), int64(i), 10)
				f.find(item, levels-1)
			}
			i++
		}
	}
	f.at = f.at[:end]
}

// mayHoldNull reports whether a value is null or may contain null.
func mayHoldNull(v []byte) bool {
	kind := jsonscan.KindOf(v)
	return kind == jsonscan.Null || kind == jsonscan.Object || kind == jsonscan.Array
}
