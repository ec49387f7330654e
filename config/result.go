package config

// Result says how much of the answers of an operation clients get.
type Result struct {
	// An expression in jq, at most 4096 bytes, whose one value takes the place of the answer: a subset that selects, without
	// loops, definitions and calculations. Numbers keep their digits.
	Select string `yaml:"select,omitempty" absent:"the whole answer"`
	// The maximum number of elements of each array. Further ones are left out, and the result says how many.
	MaxItems int `yaml:"max_items,omitempty" min:"1" max:"1000000" absent:"any"`
	// The maximum number of tokens of the answer. Arrays lose elements at their end, then long strings are shortened, and the
	// result says what is left out.
	MaxTokens int `yaml:"max_tokens,omitempty" min:"50" max:"10000000" absent:"any"`
	// Gives the tool the optional argument _select: a list of the fields that the model wants, such as
	// items.id,items.owner.name. A tool that has an argument of that name keeps its own.
	SelectArgument bool `yaml:"select_argument" default:"false"`

	off bool // written as false
}

// turn makes what is as good as none, or, if on, an empty one, which is refused.
func (r *Result) turn(on bool) { r.off = !on }

// On reports whether something is said: it may be nil, or written as false.
func (r *Result) On() bool { return r != nil && !r.off }

// result checks the settings for answers. Expressions are compiled by those who evaluate them.
func (l *loader) result(key string, r *Result) {
	if !r.On() || !l.ok(key) || l.faulty(key) {
		return
	}
	if *r == (Result{}) {
		l.errorf(key, "is empty; say what is passed on, or leave it out")
	}
	l.most(key+".select", r.Select, 4096)
}
