package tree

import "fmt"

// Warning is one problem that was repaired or ignored while loading.
type Warning struct {
	Position Position
	Pointer  string // JSON pointer within Position.File
	Code     string // one of the Code constants
	Message  string

	Of    string // of CodeMore: the code of the omitted warnings
	Count int    // of CodeMore: their number
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
	CodeDuplicateKey  = "duplicate-key"  // a duplicate member: the last one wins
	CodeBrokenJSON    = "broken-json"    // JSON that only YAML can read: a trailing comma, say
	CodeYAMLTabs      = "yaml-tabs"      // tabs instead of spaces in YAML
	CodeYAMLDocuments = "yaml-documents" // more than one document: the first is read
	CodeYAMLKey       = "yaml-key"       // a list or mapping as a key: left out
	CodeYAMLMerge     = "yaml-merge"     // "<<" with a value that is not a mapping
	CodeYAMLNumber    = "yaml-number"    // .inf or .nan, which JSON doesn't have
	CodeVersion       = "version"        // an odd version of the standard

	// References.
	CodeDanglingRef = "dangling-ref" // no target; left unchanged
	CodeRefLoop     = "ref-loop"     // a cycle; left unchanged
	CodeFile        = "file"         // a referenced file can't be parsed
	CodeBarePath    = "bare-path"    // a path instead of {"$ref": path}
	CodeContentRef  = "content-ref"  // "$ref" in a map that can't have one: content taken over
	CodeWrongKind   = "wrong-kind"   // "$ref" to another kind of component: used as far as possible
	CodeTextRef     = "text-ref"     // "$ref" instead of text: text taken over

	// Names.
	CodeMemberName = "member-name" // a misspelt member: treated as the intended one
	CodeMediaName  = "media-name"  // a misspelt media type: treated as the intended one

	// Values of the wrong type.
	CodeNull       = "null-value"  // null without a meaning
	CodeWrongType  = "wrong-type"  // not convertible to the required type: left out
	CodeTextScalar = "text-scalar" // a number or boolean instead of text
	CodeTextList   = "text-list"   // a list of lines instead of text
	CodeBoolText   = "bool-text"   // "true" for true
	CodeNumberText = "number-text" // "100" for 100
	CodeEmptyArray = "empty-array" // [] for {}
	CodeListSingle = "list-single" // one element without its list
	CodeObjectList = "object-list" // a list of one instead of its element
	CodeNestedList = "nested-list" // lists within a list of text: flattened

	// Schemas.
	CodeRequiredBool   = "required-bool"   // required: true on a property: lifted into the parent's list
	CodeRequiredName   = "required-name"   // a required name that no property can have: left out
	CodeMisplaced      = "misplaced"       // allOf, anyOf, oneOf or required among the properties
	CodeClosedPart     = "closed-part"     // a schema that refuses the parts that it is composed with: opened
	CodeTupleItems     = "tuple-items"     // a list of schemas instead of one
	CodeExamplesObject = "examples-object" // a map of examples instead of a list
	CodeTypeName       = "type-name"       // a type misspelled in case, or null for "null"
	CodeSchemaText     = "schema-text"     // the name of a type instead of a schema

	// Operations.
	CodeMethodCase     = "method-case"     // GET for get
	CodeLocationCase   = "location-case"   // Query for query
	CodeParameterType  = "parameter-type"  // Swagger 2.0's type in a 3.x parameter
	CodeResponseText   = "response-text"   // only the description instead of a response
	CodeResponseSchema = "response-schema" // Swagger 2.0's schema in a 3.x response
	CodeMediaSchema    = "media-schema"    // a schema instead of a media type object
	CodeNameText       = "name-text"       // only a name or URL instead of an object
	CodeBodyParameters = "body-parameters" // more than one body parameter: the first is kept

	// Overlays.
	CodeOverlayUnmatched = "overlay-unmatched" // an action whose target selects nothing
	CodeOverlayNoEffect  = "overlay-no-effect" // an action that changes nothing by itself
	CodeOverlayExtends   = "overlay-extends"   // an overlay that extends another document

	// CodeMore counts the omitted warnings of one code.
	CodeMore = "more"
)

// maxPerCode limits how often one kind of mistake is reported: a generated document repeats it ten thousand times.
const maxPerCode = 500

// warnings collects the warnings of Load.
type warnings struct {
	list   []Warning
	counts map[string]int
}

func newWarnings() *warnings { return &warnings{counts: map[string]int{}} }

// add adds a warning about n.
func (w *warnings) add(n *Node, code, format string, args ...any) {
	if w.counts[code]++; w.counts[code] > maxPerCode {
		return
	}
	w.list = append(w.list, Warning{
		Position: n.Position(), Pointer: n.Pointer(), Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// addAt adds a warning about a position that has no node.
func (w *warnings) addAt(p Position, code, format string, args ...any) {
	if w.counts[code]++; w.counts[code] > maxPerCode {
		return
	}
	w.list = append(w.list, Warning{Position: p, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (w *warnings) duplicate(first, last *Node) {
	// The position in the file's tree is not known yet: the ancestors are still open, but their keys and parents are
	// set, so Pointer works.
	w.add(last, CodeDuplicateKey, "the member %s stands here for the second time (first at line %d); the last one is used",
		quote(clip(last.key)), first.line)
}

// all returns the warnings in order, with one line for each code that exceeds the limit.
func (w *warnings) all(root Position) []Warning {
	for code, n := range w.counts {
		if n > maxPerCode {
			w.list = append(w.list, Warning{Position: root, Code: CodeMore, Of: code, Count: n - maxPerCode,
				Message: fmt.Sprintf("%d more warnings of the kind %q are left out", n-maxPerCode, code)})
		}
	}
	return w.list
}
