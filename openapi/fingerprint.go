package openapi

import (
	"fmt"
	"maps"
	"slices"
)

// AppendRequestFingerprint appends a text that differs if the operation sends another request for the same arguments:
// it covers the location, name and encoding of each argument, the media types, and the targets of links and callbacks,
// but not the base URL and the credentials. complete is false if there is too much for the text, so that only a
// comparison of the documents is reliable. Other versions of this program append another text: keep a digest only.
func (o *Operation) AppendRequestFingerprint(dst []byte) (_ []byte, complete bool) {
	dst = fmt.Appendf(dst, "%q %q\naccept %q\n", o.Method, o.PathTemplate(), o.accept)
	for _, a := range o.arguments {
		dst = fmt.Appendf(dst, "argument %q %q %s %t ", a.name, a.wire, a.place, a.required)
		if a.encoder != nil {
			dst = a.encoder.AppendPlan(dst)
		}
		dst = append(dst, '\n')
	}
	complete = true
	if b := o.body; b != nil {
		dst = fmt.Appendf(dst, "body %s %q %q %q %t %d %d\n", b.kind, b.of, b.media, b.list, b.required, b.form, b.first)
		for _, name := range slices.Sorted(maps.Keys(b.rename)) {
			dst = fmt.Appendf(dst, "renamed %q %q\n", name, b.rename[name])
		}
		if b.codec.plan != nil {
			dst, complete = b.codec.plan(dst)
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
	return dst, complete
}

// AppendAnswerFingerprint appends a text that differs if callers get other information about responses: the phrase for
// the result, an example, the meaning of a status. Like that of AppendRequestFingerprint, it depends on the version of
// this program.
func (o *Operation) AppendAnswerFingerprint(dst []byte) []byte {
	dst = fmt.Appendf(dst, "returns %q\nexample %q\n", o.Returns, o.Example)
	return o.Answers.AppendFingerprint(dst)
}
