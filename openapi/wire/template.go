package wire

// A Template is a path with variables (OAS "Path Templating").
type Template struct{}

// A QueryVariable is a variable in the query that some documents write behind the path: "/orders?action={name}".
type QueryVariable struct{ Key, Name string }

func ParseTemplate(path string) (*Template, error) { return &Template{}, nil }

// Names returns the variables of the path in the order in which they first stand.
func (t *Template) Names() []string { return nil }

// Reserved reports that variable i is written "{+name}" (RFC 6570 section 3.2.3): its value may hold slashes.
func (t *Template) Reserved(i int) bool { return false }

// Query returns the fixed query of the template, escaped, without "?"; "" when there is none.
func (t *Template) Query() string { return "" }

// QueryVariables returns the variables in the query of the template. Their pairs are not part of Query.
func (t *Template) QueryVariables() []QueryVariable { return nil }

// Append appends the path; value appends the value of variable i.
func (t *Template) Append(dst []byte, value func(i int, dst []byte) ([]byte, error)) ([]byte, error) {
	return dst, nil
}
