package wire

import (
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// styled appends a property by its style: each pair of a query becomes a part.
func (w *multipartWriter) styled(p *Part, name string, v []byte) error {
	field := func(name string, value []byte) error {
		if err := w.open(name, "", "", p.Headers); err != nil {
			return err
		}
		w.dst = append(append(w.dst, value...), "\r\n"...)
		return nil
	}
	switch kind := jsonscan.KindOf(v); {
	case p.Style == DeepObject:
		return w.deepFields(name, v, field)
	case kind == jsonscan.Array && p.Explode:
		for item := range jsonscan.Elements(v) {
			if jsonscan.KindOf(item) == jsonscan.Null {
				continue
			}
			if err := field(name, text(item)); err != nil {
				return err
			}
		}
	case kind == jsonscan.Object && p.Explode:
		for member, value := range jsonscan.Members(v) {
			if _, taken := w.e.parts[string(member)]; taken && string(member) != name {
				return within(string(member), refuse("is the name of another part"))
			}
			if jsonscan.KindOf(value) == jsonscan.Null {
				continue
			}
			if err := field(string(member), text(value)); err != nil {
				return err
			}
		}
	case kind == jsonscan.Array || kind == jsonscan.Object:
		mark := map[Style]byte{SpaceDelimited: ' ', PipeDelimited: '|', TabDelimited: '\t'}[p.Style]
		if mark == 0 {
			mark = ','
		}
		joined, err := joinMembers(v, mark)
		if err != nil {
			return err
		}
		return field(name, joined)
	default:
		return field(name, text(v))
	}
	return nil
}

// joinMembers writes the members of a list, or the names and members of an object, with mark between them. A member
// that contains the mark is refused: it can't be escaped (OAS 3.1.1 appendix D).
func joinMembers(v []byte, mark byte) (out []byte, err error) {
	add := func(t []byte) {
		if err == nil && slices.Contains(t, mark) {
			err = refuse("must not have a member that contains %q: members are sent with it between them, and it can't be escaped", mark)
		}
		if out != nil {
			out = append(out, mark)
		}
		out = append(out, t...)
		if out == nil {
			out = []byte{}
		}
	}
	for item := range jsonscan.Elements(v) {
		if jsonscan.KindOf(item) != jsonscan.Null {
			add(text(item))
		}
	}
	for name, value := range jsonscan.Members(v) {
		if jsonscan.KindOf(value) != jsonscan.Null {
			add(name)
			add(text(value))
		}
	}
	return out, err
}

// deepFields yields the leaves of a value with the names of style deepObject.
func (w *multipartWriter) deepFields(name string, v []byte, field func(name string, value []byte) error) error {
	switch jsonscan.KindOf(v) {
	case jsonscan.Null:
	case jsonscan.Object:
		for member, value := range jsonscan.Members(v) {
			if strings.ContainsAny(string(member), "[]") {
				return within(string(member), refuse("must not have brackets in its name: they would make it another one"))
			}
			if err := w.repeated.add(len(name) + len(member)); err != nil {
				return err
			}
			if err := w.deepFields(name+"["+string(member)+"]", value, field); err != nil {
				return within(string(member), err)
			}
		}
	case jsonscan.Array:
		sent, i := 0, -1
		for item := range jsonscan.Elements(v) {
			if i++; !defined(item) {
				continue
			}
			if err := w.repeated.add(len(name)); err != nil {
				return err
			}
			if err := w.deepFields(name+"["+strconv.Itoa(sent)+"]", item, field); err != nil {
				return withinItem(i, err)
			}
			sent++
		}
	default:
		return field(name, text(v))
	}
	return nil
}
