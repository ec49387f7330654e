package config

import (
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// single is a list that a single item may replace. The item is a node of a kind, and has a noun for messages.
type single interface {
	single() (kind yaml.Kind, noun string)
}

// completer is a struct that derives further fields from what was read at its key: a node of any kind.
type completer interface {
	complete(l *loader, n *yaml.Node, key string)
}

// value reads a node into v. Problems are recorded; v is left at its zero value then.
func (l *loader) value(n *yaml.Node, v reflect.Value, key string, f field) {
	l.mark(key, n)
	n = resolveAlias(n)
	if l.values++; l.values > maxValues {
		if l.values == maxValues+1 {
			l.errorf("", "has more than %d values", maxValues)
		}
		return
	}
	reader, reads := v.Addr().Interface().(nodeReader)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && !reads {
		l.errorf(key, "expected %s, got nothing; give it a value or remove it", expected(v.Type()))
		return
	}
	if tag := n.ShortTag(); strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!") {
		l.errorf(key, "has the YAML tag %s; tags are not supported", tag)
		return
	}
	if reads {
		reader.read(l, n, key)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		l.value(n, p.Elem(), key, f)
		if !l.failed[key] {
			v.Set(p)
		}
	case reflect.Slice:
		l.list(n, v, key)
	case reflect.Map:
		l.mapping(n, v, key)
	case reflect.Struct:
		if isText(v.Type()) {
			l.scalar(n, v, key, f)
			return
		}
		if !l.shortened(n, v, key) {
			l.structure(n, v, key)
		}
		if c, ok := v.Addr().Interface().(completer); ok {
			c.complete(l, n, key)
		}
	default:
		l.scalar(n, v, key, f)
	}
}

func (l *loader) structure(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.MappingNode {
		l.mismatch(n, v.Type(), key)
		return
	}
	fields := fieldsOf(v.Type())
	given := map[string]bool{}
	for name, child := range l.once(n, key) {
		path := join(key, name.Value)
		given[name.Value] = true
		f := lookup(fields, name)
		if f == nil {
			what := ""
			if l.count[Error] < maxProblems { // else it is not shown, and would cost
				what = unknown(name, key, fields, l.rootType)
			}
			l.add(Error, positionOf(name), path, "%s", what)
			continue
		}
		l.value(child, v.Field(f.index), path, *f)
	}
	for _, f := range fields {
		if given[f.name] {
			continue
		}
		if f.needed {
			l.errorf(join(key, f.name), "is required")
		}
		l.preset(f, v.Field(f.index))
	}
}

func lookup(fields []field, name *yaml.Node) *field {
	if name.Kind == yaml.ScalarNode {
		for i := range fields {
			if fields[i].name == name.Value {
				return &fields[i]
			}
		}
	}
	return nil
}

// defaults gives every field of a struct, and of the structs in it, the value that it has when its key is absent.
func (l *loader) defaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		l.preset(f, v.Field(f.index))
	}
}

func (l *loader) preset(f field, v reflect.Value) {
	preset, isFormer := l.former[ownedKey{f.owner, f.name}]
	if !isFormer {
		preset = f.preset
	}
	switch {
	case f.hasPreset || isFormer:
		n := &yaml.Node{}
		if err := yaml.Load([]byte(preset), n); err != nil {
			panic(fmt.Sprintf("config: default %q of %q: %v", preset, f.name, err))
		}
		// In a loader of its own: a default has no position and no problems.
		(&loader{}).value(n.Content[0], v, f.name, field{})
	case v.Kind() == reflect.Struct:
		if _, ok := v.Addr().Interface().(parser); !ok {
			l.defaults(v)
		}
	}
}

func (l *loader) list(n *yaml.Node, v reflect.Value, key string) {
	items := n.Content
	if n.Kind != yaml.SequenceNode {
		if s, ok := v.Interface().(single); !ok || !isItem(s, n) {
			l.mismatch(n, v.Type(), key)
			return
		}
		out := reflect.MakeSlice(v.Type(), 1, 1)
		l.value(n, out.Index(0), key, field{})
		v.Set(out)
		return
	}
	if len(items) > maxItems {
		l.errorf(key, "has more than %d items", maxItems)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		l.value(item, out.Index(i), key+"["+strconv.Itoa(i)+"]", field{})
	}
	v.Set(out)
}

// isItem reports whether a node may replace a list of one.
func isItem(s single, n *yaml.Node) bool {
	kind, _ := s.single()
	return n.Kind == kind
}

func (l *loader) mapping(n *yaml.Node, v reflect.Value, key string) {
	if n.Kind != yaml.MappingNode {
		l.mismatch(n, v.Type(), key)
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for name, child := range l.once(n, key) {
		path := join(key, name.Value)
		if !l.isTextKey(name, path) {
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		l.value(child, item, path, field{})
		out.SetMapIndex(reflect.ValueOf(name.Value), item)
	}
	v.Set(out)
}

// scalar reads a scalar node: expands it, checks its type, parses it, checks its bounds.
func (l *loader) scalar(n *yaml.Node, v reflect.Value, key string, f field) {
	if n.Kind != yaml.ScalarNode {
		l.mismatch(n, v.Type(), key)
		return
	}
	e, ok := l.expanded(n, key)
	if !ok {
		return
	}
	if len(e.unset) > 0 {
		l.standIn(v, key, f, e)
		return
	}
	// The text that a reference expands to has no YAML type: it is read as the expected one.
	if !e.expanded && !fits(n.ShortTag(), v.Type()) {
		l.mismatch(n, v.Type(), key)
		return
	}
	if e.text == "" {
		l.errorf(key, "is empty")
		return
	}
	_, secret := v.Interface().(Secret)
	files, path := v.Addr().Interface().(resolver)
	switch {
	case l.fromDocument && (secret || path):
		l.errorf(key, "can't be set by a document: only the configuration has secrets and files")
		return
	case secret:
		l.exposed(key, e)
	}
	if !utf8.ValidString(e.text) {
		l.errorf(key, "is not valid UTF-8")
		return
	}
	if err := parseInto(v, e.text); err != nil {
		l.errorf(key, "%s%s", err, shown(err, n, e, v))
		return
	}
	if path {
		files.resolve(l.dir)
		if err := l.checkGranted(files); err != nil {
			l.errorf(key, "%q %s", e.text, err)
			return
		}
	}
	if u, ok := v.Interface().(interface{ hasPassword() bool }); ok && u.hasPassword() {
		e.literal = passwordInClear(n.Value)
		l.exposed(key, e)
	}
	if !bounds(v, f) {
		l.outOfBounds(n, v, key, f, e)
	}
}

// expanded returns the text of a scalar with its references expanded, unless they have no meaning in the file. It is false if a
// reference is wrong.
func (l *loader) expanded(n *yaml.Node, key string) (e expansion, ok bool) {
	if l.fromDocument || l.verbatim {
		return expansion{text: n.Value, literal: true}, true
	}
	e, errs := l.expand(n.Value)
	for _, err := range errs {
		l.errorf(key, "%s", err)
	}
	return e, len(errs) == 0
}

// outOfBounds reports a value that is not within min and max.
func (l *loader) outOfBounds(n *yaml.Node, v reflect.Value, key string, f field, e expansion) {
	zero, got := "", ", got "+n.Value
	if f.zero {
		zero = "0 or "
		if v.Type() == reflect.TypeFor[Duration]() {
			zero = "0s or "
		}
	}
	if e.expanded {
		got = ", but what " + quote(n.Value) + " expands to is not"
	}
	l.errorf(key, "must be %sfrom %s to %s%s", zero, f.low, f.high, got)
}

// standIn gives a value with missing references its text with placeholders, else a URL, else what it has without the key.
func (l *loader) standIn(v reflect.Value, key string, f field, e expansion) {
	if _, location := v.Interface().(Location); location || strings.HasSuffix(key, "ca_file") {
		for _, m := range e.unset {
			l.errorf(key, "%s: %s; the check needs it, to read documents", m.reference, m.reason)
		}
		return
	}
	l.note(key, e.unset...)
	for _, text := range []string{e.text, placeholderURL} {
		if parseInto(v, text) == nil && bounds(v, f) {
			if file, ok := v.Addr().Interface().(resolver); ok {
				file.resolve(l.dir)
			}
			return
		}
	}
	v.SetZero()
	l.preset(f, v)
}

// exposed warns of a secret that others may read (E8).
func (l *loader) exposed(key string, e expansion) {
	if e.literal {
		l.warnf(key, "the secret is in plain text; use ${NAME} or ${file:PATH}")
	}
	for _, path := range e.open {
		l.warnf(key, "the secret file %q can be read by every user of the machine", path)
	}
}

// strict turns the warnings of exposed into errors.
func (l *loader) strict() {
	for i := range l.problems {
		if p := &l.problems[i]; p.Severity == Warning && strings.HasPrefix(p.Message, "the secret ") {
			p.Severity = Error
			p.Message += " (server.strict_secrets)"
		}
	}
}

func parseInto(v reflect.Value, text string) error {
	if p, ok := v.Addr().Interface().(parser); ok {
		return p.parse(text)
	}
	if e, ok := v.Interface().(enum); ok {
		for _, value := range e.values() {
			if text == value {
				v.SetString(text)
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", strings.Join(e.values(), ", "))
	}
	switch v.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("expected true or false")
		}
		v.SetBool(text == "true")
	case reflect.Int:
		i, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("expected a whole number in decimal digits")
		}
		v.SetInt(int64(i))
	case reflect.String:
		if i := strings.IndexFunc(text, control); i >= 0 {
			return fmt.Errorf("holds the control character %U", []rune(text[i:])[0])
		}
		v.SetString(text)
	default:
		panic(fmt.Sprintf("config: no way to read a %s", v.Type()))
	}
	return nil
}

// control reports whether r is not allowed in a string. Line breaks and tabs are, for descriptions.
func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// bounds reports whether a value is within min and max.
func bounds(v reflect.Value, f field) bool {
	if f.low == "" || f.zero && v.IsZero() {
		return true
	}
	low, high := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	if err := parseInto(low, f.low); err != nil {
		panic(fmt.Sprintf("config: min of %q: %v", f.name, err))
	}
	if err := parseInto(high, f.high); err != nil {
		panic(fmt.Sprintf("config: max of %q: %v", f.name, err))
	}
	return v.Int() >= low.Int() && v.Int() <= high.Int()
}

// fits reports whether a scalar with a YAML tag can be read as a type.
func fits(tag string, t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[Duration](), reflect.TypeFor[ByteSize](), reflect.TypeFor[TokenCount](), reflect.TypeFor[Address](), reflect.TypeFor[Frequency](), reflect.TypeFor[OwnFrequency](),
		reflect.TypeFor[TLSVersion](), reflect.TypeFor[Instant]():
		return true
	}
	switch t.Kind() {
	case reflect.Bool:
		return tag == "!!bool"
	case reflect.Int:
		return tag == "!!int"
	default:
		return tag == "!!str"
	}
}

func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(reflect.TypeFor[parser]())
}

// resolveAlias returns the node that an alias stands for. An anchor can't hold an alias of itself: the parser refuses it.
func resolveAlias(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// nodeReader is a type that reads itself from a node of any kind. It reports what is wrong.
type nodeReader interface {
	read(l *loader, n *yaml.Node, key string)
}

// once yields the keys of a mapping with their values, without those that were given before, which are reported.
func (l *loader) once(n *yaml.Node, key string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(name, value *yaml.Node) bool) {
		lines := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i]
			if line, twice := lines[name.Value]; twice {
				l.add(Error, positionOf(name), join(key, name.Value), "is given twice, first on line %d", line)
				continue
			}
			if lines[name.Value] = name.Line; !yield(name, n.Content[i+1]) {
				return
			}
		}
	}
}

// isTextKey reports whether a key of a mapping is a string, and an error if it is not.
func (l *loader) isTextKey(name *yaml.Node, path string) bool {
	if name.Kind == yaml.ScalarNode && name.ShortTag() == "!!str" {
		return true
	}
	l.add(Error, positionOf(name), path, "expected a string as key, got %s", described(name))
	return false
}
