package projection

import (
	"strconv"

	"github.com/itchyny/gojq"

	"drawbridge/openapi/jsonscan"
)

// function is a function of jq that programs may call.
type function struct {
	// gives is the number of values for each input. Those of arguments come on top if they are values.
	gives cardinality
	// kinds are those of the result; 0 if it depends.
	kinds jsonscan.Kinds
	// input and args are what a step costs by the size of its input and of each argument.
	input, args charge
	// literal reports that the first argument must be a string literal: gojq keeps every regular expression that it compiles.
	literal bool
	// result is how the result follows from the input and the arguments.
	result resultRule
}

// signatureOf returns the name of a function with the number of its arguments.
func signatureOf(f *gojq.Func) string { return f.Name + "/" + strconv.Itoa(len(f.Args)) }

const (
	ofString = jsonscan.Kinds(jsonscan.String)
	ofBool   = jsonscan.Kinds(jsonscan.Bool)
	ofNumber = jsonscan.Kinds(jsonscan.Number)
	ofArray  = jsonscan.Kinds(jsonscan.Array)
	ofObject = jsonscan.Kinds(jsonscan.Object)
	ofNull   = jsonscan.Kinds(jsonscan.Null)
)

// functions are those that programs may call, by name and number of arguments. It is never written to.
var functions = map[string]function{
	"empty/0":  {gives: maybe},
	"select/1": {result: selected},
	"values/0": {result: inputOrNone}, "nulls/0": {result: inputOrNone}, "strings/0": {result: inputOrNone}, "numbers/0": {result: inputOrNone},
	"booleans/0": {result: inputOrNone}, "arrays/0": {result: inputOrNone}, "objects/0": {result: inputOrNone}, "iterables/0": {result: inputOrNone},
	"scalars/0": {result: inputOrNone},

	"map/1": {kinds: ofArray, result: mapped, input: byWidth}, "map_values/1": {result: mappedValues, input: byWidth}, "walk/1": {result: walked, input: bySize}, "recurse/0": {gives: many, input: bySize},

	"first/0": {result: oneElement}, "last/0": {result: oneElement}, "first/1": {result: oneOfArgument}, "last/1": {result: oneOfArgument},
	"limit/2": {result: manyOfArgument, args: byDigits},

	"isempty/1": {kinds: ofBool}, "any/0": {kinds: ofBool, input: byWidth}, "all/0": {kinds: ofBool, input: byWidth}, "any/2": {kinds: ofBool}, "all/2": {kinds: ofBool},
	"any/1": {kinds: ofBool, result: overElements, input: byWidth}, "all/1": {kinds: ofBool, result: overElements, input: byWidth},

	"length/0": {kinds: ofNumber, result: counted, input: byWidth},
	"keys/0":   {kinds: ofArray, input: byWidth}, "to_entries/0": {kinds: ofArray, input: byWidth}, "from_entries/0": {kinds: ofObject, input: byWidth}, "with_entries/1": {kinds: ofObject, result: overEntries, input: byWidth},
	"has/1": {kinds: ofBool, args: byDigits}, "in/1": {kinds: ofBool, input: byDigits}, "not/0": {kinds: ofBool}, "type/0": {kinds: ofString},

	"contains/1": {kinds: ofBool, input: byPairs}, "inside/1": {kinds: ofBool, input: byPairs}, "IN/1": {kinds: ofBool, input: byDigits, args: byDigits}, "index/1": {input: byPairs},
	"del/1": {result: deleted, input: byPaths}, "pick/1": {result: picked, input: byPaths},

	"sort/0": {result: rearranged, input: bySorting}, "unique/0": {result: rearranged, input: bySorting}, "reverse/0": {result: rearranged, input: bySize},
	"sort_by/1": {result: rearranged, input: bySize, args: byKeys}, "unique_by/1": {result: rearranged, input: bySize, args: byKeys}, "group_by/1": {kinds: ofArray, result: grouped, input: bySize, args: byKeys},
	"min/0": {result: oneElement, input: byDigits}, "max/0": {result: oneElement, input: byDigits}, "min_by/1": {result: oneElement, input: bySize, args: byKeys}, "max_by/1": {result: oneElement, input: bySize, args: byKeys},
	"flatten/0": {kinds: ofArray, input: bySize}, "flatten/1": {kinds: ofArray, input: bySize, args: byDigits},

	"tostring/0": {kinds: ofString, input: bySize}, "tojson/0": {kinds: ofString, input: bySize}, "fromjson/0": {input: byParsing},
	"ascii_downcase/0": {kinds: ofString, input: bySize}, "ascii_upcase/0": {kinds: ofString, input: bySize},
	"ltrimstr/1": {input: bySize, args: bySize}, "rtrimstr/1": {input: bySize, args: bySize}, "ltrim/0": {kinds: ofString, input: bySize}, "rtrim/0": {kinds: ofString, input: bySize},
	"trim/0":       {kinds: ofString, input: bySize},
	"startswith/1": {kinds: ofBool, input: bySize, args: bySize}, "endswith/1": {kinds: ofBool, input: bySize, args: bySize}, "join/1": {kinds: ofString, input: byPairs}, "split/1": {kinds: ofArray, input: bySize, args: bySize},

	"test/1": {kinds: ofBool, literal: true, input: byMatch, args: bySize}, "test/2": {kinds: ofBool, literal: true, input: byMatch, args: bySize},
	"scan/1": {gives: many, literal: true, input: byMatches, args: bySize}, "capture/1": {gives: many, kinds: ofObject, literal: true, input: byMatch, args: bySize},
	"sub/2": {kinds: ofString, literal: true, input: byMatch, args: bySize}, "gsub/2": {kinds: ofString, literal: true, input: byMatches, args: bySize},
}

// resultRule is how the result of a function follows from its input and its arguments.
type resultRule uint8

const (
	byKinds        resultRule = iota // kinds and gives say all
	selected                         // the input, if the argument holds
	inputOrNone                      // the input, or nothing
	mapped                           // an array of what the argument gives for each element
	mappedValues                     // the input with what the argument gives for each element
	walked                           // the input with what the argument gives for each part
	oneElement                       // an element of the input
	oneOfArgument                    // one of the values of the argument
	manyOfArgument                   // some of the values of the last argument
	overElements                     // something about all elements
	overEntries                      // an object
	counted                          // a number of things
	rearranged                       // the input with its elements in another order, or without some
	grouped                          // an array of arrays of elements of the input
	deleted                          // the input without parts
	picked                           // parts of the input
)

// result returns the result of a function by its rule.
func (c *checker) result(by resultRule, in value, args []*gojq.Query) value {
	switch by {
	case selected:
		return in.with(c.query(args[0], in).gives.times(maybe))
	case inputOrNone:
		return in.with(maybe)
	case mapped:
		return arrayOf(c.query(args[0], value{shape: c.elements(in, "map: ")}))
	case mappedValues:
		c.query(args[0], value{shape: c.elements(in, "map_values: ")})
	case walked:
		return value{gives: c.query(args[0], value{}).gives}
	case oneElement:
		c.each(in, args)
		return value{shape: c.elements(in, "")}
	case oneOfArgument:
		return c.query(args[0], in).with(maybe)
	case manyOfArgument:
		c.query(args[0], in)
		return c.query(args[1], in).with(many)
	case overElements:
		c.each(in, args)
	case overEntries:
		c.query(args[0], value{})
		return of(ofObject)
	case counted:
		return value{shape: integer()}
	case rearranged:
		c.each(in, args)
		return in.with(one)
	case grouped:
		c.each(in, args)
		return arrayOf(in.with(one))
	case deleted:
		return c.deleted(args[0], in)
	case picked:
		return c.picked(args[0], in)
	case byKinds:
	}
	return value{}
}

// formats are the formats of jq.
var formats = map[string]bool{
	"@text": true, "@json": true, "@html": true, "@uri": true, "@urid": true, "@csv": true, "@tsv": true, "@sh": true, "@base64": true, "@base64d": true,
}

// calculating are functions that give a number that jq calculates or reads, in binary floating point.
var calculating = map[string]bool{
	"add": true, "tonumber": true, "floor": true, "ceil": true, "round": true, "trunc": true, "sqrt": true, "cbrt": true, "pow": true, "log": true, "log2": true, "log10": true, "exp": true,
	"exp2": true, "exp10": true, "fabs": true, "abs": true, "range": true, "infinite": true, "nan": true, "significand": true, "frexp": true, "modf": true, "ldexp": true, "scalb": true,
	"fmod": true, "fmin": true, "fmax": true, "mktime": true, "fromdate": true, "todate": true, "strptime": true, "strftime": true, "gmtime": true,
	"fromdateiso8601": true, "todateiso8601": true, "implode": true, "explode": true, "nearbyint": true, "rint": true,
}

// outside are functions that read something else than the answer, or end the evaluation.
var outside = map[string]bool{
	"env": true, "$ENV": true, "input": true, "inputs": true, "input_filename": true, "input_line_number": true, "now": true, "debug": true, "stderr": true, "builtins": true,
	"modulemeta": true, "halt": true, "halt_error": true, "error": true, "get_search_list": true, "$__prog_args": true, "$__loc__": true, "localtime": true, "strflocaltime": true,
}
