package wire

// A Location is the location of a parameter (OAS "Parameter Locations").
type Location uint8

// The locations.
const (
	Path Location = iota
	Query
	Header
	Cookie
	// QueryString is the whole query, written in the media type of its content (OAS 3.2 "in: querystring").
	QueryString
)

var locationNames = [...]string{Path: "path", Query: "query", Header: "header", Cookie: "cookie", QueryString: "querystring"}

// ParseLocation reads the in member of a Parameter Object.
func ParseLocation(s string) (Location, bool) {
	for l, name := range locationNames {
		if s == name {
			return Location(l), true
		}
	}
	return 0, false
}

// String returns the location as documents write it.
func (l Location) String() string { return locationNames[l] }

// Style returns the style of parameters that name none (OAS Parameter Object, style).
func (l Location) Style() Style {
	if l == Query || l == Cookie || l == QueryString {
		return Form
	}
	return Simple
}

// A Style is the serialization style of a value (OAS "Style Values").
type Style uint8

// The styles.
const (
	Simple Style = iota
	Label
	Matrix
	Form
	SpaceDelimited
	PipeDelimited
	TabDelimited // collectionFormat tsv of Swagger 2.0
	DeepObject
	CookieStyle // style cookie of OAS 3.2
	// ByType is the encoding of form properties without style, explode and allowReserved (OAS 3.1 "Encoding Object"):
	// objects as JSON, lists as one pair for each member, everything else as text. It is for use in a FormEncoder only;
	// documents can't name it.
	ByType
)

var styleNames = [...]string{
	Simple: "simple", Label: "label", Matrix: "matrix", Form: "form", SpaceDelimited: "spaceDelimited",
	PipeDelimited: "pipeDelimited", TabDelimited: "tabDelimited", DeepObject: "deepObject", CookieStyle: "cookie",
}

// ParseStyle reads the style member of a Parameter Object. It also accepts "tabDelimited", which represents the
// collectionFormat tsv of Swagger 2.0.
func ParseStyle(s string) (Style, bool) {
	for style, name := range styleNames {
		if s == name {
			return Style(style), true
		}
	}
	return 0, false
}

// String returns the style as documents write it.
func (s Style) String() string {
	if int(s) < len(styleNames) {
		return styleNames[s]
	}
	return "by type"
}

// Explode returns the value of explode for parameters that don't give one (OAS Parameter Object, explode).
func (s Style) Explode() bool { return s == Form || s == CookieStyle }

// A Slash is the treatment of slashes in the value of a path parameter.
type Slash uint8

// The treatments of slashes.
const (
	SlashRefused  Slash = iota
	SlashRaw            // sent unchanged, so that a value may span several segments
	SlashEncoded        // sent as "%2F", so that a value stays one segment
	SlashEscaped        // as SlashEncoded, and a value that is already percent-encoded is decoded first
	SlashInferred       // as SlashEncoded, and a value whose slashes are already percent-encoded is decoded first
)

// A Parameter is a document's description of one parameter, with the defaults of the standard filled in by the caller
// (see [Location.Style] and [Style.Explode]).
type Parameter struct {
	Name  string
	In    Location
	Style Style

	Explode         bool
	AllowReserved   bool
	AllowEmptyValue bool  // Query: undefined values are sent as "name="; Path: "" is sent as an empty segment
	Slash           Slash // Path: the treatment of slashes in a value (R2)

	// ContentType, if not "", is the media type of a parameter that has content instead of a schema. The value is
	// written in that type: a JSON type as compact JSON, application/x-www-form-urlencoded as a form, any other as
	// plain text, and lists and objects as JSON if it is a range that includes JSON. Style is then not used. A
	// QueryString must have a ContentType.
	ContentType string
	// Form encodes the values of a form, by name; if it is nil, each property is encoded by its type.
	Form *FormEncoder

	// Nested are the delimiters of lists within lists, the outermost of these first: ',', ' ', '|' or a tab
	// (collectionFormat in the items of Swagger 2.0). Lists below these are written as JSON.
	Nested []byte

	// Taken returns the names of all parameters in the same location, and of the gateway's own. The members of an
	// exploded object, which become parameters of their own in queries and cookies, must not have them, but for the
	// name of the parameter itself (R5). It is called only when such an object is written, so that no set is stored for
	// other parameters; it must be safe for concurrent use. If it is nil, there are none.
	Taken func() map[string]struct{}
}
