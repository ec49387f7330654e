package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// A path parameter is one segment of the path (OAS 3.1.1 "Path Templating"), and a slash in its value is refused.
// Services whose values have slashes (names of branches, files and resources) declare it in their documents in several
// ways, which this file recognizes.

// multiSegment is GitHub's extension of a path parameter whose value may span several segments, as "{+name}" does. At an operation it is a
// list of such parameters, whose slashes are sent as those that are inferred.
const multiSegment = "x-multi-segment"

// oneSegment is said of a parameter that seems to be a path, and takes no slashes.
const oneSegment = `One segment of the path, without "/".`

// slash returns the treatment of slashes in the value of a path parameter: that of the configuration, or else that of
// the document (ADR 0055, ADR 0069, ADR 0074).
func (b *binder) slash(of *binding) wire.Slash {
	for _, p := range b.options.SlashParameters {
		switch {
		case p.Name != of.wire:
		case p.Rejected:
			return wire.SlashRefused
		case p.Encoded:
			return wire.SlashEncoded
		default:
			return wire.SlashRaw
		}
	}
	variable := slices.Index(b.op.template.Names(), of.wire)
	switch {
	case lists(b.model.node, multiSegment, of.wire):
		return wire.SlashInferred
	case b.op.template.Reserved(variable):
		return wire.SlashRaw
	case of.parameter == nil:
		return wire.SlashRefused
	}
	s := b.follow(of.schema)
	switch {
	case isTrue(of.node.Get(multiSegment)) || isTrue(s.Get(multiSegment)):
		return wire.SlashRaw
	case wantsEncoded(of.description) || wantsEncoded(s.Get("description").Text()):
		return wire.SlashEscaped
	case schema.NamesSlash(s.Get("pattern").Text()):
		return wire.SlashRaw
	}
	if example := b.exampleWithSlash(of, s); example != nil {
		b.problems.at(example, codePathSlash, "the path parameter %q has the value %q: a slash in it is sent as %%2F, as the standard has it; slash_parameters sends it as it is",
			of.wire, shortCopy(example.Text()))
		return wire.SlashEscaped
	}
	if !describesPath(of.wire, of.description, s) {
		return wire.SlashRefused
	}
	of.oneSegment = of.node.Get(multiSegment) == nil && s.Get(multiSegment) == nil
	if of.oneSegment && httpmethod.IsSafe(b.op.Method) && b.op.template.EndsWith(variable) {
		of.oneSegment = false
		b.problems.at(of.node, codePathSlash, "the path parameter %q seems to be a path: a slash in it is sent as %%2F, except where that leads to another operation; slash_parameters allows or rejects it",
			of.wire)
		return wire.SlashInferred
	}
	of.description = strings.TrimSpace(of.description + " " + oneSegment)
	return wire.SlashRefused
}

// checkLists reports names in the lists of an operation that are no variables of its path: they allow nothing.
func (b *binder) checkLists() {
	for _, extension := range []string{multiSegment, emptySegment} {
		for _, item := range b.model.node.Get(extension).Items() {
			if !slices.Contains(b.op.template.Names(), item.Text()) {
				b.problems.at(item, codePathSlash, "%s lists %q, which is no parameter of the path %q", extension, shortCopy(item.Text()), b.op.Path)
			}
		}
	}
}

// The root of a tree of files has the empty path. Services read it as the value of the parameter that takes the paths, which the standard
// has as one segment that is not empty, and no other operation of the document leads there (ADR 0074).

const (
	// emptySegment is the extension of an operation that lists the path parameter that takes "".
	emptySegment = "x-empty-segment"
	// emptyRoot is said of a parameter that takes "".
	emptyRoot = `"" is the root.`
)

// takesEmpty reports whether a path parameter whose values may hold slashes takes "", the root of what lies below: if the operation or a
// description says so, for safe methods, in the last position, and if the document has no path without the parameter.
func (b *binder) takesEmpty(of *binding) bool {
	listed := lists(b.model.node, emptySegment, of.wire)
	if !listed && !showsRoot(of.description) && !showsRoot(b.model.node.Get("description").Text()) {
		return false
	}
	last := b.op.template.EndsWith(slices.Index(b.op.template.Names(), of.wire))
	switch {
	case last && httpmethod.IsSafe(b.op.Method) && !b.hasCollection():
		if !showsRoot(of.description) {
			of.description = strings.TrimSpace(of.description + " " + emptyRoot)
		}
		return true
	case listed:
		b.problems.at(b.model.node.Get(emptySegment), codePathSlash,
			"%q takes no empty value: that is for the last segment of the path of a safe method, and not if the document has the path without it", of.wire)
	}
	return false
}

// hasCollection reports whether the document has the operation's path without its last segment, with or without a slash at the end.
func (b *binder) hasCollection() bool {
	above := b.op.Path[:strings.LastIndexByte(b.op.Path, '/')+1]
	paths := b.set.Root().Get("paths")
	return paths.Get(above) != nil || paths.Get(strings.TrimSuffix(above, "/")) != nil
}

// lists reports whether an extension of an operation is a list with a name.
func lists(operation *tree.Node, extension, name string) bool {
	for _, item := range operation.Get(extension).Items() {
		if item.Kind() == tree.String && item.Text() == name {
			return true
		}
	}
	return false
}

// SlashVariables returns the variables of the path whose values may contain slashes, by index, with the encoding: "0
// raw"; "0 empty" stands beside it if "" is one of the values.
func (o *Operation) SlashVariables() (all []string) {
	for i, index := range o.variables {
		if index < 0 {
			continue
		}
		switch e := o.arguments[index].encoder; {
		case e.Spans():
			all = append(all, strconv.Itoa(i)+" raw")
		case e.EscapesSlashes():
			all = append(all, strconv.Itoa(i)+" encoded")
		}
		if o.arguments[index].encoder.TakesEmpty() {
			all = append(all, strconv.Itoa(i)+" empty")
		}
	}
	return all
}

// OneSegment returns the variables of the path that seem to be paths, and take no slashes though nothing in the document or
// the configuration says so.
func (o *Operation) OneSegment() (all []string) {
	for i, index := range o.variables {
		if index >= 0 && o.arguments[index].oneSegment {
			all = append(all, o.template.Names()[i])
		}
	}
	return all
}

// TakesSlashes reports whether the path ends with a variable whose values may hold slashes, and empty whether "" is one of them.
func (o *Operation) TakesSlashes() (ends, empty bool) {
	last := len(o.variables) - 1
	if last < 0 || o.variables[last] < 0 || !o.template.EndsWith(last) {
		return false, false
	}
	e := o.arguments[o.variables[last]].encoder
	return e.Spans() || e.EscapesSlashes(), e.TakesEmpty()
}

var (
	encoded = regexp.MustCompile(`(?i)\b(?:ur[li]|percent)[ -]?(?:encod|escap)(?:ed?|ing)\b|\bencodeURIComponent\b|%2F`)
	// unencoded matches the words before it if a value must not be encoded, or not more than once.
	unencoded = regexp.MustCompile(`(?i)(?:\bnot|\bnever|n't|\bwithout|\bno need|\bun-?|\bbase-?64|\bdoubl[ey])[^.;,]{0,30}$`)
)

// wantsEncoded reports whether a description requires a value to be URL-encoded. That matters only for slashes:
// everything else is escaped in any case.
func wantsEncoded(text string) bool {
	if len(text) > maxRead {
		text = text[:maxRead]
	}
	if !containsOne(text, "cod", "scap", "COD", "SCAP", "%2") { // most descriptions: none of the words that encoded matches
		return false
	}
	found := encoded.FindStringIndex(text)
	return found != nil && !unencoded.MatchString(text[max(found[0]-60, 0):found[0]])
}

// containsOne reports whether a text contains one of some words.
func containsOne(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// exampleWithSlash returns the first of the document's values for a path parameter that has a slash and can be sent
// with "%2F"; nil if there is none.
func (c *compiler) exampleWithSlash(b *binding, s *tree.Node) *tree.Node {
	encoder, err := wire.NewEncoder(wire.Parameter{Name: b.wire, In: wire.Path, Style: wire.Simple, Slash: wire.SlashEscaped})
	if err != nil {
		return nil
	}
	given := []*tree.Node{c.example(b.node), c.example(s), s.Get("const"), s.Get("default")}
	for _, list := range []*tree.Node{s.Get("examples"), s.Get("enum")} {
		if list.Kind() == tree.Array {
			for i := range min(list.Len(), maxValues) {
				given = append(given, list.At(i))
			}
		}
	}
	for _, n := range given {
		if n.Kind() != tree.String || !strings.Contains(n.Text(), "/") && !strings.Contains(strings.ToUpper(n.Text()), "%2F") {
			continue
		}
		if _, err := encoder.AppendPath(nil, n.AppendJSON(nil)); err == nil {
			return n
		}
	}
	return nil
}

// maxValues is the maximum number of values of one list that are examined.
const maxValues = 100
