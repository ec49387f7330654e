package readiness

import "drawbridge/openapi"

// A Report is what was found in the tools of a document.
type Report struct {
	// Score is the mean of the scores of all operations, from 0 to 100, rounded down to a tenth, or 0.
	Score float64 `json:"score"`
	// Tools is the number of operations that are tools, Skipped that of operations that can't be called.
	Tools   int `json:"tools"`
	Skipped int `json:"skipped"`
	// Kinds counts the findings by code, the heaviest first.
	Kinds []Kind `json:"kinds"`
	// Operations are all operations, the lowest score first, then in the document's order.
	Operations []Operation `json:"operations"`
}

// A Kind is the sum of all findings with one code.
type Kind struct {
	Code     Code `json:"code"`
	Findings int  `json:"findings"`
	// Weight is what the findings take away from the scores of their operations together.
	Weight int `json:"weight"`
	// Title says in a few words what the findings are.
	Title string `json:"title"`
}

// An Operation is one operation with its score.
type Operation struct {
	Tool   string `json:"tool,omitempty"` // name of the tool; "" if the operation is skipped
	Method string `json:"method"`
	Path   string `json:"path"`
	// Score is 100 less the weights of the findings, at least 0.
	Score    int       `json:"score"`
	Findings []Finding `json:"findings"`

	order int
}

// A Finding is one property of an operation that makes it harder to use for a model.
type Finding struct {
	Code Code `json:"code"`
	// Weight is what the finding takes away from the score of the operation. It is 0 beyond the most that all findings
	// with its code may take away.
	Weight  int    `json:"weight"`
	Message string `json:"message"`
	Place
}

// A Place is a place in a file of the document.
type Place struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Pointer string `json:"pointer"` // RFC 6901, from the root of the file
}

// String returns "file:line:col", the form that editors jump to.
func (p Place) String() string {
	return openapi.Position{File: p.File, Line: p.Line, Column: p.Column}.String()
}

// Code is the kind of a finding.
type Code string

// The kinds of findings.
const (
	DescriptionMissing  Code = "description-missing"
	DescriptionRepeated Code = "description-repeated"
	DescriptionRestates Code = "description-restates"
	DescriptionLong     Code = "description-long"
	SummaryMissing      Code = "summary-missing"
	NearTwin            Code = "near-twin"
	ToolName            Code = "tool-name"
	ArgumentUndescribed Code = "argument-undescribed"
	ArgumentUntyped     Code = "argument-untyped"
	ArgumentsMany       Code = "arguments-many"
	BodyUntyped         Code = "body-untyped"
	ExampleMissing      Code = "example-missing"
	ExampleInvalid      Code = "example-invalid"
	HeaderNoise         Code = "header-noise"
	PagingMissing       Code = "paging-missing"
	FieldChoiceMissing  Code = "field-choice-missing"
	AnswerUndocumented  Code = "answer-undocumented"
	ErrorsUndocumented  Code = "errors-undocumented"
	ReadByPost          Code = "read-by-post"
	PathOneSegment      Code = "path-one-segment"
	PathRootMissing     Code = "path-root-missing"
	TypeDoubtful        Code = "type-doubtful"
	Skipped             Code = "skipped"
)

// rule is what is known of a kind: what one finding takes away, the most that all of an operation take away, and its
// title.
type rule struct {
	weight, most int
	title        string
}

// rules are the kinds of findings with their weights. ADR 0067 says why.
var rules = map[Code]rule{
	DescriptionMissing:  {50, 50, "no description"},
	DescriptionRepeated: {30, 30, "the description of another operation"},
	DescriptionRestates: {25, 25, "a description that only repeats the name"},
	DescriptionLong:     {4, 4, "a description that is cut off"},
	SummaryMissing:      {5, 5, "no summary beside a long description"},
	NearTwin:            {15, 15, "nearly the description of another operation"},
	ToolName:            {8, 8, "a name that says too little or too much"},
	ArgumentUndescribed: {5, 25, "an argument without a description"},
	ArgumentUntyped:     {6, 24, "an argument without a type"},
	ArgumentsMany:       {6, 6, "too many arguments"},
	BodyUntyped:         {25, 25, "a body without a schema"},
	ExampleMissing:      {12, 12, "a deep body without an example"},
	ExampleInvalid:      {6, 12, "an example or default that breaks its schema"},
	HeaderNoise:         {4, 12, "a header that every operation has"},
	PagingMissing:       {15, 15, "a list without paging"},
	FieldChoiceMissing:  {5, 5, "large items without a choice of fields"},
	AnswerUndocumented:  {12, 12, "no schema of the answer"},
	ErrorsUndocumented:  {5, 5, "no documented error"},
	ReadByPost:          {12, 12, "a POST that only reads"},
	PathOneSegment:      {12, 12, "a path that takes no slashes"},
	PathRootMissing:     {6, 6, "a tree without its root"},
	TypeDoubtful:        {10, 10, "a text that may be an object"},
	Skipped:             {100, 100, "can't be called"},
}

// Title says in a few words what findings with the code are.
func (c Code) Title() string { return rules[c].title }

// ShowFiles replaces the names of files by what may be shown of them.
func (r *Report) ShowFiles(shown func(string) string) {
	for _, op := range r.Operations {
		for i := range op.Findings {
			op.Findings[i].File = shown(op.Findings[i].File)
		}
	}
}
