package history

import (
	"slices"
	"time"

	"drawbridge/openapi/text"
)

const (
	// MaxCalls is the number of last calls that are kept.
	MaxCalls = 500
	// MaxBody is the most bytes of arguments, and of an answer, that are kept of a call.
	MaxBody = 2048
)

// Step is a part of a call's life.
type Step int

// The steps, in order.
const (
	Admission Step = iota // limits, until the call may run
	Arguments             // validation, conditions and the user's consent
	Service               // cache, credentials, the request, and the header of the response
	Result                // reading and rendering the response
	Steps                 // the number of steps
)

// String returns the name of the step.
func (s Step) String() string { return [...]string{"admission", "arguments", "service", "result"}[s] }

// Call is one call, as it ended. Its texts are cut, see maxTexts.
type Call struct {
	Number uint64 // counts the calls since the start, from 1
	Time   time.Time
	RPC    string // the MCP method
	Tool   string // as the client named it, if there is no such tool
	API    string // "" for an unknown tool, and for one of the gateway's own
	Via    string // the gateway's own tool through which the tool was called, of a closed set; "" if it was called by its own name
	// Outcome is one of a closed set, and so is Cache: what the response cache did, or "" if it was not asked.
	Outcome, Cache string
	OK             bool // the outcome is no failure
	Status         int  // of the service's response; 0 if there was none
	Duration       time.Duration
	Steps          [Steps]time.Duration // 0 for those that were not reached
	Requests       int                  // sent to the service
	Sent           int64                // bytes of request bodies
	Received       int64                // bytes of response bodies
	Result         int64                // bytes of the texts of the result
	Caller         string               // subject of the token; "" without one
	Client         string               // client id of the token
	Request        string               // request id; "" if no log line, header or proxy has it
	Trace          [16]byte             // trace id; zero without tracing
	// Arguments and Answer are their first bytes; empty unless Options.Bodies.
	Arguments, Answer []byte
}

// texts returns the texts whose memory is not the program's own.
func (c *Call) texts() [len(maxTexts)]*string {
	return [...]*string{&c.RPC, &c.Tool, &c.API, &c.Caller, &c.Client, &c.Request}
}

// maxTexts are the most bytes of each of the texts.
var maxTexts = [...]int{32, 128, 96, 128, 96, 64}

// maxText is the sum of maxTexts.
const maxText = 32 + 128 + 96 + 128 + 96 + 64

// slot is a place for a call, with memory for its texts.
type slot struct {
	call Call // without its texts; the memory of its bodies is the slot's
	text [maxText]byte
	ends [len(maxTexts)]uint16 // of the texts within text
}

// set replaces the call in the slot.
func (s *slot) set(c *Call, number uint64) {
	arguments, answer := s.call.Arguments[:0], s.call.Answer[:0]
	s.call = *c
	s.call.Number = number
	s.call.Arguments = append(arguments, c.Arguments[:min(len(c.Arguments), MaxBody)]...)
	s.call.Answer = append(answer, c.Answer[:min(len(c.Answer), MaxBody)]...)
	end := 0
	for i, raw := range s.call.texts() {
		if len(*raw) > maxTexts[i] {
			end += copy(s.text[end:], text.Prefix(*raw, maxTexts[i]-len(text.Ellipsis)))
			end += copy(s.text[end:], text.Ellipsis)
		} else {
			end += copy(s.text[end:], *raw)
		}
		s.ends[i] = uint16(end)
		*raw = ""
	}
}

// restored returns the call with its texts, in memory of its own.
func (s *slot) restored() Call {
	c, begin := s.call, uint16(0)
	all := string(s.text[:s.ends[len(s.ends)-1]])
	for i, text := range c.texts() {
		*text = all[begin:s.ends[i]]
		begin = s.ends[i]
	}
	c.Arguments, c.Answer = slices.Clone(c.Arguments), slices.Clone(c.Answer)
	return c
}
