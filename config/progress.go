package config

// Progress says where the events of a streamed answer tell how far the call is.
type Progress struct {
	// Where an event has the number that tells how far the call is. With this key events without it tell nothing.
	Progress Pointer `yaml:"progress,omitempty" absent:"/progress; as long as no event has a number there, events are counted"`
	// Where an event has the number that the progress will have at the end.
	Total Pointer `yaml:"total,omitempty" absent:"/total"`
	// Where an event has words for the user.
	Message Pointer `yaml:"message,omitempty" absent:"/message"`
	// Where an event has a log message: a string, or an object with level and text.
	Log Pointer `yaml:"log,omitempty" absent:"/log"`
	// Where the event that ends the stream has the result, which is the answer then, in place of all events. The tool has no
	// output schema. If no event has it, the answer is all events.
	Result Pointer `yaml:"result,omitempty" absent:"the answer is all events"`
	// Tells nothing before the answer. It excludes all other keys but result.
	Hide bool `yaml:"hide,omitempty" absent:"false"`

	off bool // written as false
}

// turn makes what is as good as none, or, if on, an empty one, which is refused.
func (p *Progress) turn(on bool) { p.off = !on }

// On reports whether something is said: it may be nil, or written as false.
func (p *Progress) On() bool { return p != nil && !p.off }
