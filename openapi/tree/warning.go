package tree

import "fmt"

// Warning is one thing that was repaired or ignored while loading.
type Warning struct {
	Position Position
	Pointer  string // JSON pointer within Position.File
	Code     string // one of the Code constants
	Message  string

	Of    string // of CodeMore: the code of the warnings that are left out
	Count int    // of CodeMore: how many these are
}

// String returns "file:line:col: pointer: message".
func (w Warning) String() string {
	s := w.Position.String() + ": "
	if w.Pointer != "" {
		s += w.Pointer + ": "
	}
	return s + w.Message
}

// The codes of warnings.
const (
	// Reading a file.
	CodeEncoding      = "encoding"       // not UTF-8: decoded, or bad bytes replaced
	CodeDuplicateKey  = "duplicate-key"  // a member stands twice: the last one wins
	CodeBrokenJSON    = "broken-json"    // JSON that only YAML can read: a trailing comma, say
	CodeYAMLTabs      = "yaml-tabs"      // tabs stand where YAML wants spaces
	CodeYAMLDocuments = "yaml-documents" // more than one document: the first is read
	CodeYAMLKey       = "yaml-key"       // a list or mapping as a key: left out
	CodeYAMLMerge     = "yaml-merge"     // "<<" with something that is no mapping
	CodeYAMLNumber    = "yaml-number"    // .inf or .nan, which JSON doesn't have
	CodeVersion       = "version"        // an odd version of the standard

	// References.
	CodeDanglingRef = "dangling-ref" // leads nowhere; left as it is
	CodeRefLoop     = "ref-loop"     // leads back to itself; left as it is
	CodeFile        = "file"         // a referenced file can't be parsed
	CodeBarePath    = "bare-path"    // a path stands where {"$ref": path} was meant
	CodeContentRef  = "content-ref"  // "$ref" in a map that can't have one: content taken over
	CodeWrongKind   = "wrong-kind"   // "$ref" to another kind of component: used as far as it fits
	CodeTextRef     = "text-ref"     // "$ref" where text belongs: text taken over

	// Names.
	CodeMemberName = "member-name" // a misspelt member: read as the one that was meant
	CodeMediaName  = "media-name"  // a misspelt media type: read as the one that was meant

	// Values of the wrong type.
	CodeNull       = "null-value"  // null where it means nothing
	CodeWrongType  = "wrong-type"  // can't be read as what belongs there: left out
	CodeTextScalar = "text-scalar" // a number or boolean where text belongs
	CodeTextList   = "text-list"   // a list of lines where text belongs
	CodeBoolText   = "bool-text"   // "true" for true
	CodeNumberText = "number-text" // "100" for 100
	CodeEmptyArray = "empty-array" // [] for {}
	CodeListSingle = "list-single" // one element without its list
	CodeObjectList = "object-list" // a list of one where its element belongs
	CodeNestedList = "nested-list" // lists within a list of text: flattened

	// Schemas.
	CodeRequiredBool   = "required-bool"   // required: true on a property: lifted into the parent's list
	CodeRequiredName   = "required-name"   // a required name that no property can have: left out
	CodeMisplaced      = "misplaced"       // allOf, anyOf, oneOf or required among the properties
	CodeClosedPart     = "closed-part"     // a schema that refuses what it is composed with: opened
	CodeTupleItems     = "tuple-items"     // a list of schemas where one belongs
	CodeExamplesObject = "examples-object" // a map of examples where a list belongs
	CodeTypeName       = "type-name"       // a type misspelled in case, or null for "null"
	CodeSchemaText     = "schema-text"     // the name of a type where a schema belongs

	// Operations.
	CodeMethodCase     = "method-case"     // GET for get
	CodeLocationCase   = "location-case"   // Query for query
	CodeParameterType  = "parameter-type"  // Swagger 2.0's type in a 3.x parameter
	CodeResponseText   = "response-text"   // the description alone where a response belongs
	CodeResponseSchema = "response-schema" // Swagger 2.0's schema in a 3.x response
	CodeMediaSchema    = "media-schema"    // a schema where a media type object belongs
	CodeNameText       = "name-text"       // a name or URL alone where an object belongs
	CodeBodyParameters = "body-parameters" // more than one body parameter: the first is kept

	// Overlays.
	CodeOverlayUnmatched = "overlay-unmatched" // an action whose target selects nothing
	CodeOverlayNoEffect  = "overlay-no-effect" // an action that changes nothing by itself
	CodeOverlayExtends   = "overlay-extends"   // an overlay that extends another document

	// CodeMore counts the warnings of one code that are left out.
	CodeMore = "more"
)

// mostOfOneCode bounds how often one kind of mistake is reported: a generated
// document repeats it ten thousand times.
const mostOfOneCode = 500

// warnings collects what Load reports.
type warnings struct {
	list   []Warning
	counts map[string]int
}

func newWarnings() *warnings { return &warnings{counts: map[string]int{}} }

// add reports something about n.
func (w *warnings) add(n *Node, code, format string, args ...any) {
	if w.counts[code]++; w.counts[code] > mostOfOneCode {
		return
	}
	w.list = append(w.list, Warning{
		Position: n.Position(), Pointer: n.Pointer(), Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// addAt reports something about a place that has no node.
func (w *warnings) addAt(p Position, code, format string, args ...any) {
	if w.counts[code]++; w.counts[code] > mostOfOneCode {
		return
	}
	w.list = append(w.list, Warning{Position: p, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (w *warnings) duplicate(first, last *Node) {
	// The place in the file's tree is not known yet: the ancestors are still open,
	// but their keys and parents are set, so Pointer works.
	w.add(last, CodeDuplicateKey, "the member %s stands here for the second time (first at line %d); the last one is used",
		quote(clip(last.key)), first.line)
}

// all returns the warnings in the order found, with one line for each code that
// was cut.
func (w *warnings) all(root Position) []Warning {
	for code, n := range w.counts {
		if n > mostOfOneCode {
			w.list = append(w.list, Warning{Position: root, Code: CodeMore, Of: code, Count: n - mostOfOneCode,
				Message: fmt.Sprintf("%d more warnings of the kind %q are left out", n-mostOfOneCode, code)})
		}
	}
	return w.list
}
