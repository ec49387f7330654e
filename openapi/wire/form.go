package wire

import (
	"iter"
	"strings"
)

// A FormEncoder writes application/x-www-form-urlencoded bodies (OAS 3.2 "Encoding the x-www-form-urlencoded Media
// Type"). It is immutable and safe for concurrent use.
//
// The encoding of a property depends on its Encoding Object, which the caller turns into a [Parameter]:
//
//   - With any of style, explode and allowReserved it is written like a query parameter, the two others at their
//     defaults; contentType is then ignored.
//   - With contentType only it is written in that media type, as one value.
//   - Without any, it is written by the type of its value, style [ByType]: an object as JSON, a list as one pair for each
//     member, anything else as text.
//
// The standard applies contentType to the members of a list one by one. "contentType: application/json" beside a list
// of strings is never meant to quote each of them, so here it applies to the list as a whole.
//
// Values follow the WHATWG URL standard: "+" for space, everything but letters, digits and "*-._" percent-encoded.
type FormEncoder struct {
	properties map[string]*Encoder
	fallback   Parameter
	other      *Encoder
}

// NewFormEncoder compiles an encoder from the properties by name, and fallback for all others. In and Name of the
// parameters are not used. It fails where [NewEncoder] fails for a query parameter.
func NewFormEncoder(properties map[string]Parameter, fallback Parameter) (*FormEncoder, error) {
	f := &FormEncoder{properties: make(map[string]*Encoder, len(properties)), fallback: fallback}
	for name, p := range properties {
		p.Name, p.In = name, Query
		e, err := newEncoder(p, true)
		if err != nil {
			return nil, err
		}
		f.properties[name] = e
	}
	f.fallback.Name, f.fallback.In = "x", Query // the name is replaced on each use
	other, err := newEncoder(f.fallback, true)
	if err != nil {
		return nil, err
	}
	f.other = other
	return f, nil
}

// Append appends the pairs of members, given by their names in the body, and puts "&" between them and the text in dst.
// Undefined members are left out. The error is a [*ValueError] with a pointer to the member.
func (f *FormEncoder) Append(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
	start := len(dst)
	var repeated repetition
	for name, v := range members {
		e := f.properties[name]
		if e == nil {
			if name == "" {
				return dst[:start], refuse("must not have a member without a name")
			}
			if owner := deepOwner(name); owner != "" && f.properties[owner] != nil {
				return dst[:start], refuse("must not have a member %q: it would be a part of %q", name, owner)
			}
			other := *f.other
			other.p.Name, other.name = name, string(appendEscaped(nil, name, other.names, 0))
			e = &other
		}
		out, used, err := e.appendCounted(dst, v, repeated)
		if err != nil {
			return dst[:start], within(name, err)
		}
		dst, repeated = out, used
	}
	return dst, nil
}

// deepOwner returns the name before the first bracket of "deep[x]": services treat such a name as a member of it.
func deepOwner(name string) string {
	if i := strings.IndexByte(name, '['); i > 0 {
		return name[:i]
	}
	return ""
}
