package config

import (
	"slices"
	"strings"
)

func (o *JobOperation) validate(c cursor) {
	isCancel := enclosing[Job](c).Cancel == o
	switch {
	case c.faulty(""):
	case o.Operation == "" && o.Method == "":
		c.errorf("", "needs operation or method")
	case o.Operation != "" && o.Method != "":
		c.errorf("method", "can't stand beside operation, which has its own")
	case o.Operation == "" && len(o.Bind) > 0:
		c.errorf("bind", "needs operation: the job's URL has no arguments")
	case !isCancel && o.Method != "" && o.Method != JobGet:
		c.errorf("method", "must be GET: a look changes nothing")
	case isCancel && o.Method == JobGet:
		c.errorf("method", "must be DELETE or POST")
	}
}

func (a *JobAnswer) validate(c cursor) {
	if a.Content == "" && a.Action == "" && c.ok("") && !c.faulty("") {
		c.errorf("", "needs content or action: else nothing of the answer is sent")
	}
}

func (j *JobCallback) validate(c cursor) {
	switch {
	case c.fromDocument:
		c.errorf("", "can't stand in a document: who may call the gateway is the operator's to say")
	case len(c.config().configuredURLs()) == 0 && c.loader.ok("server.public_url", "server.public_urls"):
		c.errorf("", "needs server.public_url, which is where the service calls")
	}
}

func (s *CallbackSignature) validate(c cursor) {
	if c.ok("header") && s.Header != "" && !headerToken(s.Header) {
		c.errorf("header", "%s is not the name of a header", quote(s.Header))
	}
}

func (s *JobStates) validate(c cursor) {
	said := map[string]string{}
	for _, words := range s.all() {
		for i, word := range words.words {
			at, plain := c.item(words.name, i), PlainWord(word)
			switch before, twice := said[plain]; {
			case plain == "":
				c.errorf(at, "is no word")
			case twice && before != words.name:
				c.errorf(at, "%s stands among those of %s too", quote(word), before)
			}
			said[plain] = words.name
		}
	}
}

func (s *JobStates) empty() bool { return len(s.all()) == 0 }

type jobWords struct {
	name  string
	words []string
}

// all returns the words of the states that have some, by the key of the state.
func (s *JobStates) all() []jobWords {
	return slices.DeleteFunc([]jobWords{
		{"working", s.Working}, {"succeeded", s.Succeeded}, {"failed", s.Failed}, {"cancelled", s.Cancelled},
	}, func(w jobWords) bool { return len(w.words) == 0 })
}

// PlainWord returns a word for a state as it is compared: in lower case, without spaces, - and _.
func PlainWord(word string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(word))
}
