package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// SelectArgument is the argument by which a model names the fields that it wants.
const SelectArgument = "_select"

// Projection reduces the answers of a tool. It is immutable.
type Projection struct {
	projection.Rule
	// Argument reports that the tool has [SelectArgument].
	Argument bool

	selectsLines bool // the argument selects lines of a text
}

// codeResult is the problem code of settings for answers that fit nothing.
const codeResult = "result"

// Programs are the compiled expressions of rules, by their text.
type Programs map[string]*projection.Program

// CompilePrograms compiles the expressions of all rules. The error joins all faults, with their positions.
func CompilePrograms(c *config.Config) (Programs, error) {
	programs, compiler := Programs{}, projection.NewCompiler()
	var errs []error
	compile := func(key, text string) *projection.Program {
		if text == "" || programs[text] != nil {
			return programs[text]
		}
		program, err := compiler.Compile(text)
		for _, one := range config.SplitErrors(err) {
			errs = append(errs, c.Wrong(key, one))
		}
		if err == nil {
			programs[text] = program
		}
		return program
	}
	for n := range c.Rules {
		key, set := fmt.Sprintf("rules[%d].set", n), &c.Rules[n].Set
		if set.Result.On() {
			if set.Result.MaxTokens > 0 {
				projection.Prepare()
			}
			compile(key+".result.select", set.Result.Select)
		}
		if set.Error.On() {
			if when := compile(key+".error.when", set.Error.When); when != nil && when.IsNeverFalse() {
				errs = append(errs, c.Wrong(key+".error.when", errors.New("is never false, so that every call would fail: compare with something, such as .success == false")))
			}
			compile(key+".error.message", set.Error.Message)
		}
	}
	return programs, errors.Join(errs...)
}

// unfit collects settings of rules that fit nothing in an operation. They are reported if that is so of every operation: a rule
// for a whole API may limit the arrays of those answers that have some.
type unfit struct {
	fits  map[unfitKey]bool
	first map[unfitKey]func()
	order []unfitKey
}

// unfitKey is one setting of a rule.
type unfitKey struct {
	set any // *config.Result or *config.AnswerError
	key string
}

func newUnfit() *unfit { return &unfit{fits: map[unfitKey]bool{}, first: map[unfitKey]func(){}} }

// add records whether a setting fits an operation, and how to report it if it fits none.
func (u *unfit) add(k unfitKey, fits bool, report func()) {
	switch {
	case fits:
		u.fits[k] = true
	case u.first[k] == nil:
		u.first[k] = report
		u.order = append(u.order, k)
	}
}

// report reports the settings that fit no operation, for the first operation that they are for.
func (u *unfit) report() {
	for _, k := range u.order {
		if !u.fits[k] {
			u.first[k]()
		}
	}
}

// newProjection returns the projection of an operation's answers; nil if they are passed on as they are. listed is the
// operation with the arguments that callers see. Settings that fit nothing are reported.
func newProjection(o *Options, s *source.Source, op, listed *openapi.Operation, settings *config.Settings, r reporter, u *unfit) *Projection {
	set := settings.Result
	if !set.On() {
		return nil
	}
	has := func(of *config.Settings) bool { return of.Result == set }
	fit := func(key string, fits bool, reason string) bool {
		u.add(unfitKey{set, key}, fits, func() { r.reject(codeResult, "result."+key, reason, has) })
		return fits
	}
	never, binary := op.Answers.NeverJSON(), op.Answers.NeverText()
	shape := op.Answers.Shape()
	if settings.Progress.On() && settings.Progress.Result != "" {
		shape = nil // the answer is a part of what the document describes
	}
	p := &Projection{Rule: projection.Rule{Limits: projection.Limits{MaxItems: set.MaxItems, MaxTokens: set.MaxTokens}}}
	p.DropNulls = set.DropNulls && fit("drop_nulls", !never, "the answers are not JSON, which alone has members")
	p.Argument = set.SelectArgument && fit("select_argument", !binary, "the answers are binary data, of which nothing can be selected")
	p.selectsLines = never
	if set.MaxTokens > 0 { // of text that the document declares as binary data, too
		fit("max_tokens", !binary, "the answers are binary data, which limits.max_result_binary limits")
	}
	if set.Select != "" && fit("select", !never, "the answers are not JSON, which alone has fields to select") {
		p.Select = o.Programs[set.Select]
	}
	if p.Select != nil {
		result, missing := p.Select.Check(shape)
		for _, m := range missing {
			r.doubt(codeResult, "result.select", missingText(m), has)
		}
		if shape = result; publishes(&s.Config) {
			p.Shape = published(result)
		}
	}
	if set.MaxItems > 0 {
		fit("max_items", !never && projection.MayHaveArray(shape), "the answer has no array")
	}
	if p.Argument && listed.Names()[SelectArgument] {
		r.reject(codeResult, "result.select_argument", fmt.Sprintf("the operation has an argument %s, which it keeps", SelectArgument), has)
		p.Argument = false
	}
	if p.IsEmpty() && !p.Argument {
		return nil
	}
	return p
}

// publishes reports whether tools of an API have output schemas.
func publishes(c *config.API) bool {
	return c.OutputSchemas != config.OutputOff && c.Answers != config.AnswersText
}

// published returns a shape as it is published: null may stand instead of a wrapped answer. It is nil if there is no
// schema of it within the limit.
func published(shape *jsonscan.Shape) *jsonscan.Shape {
	if shape == nil || (&openapi.Operation{}).WithOutput(shape).Output == nil {
		return nil
	}
	return shape
}

// missingText describes a name that an expression expects in an answer, and that is not there.
func missingText(m projection.Missing) string {
	if len(m.Known) > 0 {
		return fmt.Sprintf("the answer schema has no %q where the expression reads it%s", m.Name, text.DidYouMean(text.Nearest(m.Name, m.Known)))
	}
	return fmt.Sprintf("the expression reads %q where the answer schema has %s", m.Name, m.Kinds)
}

// selectSchema is the schema of the argument.
var selectSchema = json.RawMessage(`{"type":"string","description":"Fields of the answer to return, as paths separated by commas: items.id,items.owner.name. ` +
	`Arrays are passed through; items[0:20].id takes the first 20 elements. Leave it out for the whole answer."}`)

// linesSchema is the schema of the argument of a tool whose answers are text.
var linesSchema = json.RawMessage(`{"type":"string","description":"Lines of the answer to return, such as [0:100] for the first 100. Leave it out for the whole answer."}`)

// listed returns an operation as callers see it with the projection.
func (p *Projection) listed(op *openapi.Operation) *openapi.Operation {
	if p == nil {
		return op
	}
	if p.Argument {
		schema := selectSchema
		if p.selectsLines {
			schema = linesSchema
		}
		op = op.WithArgument(SelectArgument, schema, false)
	}
	if p.Select != nil {
		op = op.WithOutput(p.Shape)
	}
	return op
}

// TakeFields removes the argument [SelectArgument] from arguments, and returns the fields that it names; nil if it is not
// given. The error is for the model.
func (p *Projection) TakeFields(args json.RawMessage) (rest json.RawMessage, fields *projection.FieldList, err error) {
	if p == nil || !p.Argument {
		return args, nil, nil
	}
	args = unwrapped(args)
	given := jsonscan.Lookup(args, SelectArgument)
	if given == nil {
		return args, nil, nil
	}
	rest, _ = droppedArguments{SelectArgument}.drop(args)
	fields, err = ParseFields(given)
	return rest, fields, err
}

// TakeMisplacedSelect removes select from the arguments of a tool that has no such argument, and returns its value; nil if there is none. A
// model that writes it there means the argument of read_tool or call_tool that stands beside the tool's.
func (p *Plan) TakeMisplacedSelect(args json.RawMessage) (rest, selected json.RawMessage) {
	const name = "select"
	if jsonscan.KindOf(args) != jsonscan.Object {
		return args, nil
	}
	if selected = jsonscan.Lookup(args, name); selected == nil || p.Operation.AcceptsArgument(name) {
		return args, nil
	}
	return withoutMembers(args, []string{name}), selected
}

// ParseFields returns the fields that a model names: in a string, or in a list of paths. It returns nil if there are none. The error is for
// the model.
func ParseFields(given json.RawMessage) (*projection.FieldList, error) {
	text, err := fieldListText(given)
	if err != nil || text == "" {
		return nil, err
	}
	return projection.ParseFieldList(text)
}

// fieldListText returns the text of a field list: a string, or the paths of an array. Null is none.
func fieldListText(given []byte) (string, error) {
	switch jsonscan.KindOf(given) {
	case jsonscan.Null:
		return "", nil
	case jsonscan.String:
		return strings.TrimSpace(string(jsonscan.Unquote(given))), nil
	case jsonscan.Array:
		var paths []string
		for path := range jsonscan.Elements(given) {
			if jsonscan.KindOf(path) != jsonscan.String {
				return "", errors.New("must be a string of paths separated by commas")
			}
			paths = append(paths, string(jsonscan.Unquote(path)))
		}
		return strings.Join(paths, ","), nil
	default:
		return "", errors.New("must be a string of paths separated by commas")
	}
}
