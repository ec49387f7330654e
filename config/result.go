package config

// Result is the part of the responses of an operation that clients get.
type Result struct {
	// A jq expression that selects a part of the response, at most 4096 bytes. Loops, definitions and calculations are
	// not supported.
	Select string `yaml:"select,omitempty" absent:"the whole answer" length:"4096"`
	// Leaves out the members of JSON objects that are null. Elements of arrays stay. The result says how many are left out.
	DropNulls bool `yaml:"drop_nulls" default:"false"`
	// The maximum number of elements of each array. The result says how many are left out.
	MaxItems int `yaml:"max_items,omitempty" min:"1" max:"1000000" absent:"any"`
	// The maximum number of tokens. Arrays lose elements, then long strings are shortened, and the result says so. More than
	// limits.max_result_tokens raises that limit.
	MaxTokens int `yaml:"max_tokens,omitempty" min:"50" max:"10000000" absent:"limits.max_result_tokens"`
	// Adds the optional argument _select, by which the model lists the fields that it wants, such as
	// items.id,items.owner.name.
	SelectArgument bool `yaml:"select_argument" default:"false"`

	off bool // written as false
}

func (r *Result) short() short { return switchedOff(&r.off) }

// On reports whether something is said: it may be nil, or written as false.
func (r *Result) On() bool { return r != nil && !r.off }
