package jsonscan

// Shape is the part of a JSON Schema that [Scan] compares during the scan: types, properties and items. Members that
// Properties does not name are accepted, and one that is missing is no mismatch. A nil shape accepts everything. Compile it once; after
// that it is safe for concurrent use.
type Shape struct {
	Kinds      Kinds      // accepted kinds; 0: any
	Integer    bool       // a number must be an integer (1.0 and 1e3 are, as in JSON Schema)
	Properties []Property // in the expected order of responses
	Items      *Shape

	index    map[string]int // of Properties, if there are many
	required uint64         // set of the required ones among the first 64 properties
	compiled bool
}

// fewProperties is the number of names up to which they are compared one by one: most objects have no more, and a map
// for each takes more memory than the rest of a shape.
const fewProperties = 8

// Property is one member of an object in a [Shape].
type Property struct {
	Name     string
	Shape    *Shape
	Required bool // a missing one is reported by Info.Missing

	begin prefix // the beginning of a member with that name: "name":
}

// Mismatch is a difference of a value from its [Shape]. Offset counts bytes; PointerAt makes it readable.
type Mismatch struct {
	Offset  int
	Want    Kinds
	Integer bool
	Got     Kind
}

// Missing is a required property that an object does not have. Offset is that of the object.
type Missing struct {
	Offset int
	Name   string
}

// Compile prepares the shape and all below it for [Scan]. Shapes may share parts but not contain themselves.
func (s *Shape) Compile() {
	if s == nil || s.compiled {
		return
	}
	s.compiled = true
	if len(s.Properties) > fewProperties {
		s.index = make(map[string]int, len(s.Properties))
	}
	for i := range s.Properties {
		p := &s.Properties[i]
		if s.index != nil {
			s.index[p.Name] = i
		}
		if p.Required && i < 64 {
			s.required |= 1 << i
		}
		p.begin = newPrefix(string(append(AppendString(nil, p.Name), ':')))
		p.Shape.Compile()
	}
	s.Items.Compile()
}

func (s *Shape) accepts(k Kind) bool { return s.Kinds.Has(k) }

// property returns the index of a property; -1 if none has that name. next is the index that is tried first.
func (s *Shape) property(name []byte, next int) int {
	if next < len(s.Properties) && s.Properties[next].Name == string(name) {
		return next
	}
	if s.index != nil {
		if i, ok := s.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range s.Properties {
		if s.Properties[i].Name == string(name) {
			return i
		}
	}
	return -1
}
