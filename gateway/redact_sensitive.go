package gateway

import (
	"net/http"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// sensitive hides what leaves no answer of a plan. It is immutable.
type sensitive struct {
	filter jsonscan.Filter
	names  map[string]bool // of members, wherever they stand
}

// sensitiveOf returns nil where nothing is hidden.
func sensitiveOf(set *config.SensitiveFields) *sensitive {
	if set == nil {
		return nil
	}
	s := &sensitive{names: map[string]bool{}}
	for field, action := range set.All() {
		fate := jsonscan.Drop
		if action == config.FieldMask {
			fate = jsonscan.Mask
		}
		if field.IsPlace() {
			s.filter.Pointer(field.String(), fate)
		} else {
			s.filter.Name(field.String(), fate)
			s.names[field.String()] = true
		}
	}
	return s
}

// readResponse reads an answer to the plan's request as [answer.Plan.Read] does. Nobody sees a part of it before what is
// sensitive is hidden, and that is not looked for before what is unseen is gone: a character of no width would make another name
// or another secret of it. Errors are always cleaned: their words are for a model alone.
func (c *call) readResponse(resp *http.Response, emit func(answer.Part) error) error {
	s, clean := c.plan.sensitive, c.plan.clean || resp.StatusCode >= 300
	if s == nil && c.hiding == nil && !clean {
		return c.plan.Operation.Answers.Read(resp, emit)
	}
	return c.plan.Operation.Answers.Read(resp, func(part answer.Part) error {
		if clean {
			part.Clean()
		}
		if s != nil {
			s.apply(&part)
		}
		for _, more := range c.hiding {
			more.apply(&part)
		}
		return emit(part)
	})
}

// withheld stands in the place of what can't be looked into.
const withheld = "[withheld by the gateway: this part of the answer is not JSON, and may hold what is hidden of it]"

// apply hides what is sensitive in a part of an answer. A text or bytes that are no JSON can't be taken apart: they are withheld if
// they are labelled so, or name what is sensitive; and so is an event by itself that is a text. Pictures and sound are let alone.
func (s *sensitive) apply(p *answer.Part) {
	if s.names[p.Field] && p.Field != "" {
		p.Kind, p.MediaType, p.Data = answer.Text, "text/plain", []byte("[hidden]")
		return
	}
	switch p.Kind {
	case answer.JSON:
		p.Data = s.filter.Apply(p.Data)
		said := false
		p.ReplaceTexts(func(text []byte) []byte {
			if !s.filter.Mentions(text) {
				return text
			}
			if said { // in full for one event: thousands of short ones would make an answer twelve times as large
				return []byte("[hidden]")
			}
			said = true
			return []byte(withheld)
		})
		return
	case answer.Text, answer.Binary:
	case answer.Image, answer.Audio:
		return
	}
	if _, err := jsonscan.Scan(p.Data, jsonscan.Options{}); err == nil {
		p.Data = s.filter.Apply(p.Data)
		return
	}
	if strings.Contains(p.MediaType, "json") || s.filter.Mentions(p.Data) {
		p.Kind, p.MediaType, p.Data = answer.Text, "text/plain", []byte(withheld)
	}
}

// applyEvent hides what is sensitive in one event, whose place in the answer is that of an element of an array; nil if nothing is
// left of it.
func (s *sensitive) applyEvent(event []byte) []byte {
	array := append(append(append(make([]byte, 0, len(event)+2), '['), event...), ']')
	array = s.filter.Apply(array)
	return array[1 : len(array)-1]
}
