package wire

import (
	"bytes"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// A layout is one row of the table in RFC 6570 appendix A, in the terms of OAS "Style Examples".
type layout struct {
	first string // before the first piece
	sep   string // between the pieces of an exploded value
	inner string // between the members of a value that is not exploded
	named bool   // pieces have the parameter's name
	bare  bool   // an empty value is a name without "="
	mark  byte   // separator of members that can't be escaped within one (OAS 3.1.1 appendix D); 0: none
}

var layouts = [...]layout{
	Simple:         {sep: ",", inner: ","},
	Label:          {first: ".", sep: ".", inner: ","},
	Matrix:         {first: ";", sep: ";", inner: ",", named: true, bare: true},
	Form:           {sep: "&", inner: ",", named: true},
	SpaceDelimited: {sep: "&", inner: "%20", named: true},
	PipeDelimited:  {sep: "&", inner: "%7C", named: true},
	TabDelimited:   {sep: "&", inner: "%09", named: true},
	DeepObject:     {sep: "&", named: true},
	CookieStyle:    {sep: "; ", inner: ",", named: true},
	ByType:         {sep: "&", named: true},
}

// legal holds the locations of each style, as bits. Swagger 2.0 has the delimited styles in paths and headers also
// (collectionFormat), so they are legal there.
var legal = [...]uint8{
	Simple:         1<<Path | 1<<Header,
	Label:          1 << Path,
	Matrix:         1 << Path,
	Form:           1<<Query | 1<<Cookie | 1<<QueryString,
	SpaceDelimited: 1<<Query | 1<<Path | 1<<Header,
	PipeDelimited:  1<<Query | 1<<Path | 1<<Header,
	TabDelimited:   1<<Query | 1<<Path | 1<<Header,
	DeepObject:     1 << Query,
	CookieStyle:    1 << Cookie,
	ByType:         1 << Query,
}

func layoutOf(s Style, in Location, explode bool) layout {
	l := layouts[s]
	switch {
	case s == SpaceDelimited:
		l.mark = ' '
	case s == PipeDelimited:
		l.mark = '|'
	case s == TabDelimited:
		l.mark = '\t'
	case in == Header:
		l.mark = ','
	}
	switch {
	case in == Query && explode:
		l.mark = 0 // members are parameters of their own
	case s == Form && in == Cookie:
		l.sep = "; " // "&" is never right in a cookie (OAS 3.2 appendix D)
	case in == Path && l.named && !l.bare:
		l = layout{sep: l.inner, inner: l.inner, mark: l.mark}
	case in == Header && l.named:
		raw := map[Style]string{SpaceDelimited: " ", PipeDelimited: "|", TabDelimited: "\t"}[s]
		l = layout{sep: raw, inner: raw, mark: l.mark}
	}
	return l
}

// delimiter returns the class of bytes that must be escaped in a piece of an exploded value.
func (l *layout) delimiter() class {
	if l.sep == "," {
		return comma
	}
	return 0
}

// A writer appends the pieces of one value.
type writer struct {
	e   *Encoder
	dst []byte
	n   int // pieces so far
	// repeated counts the bytes of names that were written. They exceed the caller's input if a name is written more
	// than once.
	repeated repetition
}

// maxRepeated limits the bytes of names in one query, cookie or body. A long name of a list with many members, or of an
// object with many leaves, is written for each of them: without a limit a megabyte would be multiplied by the number of
// members (R8).
const maxRepeated = 8 << 20

// A repetition counts repeated bytes.
type repetition int

func (r *repetition) add(n int) error {
	if *r += repetition(n); *r > maxRepeated {
		return refuse("has too many members with too long names to be sent")
	}
	return nil
}

// value appends v by the shape that it has.
func (w *writer) value(v []byte) error {
	p, kind := &w.e.p, jsonscan.KindOf(v)
	switch {
	case p.ContentType != "":
		return w.content(v)
	case !defined(v) && !(p.Style == ByType && kind == jsonscan.Object): // in JSON, {} is a value
		if p.AllowEmptyValue && p.In == Query {
			w.open()
			w.key(w.e.name)
		}
		return nil
	case p.Style == DeepObject:
		return w.deep(append(make([]byte, 0, 64), w.e.name...), v)
	case kind == jsonscan.Array && (p.Explode || p.Style == ByType):
		return w.list(w.e.name, v)
	case kind == jsonscan.Object && p.Explode && p.Style != ByType:
		return w.members(v)
	default:
		return w.flat(v)
	}
}

// open begins a piece.
func (w *writer) open() {
	l := &w.e.layout
	switch n := len(w.dst); {
	case w.n > 0:
		w.dst = append(w.dst, l.sep...)
	case w.e.p.In == Query, w.e.p.In == QueryString:
		if n > 0 && w.dst[n-1] != '?' && w.dst[n-1] != '&' {
			w.dst = append(w.dst, '&')
		}
	case w.e.p.In == Cookie:
		if n > 0 {
			w.dst = append(w.dst, l.sep...)
		}
	default:
		w.dst = append(w.dst, l.first...)
	}
	w.n++
}

// key appends a name that is already escaped, if the layout has names.
func (w *writer) key(name string) {
	if w.e.layout.named {
		w.dst = append(append(w.dst, name...), '=')
	}
}

// end removes the "=" of an empty value in the layouts that omit it.
func (w *writer) end() {
	if n := len(w.dst); w.e.layout.bare && w.dst[n-1] == '=' {
		w.dst = w.dst[:n-1]
	}
}

// flat appends v as one piece: a scalar, or the concatenated members of a list or an object.
func (w *writer) flat(v []byte) error {
	w.open()
	w.key(w.e.name)
	first := true
	switch kind := jsonscan.KindOf(v); {
	case kind == jsonscan.Array:
		for item := range jsonscan.Elements(v) {
			if jsonscan.KindOf(item) == jsonscan.Null {
				continue
			}
			if !first {
				w.dst = append(w.dst, w.e.layout.inner...)
			}
			first = false
			if err := w.item(item, comma, w.e.p.Nested); err != nil {
				return err
			}
		}
	case kind == jsonscan.Object && w.e.p.Style != ByType:
		for name, member := range jsonscan.Members(v) {
			if jsonscan.KindOf(member) == jsonscan.Null {
				continue
			}
			if !first {
				w.dst = append(w.dst, w.e.layout.inner...)
			}
			first = false
			if err := w.memberName(name); err != nil {
				return err
			}
			w.dst = append(w.dst, w.e.layout.inner...)
			if err := w.member(text(member), comma); err != nil {
				return err
			}
		}
	default:
		if err := w.text(text(v), 0); err != nil {
			return err
		}
	}
	w.end()
	return nil
}

// list appends each member of a list as a piece of its own.
func (w *writer) list(name string, v []byte) error {
	for item := range jsonscan.Elements(v) {
		if jsonscan.KindOf(item) == jsonscan.Null {
			continue
		}
		if err := w.repeated.add(len(name)); err != nil {
			return err
		}
		w.open()
		w.key(name)
		if err := w.item(item, w.e.layout.delimiter(), w.e.p.Nested); err != nil {
			return err
		}
		w.end()
	}
	return nil
}

// members appends each member of an object as a piece of its own.
func (w *writer) members(v []byte) error {
	for name, member := range jsonscan.Members(v) {
		if jsonscan.KindOf(member) == jsonscan.Null {
			continue
		}
		switch owner := w.e.taken(string(name)); owner {
		case "":
		case string(name):
			return refuse("must not have a member %q: that is the name of another parameter", name)
		default:
			return refuse("must not have a member %q: it would be a part of %q, another parameter", name, owner)
		}
		items := [][]byte{member}
		if w.e.layout.named && isScalarList(member) {
			items = items[:0]
			for item := range jsonscan.Elements(member) {
				items = append(items, item)
			}
		}
		for _, item := range items {
			if err := w.repeated.add(len(name)); err != nil {
				return err
			}
			w.open()
			if err := w.memberName(name); err != nil {
				return err
			}
			w.dst = append(w.dst, '=')
			if err := w.member(text(item), w.e.layout.delimiter()); err != nil {
				return err
			}
			w.end()
		}
	}
	return nil
}

// deep appends v below prefix, an escaped name (style deepObject).
func (w *writer) deep(prefix, v []byte) error {
	switch jsonscan.KindOf(v) {
	case jsonscan.Null:
	case jsonscan.Object:
		for name, member := range jsonscan.Members(v) {
			if bytes.ContainsAny(name, "[]") {
				return refuse("must not have a member %q: brackets would make it another one", name)
			}
			if len(name) == 0 {
				return refuse("must not have a member without a name: its empty brackets would make a list")
			}
			if err := w.repeated.add(len(prefix) + len(name)); err != nil {
				return err
			}
			below := append(prefix, "%5B"...)
			below = appendEscaped(below, name, w.e.names, 0)
			if err := w.deep(append(below, "%5D"...), member); err != nil {
				return err
			}
		}
	case jsonscan.Array:
		i := 0
		for item := range jsonscan.Elements(v) {
			if !defined(item) {
				continue
			}
			if err := w.repeated.add(len(prefix)); err != nil {
				return err
			}
			below := strconv.AppendInt(append(prefix, "%5B"...), int64(i), 10)
			if err := w.deep(append(below, "%5D"...), item); err != nil {
				return err
			}
			i++
		}
	default:
		w.open()
		w.dst = append(append(w.dst, prefix...), '=')
		return w.text(text(v), 0)
	}
	return nil
}

// content appends v in the media type of a parameter that has content.
func (w *writer) content(v []byte) error {
	kind := jsonscan.KindOf(v)
	switch {
	case w.e.form != nil && kind != jsonscan.Object:
		return refuse("must be an object: it is sent as %s", w.e.p.ContentType)
	case !w.e.json && w.e.form == nil && (kind == jsonscan.Array || kind == jsonscan.Object) && !covers(w.e.p.ContentType, "application/json"):
		return refuse("must not be an %s: it is sent as %s", kind, w.e.p.ContentType)
	}
	if w.e.form != nil && w.e.p.In == QueryString {
		return w.query(v)
	}
	w.open()
	if w.e.p.In != QueryString {
		w.key(w.e.name)
	}
	t := text(v)
	switch {
	case w.e.form != nil:
		var err error
		if t, err = w.e.form.Append(nil, jsonMembers(v)); err != nil {
			return err
		}
	case w.e.json:
		t = appendJSON(make([]byte, 0, len(v)), v)
		if w.e.p.In == Header {
			t = asciiJSON(t)
		}
	}
	return w.text(t, 0)
}

// query appends the pairs of a form as the whole query. They are already escaped, and none may have the name of a
// parameter that the gateway itself sends (R5).
func (w *writer) query(v []byte) error {
	for name := range jsonscan.Members(v) {
		if owner := w.e.taken(string(name)); owner != "" {
			return within(string(name), refuse("must not be given: %q is another parameter", owner))
		}
	}
	pairs, err := w.e.form.Append(nil, jsonMembers(v))
	if err != nil || len(pairs) == 0 {
		return err
	}
	w.open()
	w.dst = append(w.dst, pairs...)
	return nil
}

// taken returns the name of the other parameter that a service would take a member for: its own name, or the part
// before the first bracket of it.
func (e *Encoder) taken(name string) string {
	if e.p.Taken == nil {
		return ""
	}
	others := e.p.Taken()
	for _, other := range [...]string{name, deepOwner(name)} {
		if _, taken := others[other]; taken && other != e.p.Name {
			return other
		}
	}
	return ""
}

func isScalarList(v []byte) bool {
	if jsonscan.KindOf(v) != jsonscan.Array {
		return false
	}
	for item := range jsonscan.Elements(v) {
		if k := jsonscan.KindOf(item); k == jsonscan.Array || k == jsonscan.Object || k == jsonscan.Null {
			return false
		}
	}
	return true
}

// memberName appends the name of an object's member.
func (w *writer) memberName(name []byte) error {
	if len(name) == 0 {
		return refuse("must not have a member without a name")
	}
	if w.e.p.In == Header && w.e.p.Explode && bytes.IndexByte(name, '=') >= 0 {
		return refuse("must not have a member %q: its name would end at \"=\", which can't be escaped in a header", name)
	}
	if err := w.e.checkMember(name); err != nil {
		return err
	}
	return w.escaped(name, w.e.names, comma)
}

// member appends a piece of text between delimiters.
func (w *writer) member(t []byte, not class) error {
	if err := w.e.checkMember(t); err != nil {
		return err
	}
	return w.text(t, not)
}

// item appends a member of a list, which may be a list itself.
func (w *writer) item(v []byte, not class, nested []byte) error {
	if jsonscan.KindOf(v) != jsonscan.Array || len(nested) == 0 {
		return w.member(text(v), not)
	}
	mark, first := nested[0], true
	for inner := range jsonscan.Elements(v) {
		if jsonscan.KindOf(inner) == jsonscan.Null {
			continue
		}
		if !first {
			if w.e.p.In == Header || mark == ',' {
				w.dst = append(w.dst, mark)
			} else {
				w.dst = append(w.dst, '%', hexUpper[mark>>4], hexUpper[mark&15])
			}
		}
		first = false
		if (mark != ',' || w.e.p.In == Header) && jsonscan.KindOf(inner) != jsonscan.Array && bytes.IndexByte(text(inner), mark) >= 0 {
			return refuse("must not have a member that contains %q: members are sent with it between them, and it can't be escaped", mark)
		}
		if err := w.item(inner, comma, nested[1:]); err != nil {
			return err
		}
	}
	return nil
}

// checkMember refuses a member that the service would take for two.
func (e *Encoder) checkMember(t []byte) error {
	if n := len(t); e.p.In == Header && n > 0 && (isBlank(t[0]) || isBlank(t[n-1])) {
		// RFC 9110 section 5.6.1: they belong to the list.
		return refuse("must not have a member that begins or ends with a space: it is sent as a header, where spaces around members don't count")
	}
	mark := e.layout.mark
	if mark == 0 {
		return nil
	}
	if e.keep&passTriples != 0 {
		t = appendDecoded(make([]byte, 0, len(t)), t) // as the service will, since triples are kept
	}
	if bytes.IndexByte(t, mark) >= 0 {
		return refuse("must not have a member that contains %q: members are sent with it between them, and it can't be escaped", mark)
	}
	return nil
}

// text appends a piece of text with the escaping and the checks of the location.
func (w *writer) text(t []byte, not class) error { return w.escaped(t, w.e.keep, not) }

func (w *writer) escaped(t []byte, keep, not class) error {
	p := &w.e.p
	var err error
	switch {
	case p.In == Path:
		w.dst, err = appendSegment(w.dst, t, keep, not, p.Slash)
	case p.In == Header:
		w.dst, err = appendHeaderText(w.dst, t)
	case p.Style == CookieStyle:
		w.dst, err = appendCookieText(w.dst, t)
	default:
		w.dst = appendEscaped(w.dst, t, keep, not)
	}
	return err
}
