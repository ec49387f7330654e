package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// hasFiles reports whether a property of a body is a file.
func (c *compiler) hasFiles(s *tree.Node) bool {
	found := false
	c.eachProperty(s, func(_ string, property *tree.Node) {
		if !found {
			found = c.holdsFile(property, nil)
		}
	})
	return found
}

// A fileWalk replaces the schemas of files in the schema of a body, including its compositions.
type fileWalk struct {
	c        *compiler
	encoding *tree.Node
	open     map[*tree.Node]bool
	files    int // found so far
}

// file returns the published schema of a property that is a file. The first ones get an example; it would always be the
// same.
func (w *fileWalk) file(s *tree.Node, types []string) (*tree.Node, bool) {
	file, ok := w.c.fileSchema(s, types, w.files < maxFileExamples)
	if ok {
		w.files++
	}
	return file, ok
}

// object returns the schema with its files replaced, or unchanged if there are none.
func (w *fileWalk) object(s *tree.Node) *tree.Node {
	n := w.c.follow(s)
	if n.Kind() != tree.Object {
		return s
	}
	kinds := w.c.schema.Alternatives(n)
	if kinds != nil && !w.c.hasFiles(n) {
		return s
	}
	if w.open[n] {
		if kinds != nil {
			return tree.NewObject(s) // a kind takes over its base, which requires the kind: nothing is left to add
		}
		return s
	}
	w.open[n] = true
	defer delete(w.open, n)
	changed := rewrite{of: n}
	w.members(n, &changed)
	w.composition(n, &changed)
	if kinds != nil { // a copy is not a base any more
		list, _ := replaced(kinds, w.kind)
		changed.set("anyOf", list)
	}
	if changed.copy == nil {
		return s
	}
	return changed.copy
}

// A rewrite is an object of the document that is copied when its first member is replaced.
type rewrite struct {
	of   *tree.Node
	copy *tree.Node // nil if no member was replaced
}

func (r *rewrite) set(key string, member *tree.Node) {
	if r.copy == nil {
		r.copy = tree.Copy(r.of)
	}
	r.copy.Set(key, member)
}

// members replaces the properties of a schema that are files, including those without a name of their own.
func (w *fileWalk) members(n *tree.Node, changed *rewrite) {
	properties := rewrite{of: n.Get("properties")}
	for name, property := range properties.of.Members() {
		if file, ok := w.file(property, contentTypes(w.encoding.Get(name))); ok {
			properties.set(name, file)
		}
	}
	if properties.copy != nil {
		changed.set("properties", properties.copy)
	}
	if file, ok := w.file(n.Get("additionalProperties"), nil); ok {
		changed.set("additionalProperties", file)
	}
}

// composition replaces the files in the schemas that a schema is composed of.
func (w *fileWalk) composition(n *tree.Node, changed *rewrite) {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := replaced(n.Get(key), w.object); ok {
			changed.set(key, parts)
		}
	}
	for _, key := range []string{"then", "else"} {
		if part := n.Get(key); part != nil {
			if replaced := w.object(part); replaced != part {
				changed.set(key, replaced)
			}
		}
	}
}

// kind returns one of the alternatives of a base with its files replaced. The members beside its reference identify the
// kind.
func (w *fileWalk) kind(s *tree.Node) *tree.Node {
	object := w.object(s)
	if object == s || w.c.follow(s) == s {
		return object
	}
	all := tree.NewArray(s)
	all.Append(object)
	for key, member := range s.Members() {
		if key != "$ref" {
			said := tree.NewObject(s)
			said.Set(key, member)
			all.Append(said)
		}
	}
	kind := tree.NewObject(s)
	kind.Set("allOf", all)
	return kind
}

// replaced returns a list with its elements replaced, and whether one of them was.
func replaced(list *tree.Node, replace func(*tree.Node) *tree.Node) (*tree.Node, bool) {
	out, changed := tree.NewArray(list), false
	for _, item := range list.Items() {
		other := replace(item)
		changed = changed || other != item
		out.Append(other)
	}
	return out, changed
}

const (
	maxFileDepth    = 4     // maximum depth at which a file is searched: in a list of alternatives that are lists of files
	maxFileSteps    = 1_000 // schemas that are visited for one property (S3)
	maxFileExamples = 4     // of one body
)

// fileSchema returns the published schema for that of a file, or of a list of files: an object with the content, the
// name and the media type. types are those of the encoding object. It returns false for any other schema.
func (c *compiler) fileSchema(s *tree.Node, types []string, example bool) (*tree.Node, bool) {
	if !c.holdsFile(s, types) {
		return nil, false
	}
	f := filer{c: c, types: types, example: example, text: c.textBeside(s, types), left: maxFileSteps}
	return f.schema(s, 0)
}

// A filer makes the published schema of one property that is a file.
type filer struct {
	c       *compiler
	types   []string
	example bool // with an example
	text    bool // a string is text, so that it can't be a file
	left    int  // schemas that may still be visited
}

// holdsFile reports whether a schema is that of a file or of a list of files, or has one among its alternatives.
func (c *compiler) holdsFile(s *tree.Node, types []string) bool {
	left := maxFileSteps
	return c.holdsFileAt(s, types, 0, &left)
}

func (c *compiler) holdsFileAt(s *tree.Node, types []string, depth int, left *int) bool {
	n := c.follow(s)
	if *left--; n.Kind() != tree.Object || depth > maxFileDepth || *left < 0 {
		return false
	}
	if c.isFile(n, types) {
		return true
	}
	if items := n.Get("items"); items != nil && n.Get("properties") == nil {
		return c.holdsFileAt(items, types, depth+1, left)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range n.Get(key).Items() {
			if (key != "allOf" || n.Get(key).Len() == 1) && c.holdsFileAt(part, types, depth+1, left) {
				return true
			}
		}
	}
	return false
}

// textBeside reports whether the schema of a file has an alternative that accepts a string, which is then sent
// unchanged: the identifier or the URL of a file that the service knows.
func (c *compiler) textBeside(s *tree.Node, types []string) bool {
	left := maxFileSteps
	return c.textBesideAt(s, types, 0, &left)
}

func (c *compiler) textBesideAt(s *tree.Node, types []string, depth int, left *int) bool {
	n := c.follow(s)
	if *left--; n.Kind() != tree.Object || depth > maxFileDepth || *left < 0 || c.isFile(n, types) {
		return false
	}
	if items := n.Get("items"); items != nil && n.Get("properties") == nil {
		return c.textBesideAt(items, types, depth+1, left)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range n.Get(key).Items() {
			if c.holdsFile(part, types) && c.textBesideAt(part, types, depth+1, left) || !c.holdsFile(part, types) && c.schema.TakesString(part) {
				return true
			}
		}
	}
	return false
}

func (f *filer) schema(s *tree.Node, depth int) (*tree.Node, bool) {
	n := f.c.follow(s)
	if f.left--; n.Kind() != tree.Object || depth > maxFileDepth || f.left < 0 {
		return nil, false
	}
	if f.c.isFile(n, f.types) {
		return f.object(s, n), true
	}
	if items := n.Get("items"); items != nil && n.Get("properties") == nil {
		file, ok := f.schema(items, depth+1)
		if !ok {
			return nil, false
		}
		list := tree.Copy(n)
		list.Set("items", file)
		return list, true
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if key == "allOf" && n.Get(key).Len() != 1 {
			continue
		}
		var only *tree.Node
		found, others := false, 0
		parts, _ := replaced(n.Get(key), func(part *tree.Node) *tree.Node {
			if text := f.c.follow(part).Get("type").Text(); text == "null" {
				return part
			}
			others++
			if file, ok := f.schema(part, depth+1); ok {
				only, found = file, true
				return file
			}
			return part
		})
		switch {
		case found && others == 1:
			if d := n.Get("description"); d != nil {
				only.Set("description", d)
			}
			return only, true
		case found && key != "allOf":
			either := tree.Copy(n)
			either.Set(key, nil)
			either.Set("anyOf", parts)
			return either, true
		}
	}
	return nil, false
}

// isFile reports whether a value of the schema is bytes that a JSON string can't represent: format binary (3.0), the
// type file (2.0), a media type without an encoding (3.1), or a string whose part is not sent as text.
func (c *compiler) isFile(n *tree.Node, types []string) bool {
	kind := n.Get("type")
	words := []string{kind.Text()}
	if kind.Kind() == tree.Array { // 3.1: [string, "null"]
		words = nil
		for _, word := range kind.Items() {
			if word.Text() != "null" && word.Kind() != tree.Null {
				words = append(words, word.Text())
			}
		}
	}
	if len(words) != 1 || n.Get("contentEncoding") != nil || n.Get("enum") != nil || n.Get("const") != nil {
		return false
	}
	switch word := words[0]; {
	case word == "file", word == "File", word == "binary":
		return true
	case word != "" && !strings.EqualFold(word, "string"):
		return false
	case strings.EqualFold(n.Get("format").Text(), "binary"):
		return true
	case n.Get("contentMediaType").Text() != "":
		return isOpaque(n.Get("contentMediaType").Text())
	case n.Get("format") != nil, word == "" && composed(n):
		return false
	default:
		return len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !isOpaque(t) })
	}
}

func composed(n *tree.Node) bool {
	return slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "properties", "items", "additionalProperties", "$ref"}, func(key string) bool { return n.Get(key) != nil })
}

// isOpaque reports whether the bytes of a media type are neither text nor a value that is written as text.
func isOpaque(media string) bool {
	media = mediatype.Essence(media)
	return !mediatype.IsJSON(media) && !mediatype.IsXML(media) && !mediatype.IsText(media) && media != "*/*" && media != "text/*"
}

// object returns the published schema of one file. s is the schema as written, n its target.
func (f *filer) object(s, n *tree.Node) *tree.Node {
	types := f.types
	if media := n.Get("contentMediaType").Text(); media != "" && len(types) == 0 {
		types = []string{media}
	}
	properties := tree.NewObject(s)
	properties.Set(wire.FileText, describedText(s, "The content, if it is text."))
	data := describedText(s, "The content in base64, if it is not text.")
	data.Set("format", tree.NewString(s, "byte"))
	properties.Set(wire.FileData, data)
	properties.Set(wire.FileName, describedText(s, "Name of the file."))
	if media := mediaTypeSchema(s, types); media != nil {
		properties.Set(wire.FileMediaType, media)
	}
	object := tree.NewObject(s)
	object.Set("type", tree.NewString(s, "object"))
	file := object
	if !f.text {
		file = tree.NewObject(s)
	}
	for _, key := range []string{"description", "title", "deprecated", "readOnly"} {
		for _, from := range []*tree.Node{s, n} {
			if m := from.Get(key); m != nil {
				file.Set(key, m)
				break
			}
		}
	}
	object.Set("properties", properties)
	object.Set("oneOf", oneRequired(s, wire.FileText, wire.FileData))
	object.Set("additionalProperties", tree.NewBool(s, false))
	if !f.text {
		alone := describedText(s, "The content in base64, or a data URL.")
		alone.Set("format", tree.NewString(s, "byte"))
		alone.Set("minLength", tree.NewNumber(s, "1"))
		either := tree.NewArray(s)
		either.Append(object)
		either.Append(alone)
		file.Set("anyOf", either)
	}
	if f.example {
		file.Set("example", fileExample(s, types))
	}
	return file
}

// describedText returns the schema of a text.
func describedText(at *tree.Node, description string) *tree.Node {
	m := tree.NewObject(at)
	m.Set("type", tree.NewString(at, "string"))
	m.Set("description", tree.NewString(at, description))
	return m
}

// mediaTypeSchema returns the schema of the media type of a file with the given types; nil if there is no choice.
func mediaTypeSchema(at *tree.Node, types []string) *tree.Node {
	concrete := !slices.ContainsFunc(types, mediatype.IsRange)
	generic := len(types) == 0 || mediatype.IsGeneric(mediatype.Essence(types[0]))
	switch {
	case len(types) == 1 && concrete && !generic:
		return nil
	case len(types) > 1 && concrete:
		media, enum := describedText(at, "Media type of the file."), tree.NewArray(at)
		for _, t := range types {
			enum.Append(tree.NewString(at, mediatype.Essence(t)))
		}
		media.Set("enum", enum)
		return media
	}
	description := "Media type of the file."
	if !generic {
		description = "Media type of the file: " + strings.Join(types, ", ") + "."
	}
	media := describedText(at, description)
	media.Set("pattern", tree.NewString(at, schema.PatternMediaType))
	return media
}

// fileExample returns an example of a file: bytes if all its types are of bytes, otherwise a text. Its texts are
// recognizable as invented.
func fileExample(at *tree.Node, types []string) *tree.Node {
	example := tree.NewObject(at)
	if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return !isOpaque(t) || mediatype.IsGeneric(mediatype.Essence(t)) }) {
		example.Set(wire.FileName, tree.NewString(at, "<filename>"))
		example.Set(wire.FileText, tree.NewString(at, "<text>"))
		return example
	}
	name := "<filename>"
	if _, subtype, _ := strings.Cut(mediatype.Essence(types[0]), "/"); subtype != "*" {
		name += "." + subtype
	}
	example.Set(wire.FileName, tree.NewString(at, name))
	example.Set(wire.FileData, tree.NewString(at, "iVBORw0KGgo="))
	return example
}

// oneRequired returns the alternatives of an object that has exactly one of some members.
func oneRequired(at *tree.Node, members ...string) *tree.Node {
	either := tree.NewArray(at)
	for _, name := range members {
		required, part := tree.NewArray(at), tree.NewObject(at)
		required.Append(tree.NewString(at, name))
		part.Set("required", required)
		either.Append(part)
	}
	return either
}
