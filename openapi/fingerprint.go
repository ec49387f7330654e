package openapi

import (
	"fmt"
	"maps"
	"slices"
)

// AppendSent appends a text that tells operations apart that send other requests for the same arguments: where each argument
// goes, under which name and in which form, the media types, and what links and callbacks lead to. Where calls go, and who may
// make them, is not in it. It is false if the text does not tell all, since there is too much; then only the document as a
// whole does. The text is another one in other versions of this program: keep a digest, and nothing that reads it.
func (o *Operation) AppendSent(dst []byte) (_ []byte, whole bool) {
	dst = fmt.Appendf(dst, "%q %q\naccept %q\n", o.Method, o.PathTemplate(), o.accept)
	for _, a := range o.arguments {
		dst = fmt.Appendf(dst, "argument %q %q %s %t ", a.name, a.wire, a.place, a.required)
		if a.encoder != nil {
			dst = a.encoder.AppendPlan(dst)
		}
		dst = append(dst, '\n')
	}
	whole = true
	if b := o.body; b != nil {
		dst = fmt.Appendf(dst, "body %s %q %q %q %t %d %d\n", b.kind, b.of, b.media, b.list, b.required, b.form, b.first)
		for _, name := range slices.Sorted(maps.Keys(b.rename)) {
			dst = fmt.Appendf(dst, "renamed %q %q\n", name, b.rename[name])
		}
		if b.codec.plan != nil {
			dst, whole = b.codec.plan(dst)
		}
	}
	for _, l := range o.Links {
		dst = fmt.Appendf(dst, "link %q %q %q %q", l.Name, l.Status, l.OperationID, l.Pointer)
		for _, name := range slices.Sorted(maps.Keys(l.Parameters)) {
			dst = fmt.Appendf(dst, " %q %#v", name, l.Parameters[name])
		}
		if l.Body != nil {
			dst = fmt.Appendf(dst, " body %#v", *l.Body)
		}
		dst = append(dst, '\n')
	}
	for _, cb := range o.Callbacks {
		dst = fmt.Appendf(dst, "callback %q %#v\n", cb.Name, cb.URL)
	}
	return dst, whole
}

// AppendTold appends a text that tells operations apart whose callers are told other things of answers: what a call returns, an
// example of one, what a status means. The text is another one in other versions of this program, as that of AppendSent.
func (o *Operation) AppendTold(dst []byte) []byte {
	dst = fmt.Appendf(dst, "returns %q\nexample %q\n", o.Returns, o.Example)
	return o.Answers.AppendFingerprint(dst)
}
