package config

// Progress locates the progress of a call in the events of a streamed response.
type Progress struct {
	// The number that reports progress. If set, events without it are not reported.
	Progress Pointer `yaml:"progress,omitempty" absent:"/progress; without a number there, the number of events"`
	// Where an event has the final value of the progress.
	Total Pointer `yaml:"total,omitempty" absent:"/total"`
	// Where an event has a message for the user.
	Message Pointer `yaml:"message,omitempty" absent:"/message"`
	// A log message: a string, or an object with level and text.
	Log Pointer `yaml:"log,omitempty" absent:"/log"`
	// The result in the last event, returned in place of all events. The tool has no output schema.
	Result Pointer `yaml:"result,omitempty" absent:"all events are returned"`
	// Reports nothing before the result. It excludes all other keys but result.
	Hide bool `yaml:"hide,omitempty" absent:"false"`

	off bool // written as false
}

func (p *Progress) short() short { return switchedOff(&p.off) }

// On reports whether something is said: it may be nil, or written as false.
func (p *Progress) On() bool { return p != nil && !p.off }

func (p *Progress) validate(c cursor) {
	if !p.Hide || c.faulty("") {
		return
	}
	for _, name := range []string{"progress", "total", "message", "log"} {
		if c.given(name) {
			c.errorf(name, "has no effect: hide is true, and nothing is told")
		}
	}
}
