package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/wire"
)

// NewRequest checks args, a JSON object (empty and null count as {}), and builds the request in one step, so that there is no request
// from unchecked arguments. Wrong
// arguments give an *ArgumentError with all faults; without a base, *BaseError. Base is Operation.Base if nil; it must
// be http or https and have no query. Defaults of the document are not sent. The request keeps nothing of args.
func (o *Operation) NewRequest(ctx context.Context, base *url.URL, args json.RawMessage) (*http.Request, error) {
	built, err := o.Build(ctx, base, args)
	return built.Request, err
}

// Built is a request with the arguments that it was built from.
type Built struct {
	Request *http.Request
	Args    json.RawMessage // as Check returns them
	Dropped []string        // pointers of members that counted as absent, see Check
	// Mistyped are members of the body that are sent although the document declares another type, see [Operation.Lenient].
	Mistyped []Fault
}

// Build is NewRequest, and also returns the checked arguments.
func (o *Operation) Build(ctx context.Context, base *url.URL, args json.RawMessage) (Built, error) {
	if base == nil {
		base = o.Base
	}
	if base == nil {
		return Built{}, &BaseError{Problem: o.BaseProblem}
	}
	checked, err := o.check(args)
	if err != nil {
		return Built{}, err
	}
	args = checked.args
	b := requestBuilders.Get().(*requestBuilder) //nolint:errcheck // the pool has no other type
	defer b.release()
	b.o, b.args = o, args
	b.bind()
	u := b.url(base)
	header := b.header()
	text, media := b.body()
	if b.faults != nil {
		return Built{}, o.newArgumentError(b.args, b.faults)
	}
	var reader io.Reader
	if media != "" {
		header["Content-Type"] = []string{media}
		reader = bytes.NewReader(text) // sets ContentLength and GetBody too
	}
	// The URL is set without parsing, so that no argument is ever read as another part of it.
	req, err := http.NewRequestWithContext(ctx, o.Method, "", reader)
	if err != nil {
		return Built{}, fmt.Errorf("build request: %w", err)
	}
	*req.URL, req.Host, req.Header = u, u.Host, header
	return Built{req, args, checked.dropped, checked.mistyped}, nil
}

// Check returns args as the object that a request is built from: args itself, or a copy in which strings that contain
// the intended value are replaced by it. Optional members without a value are dropped if args would be refused for
// them: null, except in the body of a PATCH, and for safe methods empty values; their pointers are returned, with those
// of nulls that the format of the body can't express. The checked arguments are accepted again, unchanged. Wrong
// arguments give an *ArgumentError with all faults.
func (o *Operation) Check(args json.RawMessage) (checked json.RawMessage, dropped []string, err error) {
	c, err := o.check(args)
	return c.args, c.dropped, err
}

// checkedArguments are arguments of which a request is built.
type checkedArguments struct {
	args     json.RawMessage
	dropped  []string // pointers of members that counted as absent
	mistyped []Fault  // that are tolerated
}

// check is Check, and also returns the faults that are tolerated.
func (o *Operation) check(args json.RawMessage) (checked checkedArguments, err error) {
	args, err = o.readObject(args)
	if err != nil {
		return checked, o.newArgumentError(nil, []Fault{{Message: err.Error()}})
	}
	v, err := o.validator()
	if err != nil {
		return checked, fmt.Errorf("the schema of the arguments can't be used: %w", err)
	}
	faults := v.Validate(schema.Decode(args))
	spelled := o.otherwiseSpelled(args)
	if o.hidden != nil {
		spelled = append(spelled, o.hiddenGiven(args, faults)...)
	}
	if len(spelled) == 0 {
		result := coerced{args: args}
		if len(faults) > 0 {
			result = o.coerce(v, args, faults)
			if result.args == nil {
				if other := o.bodyOtherwise(v, args); other.args != nil {
					result = other
				}
			}
		}
		if result.args != nil {
			checked = checkedArguments{args: result.args}
			if checked.dropped, faults = o.settleNulls(result.args, result.dropped); faults == nil {
				for _, f := range result.mistyped {
					checked.mistyped = append(checked.mistyped, Fault{Pointer: f.Pointer, Message: f.Message, violation: violationOf(args, f)})
				}
				return checked, nil
			}
		} else {
			faults = result.left
		}
	}
	return checkedArguments{}, o.argumentError(args, spelled, faults)
}

// readObject returns the text of the object that the arguments are. The error is addressed to the model.
func (o *Operation) readObject(args json.RawMessage) (json.RawMessage, error) {
	if t := bytes.TrimSpace(args); len(t) == 0 || string(t) == "null" {
		args = json.RawMessage("{}")
	}
	info, err := jsonscan.Scan(args, o.scanning())
	if err == nil && info.Kind == jsonscan.String {
		// Some clients send the object as a string that contains it (pains row 32).
		args = jsonscan.Unquote(bytes.TrimSpace(args))
		info, err = jsonscan.Scan(args, o.scanning())
	}
	if err != nil {
		var e *jsonscan.Error
		switch {
		case errors.As(err, &e) && e.Reason == jsonscan.Duplicate:
			return nil, errors.New(e.Detail)
		case errors.As(err, &e) && e.Reason == jsonscan.TooDeep:
			return nil, errors.New("expected fewer levels: the arguments are " + e.Detail)
		}
		return nil, fmt.Errorf("expected a JSON object, got something else: %w", err)
	}
	if info.Kind == jsonscan.Array && jsonscan.IsEmpty(args) {
		return json.RawMessage("{}"), nil // PHP has one notation for both (pains row 166)
	}
	if info.Kind != jsonscan.Object {
		return nil, errors.New("expected an object, got " + info.Kind.String())
	}
	return args, nil
}

// newArgumentError returns the error for faults of arguments, which is explained by the arguments that callers can give.
func (o *Operation) newArgumentError(args []byte, faults []Fault) *ArgumentError {
	of := o
	if o.callers != nil {
		of = o.callers
	}
	return &ArgumentError{Faults: faults, operation: of, args: args, accepts: of.accepts}
}

// argumentError describes the faults of arguments: misspelt names, and the faults of the schema that do not concern
// these, each once.
func (o *Operation) argumentError(args json.RawMessage, spelled []Fault, faults []schema.Fault) *ArgumentError {
	e := o.newArgumentError(args, spelled)
	for _, f := range faults {
		if slices.ContainsFunc(spelled, func(known Fault) bool { return known.Pointer == f.Pointer }) {
			continue
		}
		if slices.ContainsFunc(e.Faults, func(known Fault) bool {
			return known.Pointer == f.Pointer && (f.Message == known.Message || strings.HasPrefix(f.Message, known.Message+" (alternative "))
		}) {
			continue // of a base schema and of one made from it
		}
		f.Message = o.reworded(args, f)
		if name, ok := topLevel(f.Pointer); ok && strings.HasPrefix(f.Message, "unknown argument") {
			if text := o.misplaced(name); text != "" {
				f.Message = text
			}
		}
		e.Faults = append(e.Faults, Fault{Pointer: f.Pointer, Message: f.Message, violation: violationOf(args, f)})
	}
	e.Faults = o.unsendable(args, e.Faults)
	return e
}

// scanning returns the options for scanning arguments, and strings that contain some.
func (o *Operation) scanning() jsonscan.Options {
	return jsonscan.Options{Unique: true, MaxDepth: o.maxDepth}
}

// otherwiseSpelled finds arguments that have the name of a renamed property in the request. The schema has only the
// name of the argument: if other members are allowed, such a value would be sent unchecked, and perhaps twice. The same
// applies to arguments that callers can't give.
func (o *Operation) otherwiseSpelled(args json.RawMessage) (faults []Fault) {
	for _, name := range o.withheld {
		if jsonscan.Lookup(args, name) != nil {
			faults = append(faults, Fault{Pointer: jsonscan.PointerTo(name), Message: "is not for callers to give; leave it out"})
		}
	}
	if o.body == nil || o.body.renamed == nil {
		return faults
	}
	for name := range jsonscan.Members(args) {
		if argument, ok := o.body.renamed[string(name)]; ok {
			faults = append(faults, Fault{Pointer: jsonscan.PointerTo(string(name)), Message: fmt.Sprintf("unknown argument %q; use %q", name, argument)})
		}
	}
	return faults
}

// hiddenGiven returns a fault for each hidden argument that is given although the schema, which allows any member,
// accepts it. The message is that of an unknown argument.
func (o *Operation) hiddenGiven(args []byte, faults []schema.Fault) (more []Fault) {
	for _, name := range o.hidden {
		pointer := jsonscan.PointerTo(name)
		if jsonscan.Lookup(args, name) != nil && !slices.ContainsFunc(faults, func(f schema.Fault) bool { return f.Pointer == pointer }) {
			more = append(more, Fault{Pointer: pointer, Message: fmt.Sprintf("unknown argument %q", name)})
		}
	}
	return more
}

// accepts reports whether a call with these arguments is sent.
func (o *Operation) accepts(args []byte) bool {
	if o.hidden != nil { // hidden arguments are missing in the request
		_, _, err := o.Check(args)
		return err == nil
	}
	_, err := o.NewRequest(context.Background(), &url.URL{Scheme: "https", Host: "example"}, args)
	return err == nil
}

// requestBuilder is one request while it is built. Faults are collected to the end, so that the model gets all of them.
type requestBuilder struct {
	o      *Operation
	args   json.RawMessage
	values [][]byte // by index in o.arguments; nil if not given
	small  [16][]byte
	faults []Fault
	text   []byte // memory for the URL
}

// requestBuilders is the pool of unused ones.
var requestBuilders = sync.Pool{New: func() any { return new(requestBuilder) }}

// maxKeptURL is the maximum memory for a URL that is kept for the next one.
const maxKeptURL = 4 << 10

// release returns the building to the pool. No result refers to it.
func (b *requestBuilder) release() {
	text := b.text[:0]
	if cap(text) > maxKeptURL {
		text = nil
	}
	*b = requestBuilder{text: text}
	requestBuilders.Put(b)
}

func (b *requestBuilder) bind() {
	if n := len(b.o.arguments); n <= len(b.small) {
		b.values = b.small[:n]
	} else {
		b.values = make([][]byte, n)
	}
	if len(b.values) == 0 {
		return
	}
	for name, value := range jsonscan.Members(b.args) {
		if i, ok := b.o.index[string(name)]; ok {
			b.values[i] = value
		}
	}
}

// given returns the value of an argument to send.
func (b *requestBuilder) given(i int) ([]byte, bool) {
	a := &b.o.arguments[i]
	value := b.values[i]
	if value == nil {
		return nil, false
	}
	if a.encoder != nil && a.encoder.Undefined(value) {
		if a.required && !a.place.mayBeEmpty(value) {
			b.fault(a, &wire.ValueError{Reason: "must have a value"})
		}
		return nil, false
	}
	return value, true
}

func (b *requestBuilder) fault(a *argument, err error) {
	if several := (*charsetError)(nil); errors.As(err, &several) {
		for _, f := range several.faults {
			b.fault(a, f)
		}
		return
	}
	f := Fault{Pointer: jsonscan.PointerTo(a.name), Message: reasonOf(err)}
	var v *wire.ValueError
	if errors.As(err, &v) {
		f.Pointer += v.Pointer
	}
	b.faults = append(b.faults, f)
}

// reasonOf returns the reason of an encoder's error, without the pointer.
func reasonOf(err error) string {
	var v *wire.ValueError
	if errors.As(err, &v) {
		return v.Reason
	}
	return err.Error()
}

// memberFault is fault for a body whose members are arguments: the pointer of the error begins with the name of one in
// the request.
func (b *requestBuilder) memberFault(err error) {
	if several := (*charsetError)(nil); errors.As(err, &several) {
		for _, f := range several.faults {
			b.memberFault(f)
		}
		return
	}
	f := Fault{Message: err.Error()}
	var v *wire.ValueError
	if errors.As(err, &v) {
		f.Message, f.Pointer = v.Reason, v.Pointer
		for _, a := range b.o.arguments {
			if rest, ok := below(v.Pointer, a.wire); ok && a.place == inMember {
				f.Pointer = jsonscan.PointerTo(a.name) + rest
			}
		}
		for wireName, name := range b.o.body.renamed {
			if rest, ok := below(v.Pointer, wireName); ok {
				f.Pointer = jsonscan.PointerTo(name) + rest
			}
		}
	}
	b.faults = append(b.faults, f)
}

// below returns the rest of a pointer after a member of the root.
func below(pointer, name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(pointer, jsonscan.PointerTo(name))
	return rest, ok && (rest == "" || rest[0] == '/')
}

// maxQuery is the maximum length of a query, and of all cookies, in bytes. No server accepts as many; the expansion of
// a few names and values must be limited (R8).
const maxQuery = 4 << 20

// url joins the base with path and query. Literals were escaped when the operation was compiled; values are escaped by
// their encoders, so a value can't leave the space between two literals (R2, R3).
func (b *requestBuilder) url(base *url.URL) url.URL {
	u := url.URL{Scheme: base.Scheme, Host: base.Host}
	prefix := strings.TrimRight(base.EscapedPath(), "/")
	text := slices.Grow(b.text[:0], len(prefix)+len(b.o.Path)+len(b.args)+32)
	text, err := b.appendPath(append(text, prefix...))
	if err != nil {
		b.segmentFault(err)
		return u
	}
	end := len(text)
	if b.o.neighbors != nil && b.faults == nil {
		if index := b.o.claimed(text[len(prefix):], b.values); index >= 0 {
			reason := "its slashes lead to the path of another operation; call that one, or give another value"
			if b.o.emptied(text[len(prefix):], b.values, index) {
				reason = "without a value the path is that of another operation; call that one, or give a value"
			}
			b.fault(&b.o.arguments[index], &wire.ValueError{Reason: reason})
		}
	}
	text = b.appendQuery(text)
	b.text = text
	u.RawPath = string(text[:end])
	u.RawQuery = string(text[end:])
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		b.faults = append(b.faults, Fault{Message: "the path can't be built"})
	}
	if raw := u.RawPath; u.Path == raw { // as url.Parse sets it, unless url.URL escapes more than necessary
		if u.RawPath = ""; u.EscapedPath() != raw {
			u.RawPath = raw
		}
	}
	return u
}

// appendPath appends the operation's path with the values of its variables.
func (b *requestBuilder) appendPath(text []byte) ([]byte, error) {
	o := b.o
	return o.template.Append(text, func(i int, dst []byte) ([]byte, error) {
		index := o.variables[i]
		if index < 0 {
			return dst, errors.New("a variable of the path is not bound")
		}
		a := &o.arguments[index]
		value := b.values[index]
		if value == nil || a.encoder.Undefined(value) {
			b.fault(a, &wire.ValueError{Reason: "must have a value"})
			return dst, nil
		}
		out, err := a.encoder.AppendPath(dst, value)
		if err != nil {
			b.fault(a, err)
			return dst, nil
		}
		return out, nil
	})
}

// appendQuery appends the query without its "?": that of the operation's path, then the query parameters.
func (b *requestBuilder) appendQuery(text []byte) []byte {
	o, start := b.o, len(text)
	text = append(text, o.template.Query()...)
	for i := range o.arguments {
		a := &o.arguments[i]
		if a.place != inQuery {
			continue
		}
		value, ok := b.given(i)
		if !ok {
			continue
		}
		// The pairs of one parameter follow those of another: the encoder receives only the query, so that it knows
		// whether to begin with "&".
		query, err := a.encoder.AppendQuery(text[start:], value)
		if err != nil {
			b.fault(a, err)
			continue
		}
		text = append(text[:start], query...)
		if len(text)-start > maxQuery {
			b.fault(a, errors.New("makes the query of the URL too long to be sent"))
			break
		}
	}
	return text
}

// segmentFault is fault for a segment that several path arguments make together.
func (b *requestBuilder) segmentFault(err error) {
	var e *wire.SegmentError
	if !errors.As(err, &e) {
		b.faults = append(b.faults, Fault{Message: err.Error()})
		return
	}
	for _, i := range e.Variables {
		b.fault(&b.o.arguments[b.o.variables[i]], e)
	}
}

func (b *requestBuilder) header() http.Header {
	o := b.o
	header := make(http.Header, 8)
	header["Accept"] = o.accept
	var cookies []byte
	for i := range o.arguments {
		a := &o.arguments[i]
		if a.place != inHeader && a.place != inCookie {
			continue
		}
		value, ok := b.given(i)
		if !ok {
			continue
		}
		var err error
		if a.place == inHeader {
			var text string
			if text, err = a.encoder.HeaderValue(value); err == nil {
				header.Set(a.wire, text)
			}
		} else {
			if cookies, err = a.encoder.CookiePairs(cookies, value); len(cookies) > maxQuery {
				b.fault(a, errors.New("makes the cookies too long to be sent"))
				break
			}
		}
		if err != nil {
			b.fault(a, err)
		}
	}
	if len(cookies) > 0 {
		header["Cookie"] = []string{string(cookies)}
	}
	return header
}

// body returns the body and its media type, or "".
func (b *requestBuilder) body() (text []byte, media string) {
	o := b.o
	plan := o.body
	if plan == nil {
		return nil, ""
	}
	var err error
	codec, media := plan.codec, plan.media
	if codec.begin != nil {
		codec, media = codec.begin()
	}
	switch plan.form {
	case formWhole:
		value := b.values[plan.first]
		if value == nil {
			return nil, ""
		}
		if codec.typed != nil {
			text, media, err = codec.typed(make([]byte, 0, len(value)), value)
		} else {
			text, err = codec.whole(make([]byte, 0, len(value)), value)
		}
		if err != nil {
			b.fault(&o.arguments[plan.first], err)
		}
		if plan.list != "" && jsonscan.KindOf(value) == jsonscan.Array {
			return text, plan.list
		}
		return text, media
	case formMembers:
		given := plan.required
		for _, value := range b.values[plan.first:] {
			given = given || value != nil
		}
		if !given {
			return nil, ""
		}
		text, err = codec.members(make([]byte, 0, len(b.args)), b.members(plan.first))
	default:
		if !plan.required && empty(b.args) {
			return nil, ""
		}
		if plan.rename == nil {
			text, err = codec.whole(make([]byte, 0, len(b.args)), b.args)
		} else {
			text, err = codec.members(make([]byte, 0, len(b.args)), b.renamed())
		}
	}
	if err != nil {
		b.memberFault(err)
	}
	return text, media
}

func empty(object []byte) bool {
	for range jsonscan.Members(object) {
		return false
	}
	return true
}

// members yields the given arguments from first on, under their names in the request.
func (b *requestBuilder) members(first int) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := first; i < len(b.values); i++ {
			if v := b.values[i]; v != nil && !yield(b.o.arguments[i].wire, v) {
				return
			}
		}
	}
}

// renamed yields all arguments under their names in the request.
func (b *requestBuilder) renamed() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, v := range jsonscan.Members(b.args) {
			wireName, ok := b.o.body.rename[string(name)]
			if !ok {
				wireName = string(name)
			}
			if !yield(wireName, v) {
				return
			}
		}
	}
}
