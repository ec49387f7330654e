package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// A choice is a list of media types of a successful response among which a caller chooses by the argument "accept",
// which is sent as the header Accept. It exists only if the types differ in kind, since an argument costs tokens in
// each list: JSON and XML of the same data are not a choice, JSON and CSV or PDF are.
type choice struct {
	node        *tree.Node // the header parameter Accept, or the operation
	description string     // description of that parameter
	types       []string   // the default comes first
	named       bool       // the gateway itself requests the first
}

const (
	// choiceArgument is the name of the argument, and of the header: header names are case-insensitive.
	choiceArgument = "accept"
	// maxChoice is the maximum number of media types of a choice.
	maxChoice = 8
	// maxCompared limits the nodes of two schemas that are compared. Larger ones that are not the same node count as
	// equal: many operations of a document can refer to one response.
	maxCompared = 100
)

// answerChoice returns the choice of an operation, or nil if there is none. The types are those of the response that
// describes the tool, and those that a header parameter Accept enumerates.
func (c *compiler) answerChoice(m *model) *choice {
	main, ct := c.mainAnswer(successes(m.responses))
	if ct == nil {
		return nil
	}
	first := mediatype.Essence(ct.media)
	if mediatype.IsRange(first) && mediatype.CanBeJSON(first) {
		first = "application/json"
	}
	if mediatype.IsRange(first) || !printable(first) {
		return nil
	}
	a := &choice{node: m.node, types: []string{strings.Clone(first)}, named: mediatype.IsJSON(first)}
	for i := range main.contents {
		a.offer(mediatype.Essence(main.contents[i].media), ct, &main.contents[i])
	}
	for i := range m.parameters {
		p := &m.parameters[i]
		if location, ok := wire.ParseLocation(p.typed.In); !ok || location != wire.Header || !strings.EqualFold(p.typed.Name, choiceArgument) {
			continue
		}
		a.node, a.description = p.node, p.description
		for i, value := range c.follow(p.schema).Get("enum").Items() {
			if media := strings.TrimSpace(value.Text()); i < 4*maxChoice && value.Kind() == tree.String {
				a.offer(media, ct, contentOf(main, mediatype.Essence(media)))
			}
		}
	}
	if len(a.types) == 1 {
		return nil
	}
	return a
}

// contentOf returns the content of a response for a media type, or nil if it does not declare it.
func contentOf(r *response, media string) *content {
	i := slices.IndexFunc(r.contents, func(ct content) bool { return mediatype.Essence(ct.media) == media })
	if i < 0 {
		return nil
	}
	return &r.contents[i]
}

// offer adds a media type if its responses differ in kind from those of the first. ct is its declaration in the
// document, or nil if it is only in an enumeration.
func (a *choice) offer(media string, first, ct *content) {
	essence := mediatype.Essence(media)
	if len(a.types) == maxChoice || mediatype.IsRange(essence) || !strings.Contains(essence, "/") || !printable(strings.ReplaceAll(media, "; ", ";")) ||
		slices.ContainsFunc(a.types, func(known string) bool { return mediatype.Essence(known) == essence }) {
		return
	}
	switch kind := kindOfAnswer(essence); {
	case kind == sameData, kind != "" && kind == kindOfAnswer(a.types[0]):
	case kind == "" && (ct == nil || sameSchema(first.schema, ct.schema)): // nothing indicates different data
	default:
		a.types = append(a.types, strings.Clone(media))
	}
}

// sameData is the kind of media types that carry the data of JSON in another form, or as a page or a stream.
const sameData = "data"

// kindOfAnswer returns the kind of the responses of a media type; "" for a type whose content only the document
// describes.
func kindOfAnswer(media string) string {
	class, subtype, _ := strings.Cut(media, "/")
	subtype = strings.TrimPrefix(strings.TrimPrefix(subtype, "x-"), "vnd.")
	switch {
	case media == "image/svg+xml":
		return "drawing"
	case class == "image", class == "audio", class == "video", class == "font", class == "model":
		return class
	case class == "multipart", mediatype.IsJSON(media), mediatype.IsXML(media), mediatype.IsHTML(media), mediatype.IsSequential(media), mediatype.IsForm(media):
		return sameData
	case strings.HasSuffix(subtype, "yaml"), strings.HasSuffix(subtype, "cbor"), strings.HasSuffix(subtype, "proto"):
		return sameData
	case strings.Contains(subtype, "protobuf"), strings.Contains(subtype, "msgpack"), strings.Contains(subtype, "messagepack"), strings.Contains(subtype, "avro"):
		return sameData
	}
	switch subtype {
	case "bson", "ion", "smile", "thrift", "json5", "javascript", "ecmascript", "turtle", "n-triples", "n-quads", "trig", "n3":
		return sameData
	case "csv", "comma-separated-values", "tsv", "tab-separated-values", "parquet", "ms-excel", "openxmlformats-officedocument.spreadsheetml.sheet", "oasis.opendocument.spreadsheet":
		return "table"
	case "pdf", "postscript", "rtf", "msword", "openxmlformats-officedocument.wordprocessingml.document", "oasis.opendocument.text", "epub+zip",
		"ms-powerpoint", "openxmlformats-officedocument.presentationml.presentation":
		return "document"
	case "zip", "gzip", "zip-compressed", "tar", "gtar", "7z-compressed", "bzip2", "xz", "zstd":
		return "archive"
	case "calendar", "vcard", "markdown":
		return subtype
	}
	return ""
}

// sameSchema reports whether two schemas are equal, as far as they are compared. Frameworks repeat the schema of JSON
// for each other type that they can write.
func sameSchema(a, b *tree.Node) bool {
	left := maxCompared
	return sameNode(a, b, &left)
}

func sameNode(a, b *tree.Node, left *int) bool {
	if *left--; a == b || *left < 0 {
		return true
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() || a.Text() != b.Text() || a.Bool() != b.Bool() {
		return false
	}
	for name, member := range a.Members() {
		if !sameNode(member, b.Get(name), left) {
			return false
		}
	}
	for i, item := range a.Items() {
		if !sameNode(item, b.At(i), left) {
			return false
		}
	}
	return true
}

// binding returns the choice as a parameter.
func (a *choice) binding() binding {
	s := tree.NewObject(a.node)
	s.Set("type", tree.NewString(a.node, "string"))
	enum := tree.NewArray(a.node)
	for _, media := range a.types {
		enum.Append(tree.NewString(a.node, media))
	}
	s.Set("enum", enum)
	b := binding{wire: choiceArgument, location: wire.Header, node: s, schema: s, description: a.description, encoder: wire.NewAccept()}
	if b.description == "" {
		if b.description = "Media type of the answer"; a.named {
			b.description += ", " + a.types[0] + " by default"
		}
	}
	return b
}

// addChoice adds the argument of the choice after those of the parameters, unless another argument has its name.
func (in *inputs) addChoice() {
	if in.choice == nil {
		return
	}
	b := in.choice.binding()
	n := named{wire: b.wire, location: b.location.String(), name: b.wire}
	isTaken := func(name string) bool {
		return slices.ContainsFunc(in.names, func(n named) bool { return n.name == name })
	}
	if isTaken(n.name) {
		n.name = suffixed(n.name, n.location)
	}
	if isTaken(n.name) {
		n.name = suffixed(n.name, nameHash(n.location+"\x00"+n.wire))
	}
	in.names = slices.Insert(in.names, len(in.bound), n)
	in.bound = append(in.bound, b)
}
