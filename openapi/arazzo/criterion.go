package arazzo

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"drawbridge/openapi/overlay/jsonpath"
	"drawbridge/openapi/tree"
)

// QueryType is the language of a condition or a selector.
type QueryType string

// The types. XPath is known, but not supported.
const (
	Simple      QueryType = "simple"
	Regex       QueryType = "regex"
	JSONPath    QueryType = "jsonpath"
	JSONPointer QueryType = "jsonpointer"
	XPath       QueryType = "xpath"
)

const (
	maxPattern  = 1000       // bytes of a regular expression
	maxRepeated = 10_000     // characters of one, with those that it repeats
	maxMatching = 50_000_000 // of these times the bytes of the text that it is matched against: the time of matching is their product
	maxSubject  = 1 << 20    // bytes of this text
	maxSteps    = 10_000_000 // of one JSONPath query
	maxComposed = 16 << 20   // bytes of a value that is composed of others: each may be large, and stand in it several times
	maxVersions = 64         // bytes of a version in an error
)

var errXPath = errors.New("XPath is not supported; use jsonpath, or a JSON Pointer in an expression such as $response.body#/id")

// Criterion is a Criterion Object.
type Criterion struct {
	Position    tree.Position // of the condition, if it was read from a description
	kind        QueryType
	context     Expression
	hasContext  bool
	simple      node            // of Simple
	pattern     *regexp.Regexp  // of Regex without expressions
	repeated    int             // characters of the pattern, with those that it repeats
	query       *jsonpath.Query // of JSONPath without expressions
	text        *Template       // of the others with expressions
	expressions []Expression
}

// ParseCriterion parses a criterion. context is "" if it has none, kind is "" for Simple, and version is that of an Expression Type Object,
// or "". The error has all faults.
func ParseCriterion(context, condition string, kind QueryType, version string) (*Criterion, error) {
	c := &Criterion{kind: kind, hasContext: context != ""}
	if kind == "" {
		c.kind = Simple
	}
	var faults []error
	if c.hasContext {
		var err error
		if c.context, err = ParseExpression(context); err != nil {
			faults = append(faults, fmt.Errorf("context: %w", err))
		} else {
			c.expressions = append(c.expressions, c.context)
		}
	} else if c.kind != Simple {
		faults = append(faults, fmt.Errorf("a criterion of type %s needs a context, such as $response.body", c.kind))
	}
	if err := checkVersion(c.kind, version); err != nil {
		faults = append(faults, err)
	}
	if err := c.parseCondition(condition); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return c, nil
}

// checkVersion checks the version of an Expression Type Object. RFC 9535 is read for the draft that preceded it, whose queries are mostly the same.
func checkVersion(kind QueryType, version string) error {
	known := map[QueryType][]string{JSONPath: {"rfc9535", "draft-goessner-dispatch-jsonpath-00"}, JSONPointer: {"rfc6901"}}[kind]
	if version == "" || kind == XPath {
		return nil
	}
	for _, v := range known {
		if version == v {
			return nil
		}
	}
	return fmt.Errorf("the version %.*q of %s is unknown; known are: %s", maxVersions, version, kind, strings.Join(known, ", "))
}

func (c *Criterion) parseCondition(condition string) error {
	if len(condition) > maxText {
		return fmt.Errorf("the condition has %d bytes; at most %d are allowed", len(condition), maxText)
	}
	switch c.kind {
	case Simple:
		simple, expressions, err := parseCondition(condition)
		c.simple, c.expressions = simple, append(c.expressions, expressions...)
		return err
	case XPath:
		return errXPath
	case Regex, JSONPath:
		t, err := ParseTemplate(condition)
		if err != nil {
			return err
		}
		if len(t.expressions) > 0 {
			c.text, c.expressions = t, append(c.expressions, t.expressions...)
			return nil
		}
		return c.compile(condition)
	case JSONPointer:
	}
	return fmt.Errorf("the type %q of a criterion is unknown; it must be simple, regex, jsonpath or xpath", c.kind)
}

// compile compiles the text of a regular expression or query.
func (c *Criterion) compile(text string) (err error) {
	if c.kind == JSONPath {
		c.query, err = jsonpath.Parse(text)
		return err
	}
	if len(text) > maxPattern {
		return fmt.Errorf("the regular expression has %d bytes; at most %d are allowed", len(text), maxPattern)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	if c.repeated = repeated(parsed); c.repeated > maxRepeated {
		return fmt.Errorf("the regular expression has %d characters with those that it repeats; at most %d are allowed", c.repeated, maxRepeated)
	}
	c.pattern, err = regexp.Compile(text)
	return err
}

// repeated returns the characters of a regular expression, with those that it repeats.
func repeated(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, part := range re.Sub {
		n += repeated(part)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// Expressions returns the expressions of the context and the condition. The caller must not change them.
func (c *Criterion) Expressions() []Expression { return c.expressions }

// Holds reports whether the criterion is satisfied. A criterion that can't be evaluated is not, and the error says why (Arazzo 1.1.0,
// "Evaluation Errors").
func (c *Criterion) Holds(s Scope) (bool, error) {
	if c.kind == Simple {
		return isTrue(c.simple.value(s)), nil
	}
	context, ok := c.context.Evaluate(s)
	if !ok {
		return false, fmt.Errorf("%s has no value", c.context)
	}
	if c.text != nil {
		write := c.text.Text // an expression in a regular expression may stand for a pattern
		if c.kind == JSONPath {
			write = c.text.Query
		}
		text, err := write(s)
		if err != nil {
			return false, err
		}
		compiled := Criterion{kind: c.kind}
		if err := compiled.compile(text); err != nil {
			return false, err
		}
		c = &compiled
	}
	if c.kind == JSONPath {
		found, err := selectNodes(c.query, context)
		return len(found) > 0, err
	}
	subject := plain(context)
	if len(subject) > maxSubject {
		return false, fmt.Errorf("the context has %d bytes; a regular expression is matched against at most %d", len(subject), maxSubject)
	}
	if len(subject)*c.repeated > maxMatching {
		return false, fmt.Errorf("the regular expression takes too long for a context of %d bytes", len(subject))
	}
	return c.pattern.MatchString(subject), nil
}
