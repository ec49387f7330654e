package schema

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema/ecmaregexp"
)

// constraints are the constraints of several schemas on one value, for which an example is made. References and composition are
// followed; of alternatives, round selects one.
type constraints struct {
	x            *exampler
	round        int
	alternatives int // rounds that make a difference
	refs         int // followed
	failed       bool

	given  [][]byte // const, examples, default, enum: in this order, compact JSON
	listed bool     // no other values are allowed
	types  types

	properties   []constrainedProperty
	required     []string
	needs        map[string][]string // dependentRequired
	additional   *jsonschema.Schema
	leastMembers int

	items, prefix, contains []*jsonschema.Schema
	leastItems, mostItems   int
	unique                  bool

	least, most  *big.Rat // numbers
	above, below bool     // the bound itself is not allowed
	steps        []*big.Rat

	shortest, longest int // texts; longest 0: any
	patterns          []string
	format            string
}

type constrainedProperty struct {
	name    string
	schemas []*jsonschema.Schema
}

func (d *constraints) property(name string) []*jsonschema.Schema {
	for i := range d.properties {
		if d.properties[i].name == name {
			return d.properties[i].schemas
		}
	}
	return nil
}

// take adds a schema to the constraints; nil accepts everything.
func (d *constraints) take(s *jsonschema.Schema) {
	if d.refs++; d.refs > maxExampleRefs {
		d.failed = true
		return
	}
	if !s.IsObject() {
		d.failed = d.failed || s.Never()
		return
	}
	d.values(s)
	for _, k := range s.Keywords() {
		switch k.Name {
		case "$ref":
			if target := s.Target(); target != nil {
				d.take(target)
			}
		case "allOf":
			for _, part := range k.Parts {
				d.take(part.Schema)
			}
		case "anyOf", "oneOf":
			d.choose(d.x.nearest(k.Schemas()))
		case "if":
			// A value for which the condition is of no account, else one for which it holds, else one for which it does not.
			d.choose([]*jsonschema.Schema{nil, s.Schema("then"), s.Schema("else")})
		case "type":
			if set := typesIn(k); d.types == 0 {
				d.types = set
			} else {
				d.types &= set
				d.failed = d.failed || d.types == 0
			}
		default:
			d.keyword(k)
		}
	}
}

// choose takes one of several alternatives.
func (d *constraints) choose(all []*jsonschema.Schema) {
	if len(all) == 0 {
		return
	}
	d.alternatives = max(d.alternatives, len(all))
	d.take(all[min(d.round, len(all)-1)])
}

// values adds what the schema itself gives for values.
func (d *constraints) values(s *jsonschema.Schema) {
	add := func(value []byte) { d.given = append(d.given, jsonscan.AppendCompact(nil, value)) }
	if value := s.Value("const"); value != nil {
		d.listed = true
		add(value)
	}
	for value := range jsonscan.Elements(s.Value("examples")) {
		add(value)
	}
	if value := s.Value("default"); value != nil {
		add(value)
	}
	if list := s.Value("enum"); list != nil {
		d.listed = true
		n := 0
		for value := range jsonscan.Elements(list) {
			if n++; n <= maxExampleItems {
				add(value)
			}
		}
	}
}

func (d *constraints) keyword(k jsonschema.Keyword) {
	switch name, value := k.Name, k.Value; name {
	case "properties":
		for _, property := range k.Parts {
			i := slices.IndexFunc(d.properties, func(p constrainedProperty) bool { return p.name == property.Name })
			if i < 0 {
				i = len(d.properties)
				d.properties = append(d.properties, constrainedProperty{name: property.Name})
			}
			d.properties[i].schemas = append(d.properties[i].schemas, property.Schema)
		}
	case "required":
		for _, s := range k.Texts() {
			if !slices.Contains(d.required, s) {
				d.required = append(d.required, s)
			}
		}
	case "dependentRequired":
		for property, list := range jsonscan.Members(value) {
			if d.needs == nil {
				d.needs = map[string][]string{}
			}
			for item := range jsonscan.Elements(list) {
				d.needs[string(property)] = append(d.needs[string(property)], string(jsonscan.Unquote(item)))
			}
		}
	case "additionalProperties":
		if k.Schema().IsObject() {
			d.additional = k.Schema()
		}
	case "minProperties":
		d.leastMembers = max(d.leastMembers, whole(value))
	case "items":
		d.items = append(d.items, k.Schema())
	case "prefixItems":
		d.prefix = k.Schemas()
	case "contains":
		d.contains = append(d.contains, k.Schema())
	case "minItems":
		d.leastItems = max(d.leastItems, whole(value))
	case "maxItems":
		d.mostItems = min(d.mostItems, whole(value))
	case "uniqueItems":
		d.unique = string(value) == "true"
	case "minLength":
		d.shortest = max(d.shortest, whole(value))
	case "maxLength":
		if n := whole(value); d.longest == 0 || n < d.longest {
			d.longest = n
		}
	case "pattern":
		d.patterns = append(d.patterns, k.Text())
	case "format":
		d.format = k.Text()
	case "contentEncoding":
		if d.format == "" {
			d.format = "byte"
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		d.bound(name, value)
	}
}

func whole(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return math.MaxInt32
	}
	return n
}

func (d *constraints) bound(keyword string, value []byte) {
	if !saneNumber(string(value)) {
		return
	}
	r, ok := new(big.Rat).SetString(string(value))
	switch {
	case !ok:
	case keyword == "multipleOf":
		if r.Sign() > 0 {
			d.steps = append(d.steps, r)
		}
	case strings.HasSuffix(strings.ToLower(keyword), "minimum"):
		if d.least == nil || r.Cmp(d.least) >= 0 {
			d.least, d.above = r, keyword == "exclusiveMinimum"
		}
	default:
		if d.most == nil || r.Cmp(d.most) <= 0 {
			d.most, d.below = r, keyword == "exclusiveMaximum"
		}
	}
}

// kinds lists the types that are worth trying.
func (d *constraints) kinds() []types {
	set := d.types
	if set == 0 {
		switch {
		case len(d.properties)+len(d.required)+d.leastMembers > 0 || d.additional != nil:
			set = objectType
		case len(d.items)+len(d.prefix)+d.leastItems > 0:
			set = arrayType
		case d.least != nil || d.most != nil || len(d.steps) > 0:
			set = numberType
		default:
			set = stringType
		}
	}
	var out []types
	for t := stringType; t <= nullType; t <<= 1 {
		if set&t != 0 {
			out = append(out, t)
		}
	}
	return out
}

// number returns a number within the bounds: 1 where it is allowed, else one near a bound.
func (d *constraints) number(kind types, nth int) ([]byte, bool) {
	var candidates []*big.Rat
	one, step := big.NewRat(1, 1), big.NewRat(1, 1)
	for _, s := range d.steps {
		if s.Cmp(step) > 0 || !s.IsInt() {
			step = s
		}
	}
	near := func(r *big.Rat) { // the multiples of step next to r
		q := new(big.Rat).Quo(r, step)
		floor := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: rounds down, since Denom is above zero
		for _, add := range []int64{0, 1, -1} {
			n := new(big.Rat).SetInt(new(big.Int).Add(floor, big.NewInt(add)))
			candidates = append(candidates, n.Mul(n, step))
		}
	}
	candidates = append(candidates, one)
	if d.least != nil {
		near(d.least)
		candidates = append(candidates, d.least)
	}
	if d.most != nil {
		near(d.most)
		candidates = append(candidates, d.most)
	}
	if d.least != nil && d.most != nil {
		candidates = append(candidates, new(big.Rat).Mul(new(big.Rat).Add(d.least, d.most), big.NewRat(1, 2)))
	}
	candidates = append(candidates, step, new(big.Rat))
	by := new(big.Rat).Mul(step, big.NewRat(int64(nth), 1))
	for _, r := range candidates {
		r = new(big.Rat).Add(r, by)
		if !d.allows(r) || kind == integerType && !r.IsInt() {
			continue
		}
		if r.IsInt() {
			return []byte(r.Num().String()), true
		}
		if digits, exact := r.FloatPrec(); exact && digits < 20 {
			return []byte(r.FloatString(digits)), true
		}
	}
	return nil, false
}

func (d *constraints) allows(r *big.Rat) bool {
	if d.least != nil && (r.Cmp(d.least) < 0 || d.above && r.Cmp(d.least) == 0) ||
		d.most != nil && (r.Cmp(d.most) > 0 || d.below && r.Cmp(d.most) == 0) {
		return false
	}
	for _, s := range d.steps {
		if !new(big.Rat).Quo(r, s).IsInt() {
			return false
		}
	}
	return true
}

// text returns a text of the format, one that is marked as invented, one that is plausible under its name, or one that the pattern
// describes. marked tells that it shows that it was invented.
func (d *constraints) text(name string, nth int) (text []byte, marked, ok bool) {
	if d.shortest > 200 {
		return nil, false, false
	}
	var candidates []string
	if text := formatExamples[d.format]; text != "" {
		candidates = append(candidates, text)
	}
	mark := d.mark(name, nth)
	candidates = append(candidates, mark, d.stretch(plausible(name), nth))
	var checks []*regexp.Regexp
	for _, p := range d.patterns {
		parsed, err := ecmaregexp.Parse(p)
		if err != nil || parsed.RE2 == "" {
			return nil, false, false // unknown whether any text matches
		}
		re, err := regexp.Compile(parsed.RE2)
		if err != nil {
			return nil, false, false
		}
		checks = append(checks, re)
		candidates = append(candidates, parsed.Samples()...)
	}
	for _, text := range candidates {
		if n := utf8.RuneCountInString(text); n < d.shortest || d.longest > 0 && n > d.longest {
			continue
		}
		if slices.ContainsFunc(checks, func(re *regexp.Regexp) bool { return !re.MatchString(text) }) {
			continue
		}
		return jsonscan.AppendString(nil, text), text == mark, true
	}
	return nil, false, false
}

// mark returns a text that shows that it stands for another: the name in angle brackets.
func (d *constraints) mark(name string, nth int) string {
	if !plainName(name) {
		name = "value"
	}
	if nth > 0 {
		name += strconv.Itoa(nth + 1)
	}
	if n := d.shortest - len(name) - len("<>"); n > 0 {
		name += strings.Repeat("x", n)
	}
	return "<" + name + ">"
}

// stretch gives a text the length that is asked for, and a number if it has to differ from others.
func (d *constraints) stretch(text string, nth int) string {
	if n := d.shortest - len(text); n > 0 {
		text += strings.Repeat("x", n)
	}
	number := ""
	if nth > 0 {
		number = strconv.Itoa(nth + 1)
	}
	if room := d.longest - len(number); d.longest > 0 && room >= 0 && len(text) > room {
		if text = strings.TrimSpace(text[:room]); len(text)+len(number) < d.shortest {
			text += strings.Repeat("x", d.shortest-len(text)-len(number))
		}
	}
	return text + number
}

// formatExamples are texts of the formats of JSON Schema (validation, section 7.3) and of the OpenAPI registry.
var formatExamples = map[string]string{
	"date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31", "time": "12:00:00Z", "duration": "P1D",
	"email": "user@example.com", "idn-email": "user@example.com", "hostname": "example.com", "idn-hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/", "url": "https://example.com/", "iri": "https://example.com/",
	"uri-reference": "/path", "iri-reference": "/path", "uri-template": "/path/{id}", "json-pointer": "/name", "relative-json-pointer": "0",
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "byte": "aGVsbG8=", "binary": "aGVsbG8=", "base64url": "aGVsbG8", "regex": "^a",
}
