package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// maxPromptCalls bounds the messages of a prompt that are made by calls.
const maxPromptCalls = 8

var promptID = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,128}\z`)

func (p *Prompt) validate(c cursor) {
	c.validateAccess(p.Scopes, p.Endpoints)
	if c.given("file") { // its prompts are checked with their files
		return
	}
	switch {
	case !c.ok("name"):
	case p.Name == "":
		c.errorf("name", "is required")
	case !promptID.MatchString(p.Name):
		c.errorf("name", "%s must consist of letters, digits, _, - and ., at most 128", quote(p.Name))
	}
	validateInputs(c, "inputs", p.Inputs)
	if len(p.Messages) == 0 && c.ok("messages") {
		c.errorf("messages", "is required: a list of messages, such as {role: user, text: …}, or else file")
	}
	used, calls := map[string]bool{}, 0
	for i := range p.Messages {
		for _, places := range p.Messages[i].places() {
			for _, place := range places {
				used[place] = true
			}
		}
		if p.Messages[i].Text.IsZero() {
			if calls++; calls == maxPromptCalls+1 {
				c.errorf(c.item("messages", i), "is the answer of a call, and the prompt makes more than %d of these", maxPromptCalls)
			}
		}
	}
	if c.faultyItem("messages") || len(p.Messages) == 0 {
		return // the place may be in what could not be read
	}
	for i, a := range p.Arguments {
		if at := c.item("arguments", i) + ".name"; a.Name != "" && !used[a.Name] && c.ok(at) {
			c.warnf(at, "no message has a place {{%s}}, so what is filled in is not used", a.Name)
		}
	}
}

// faultyItem reports whether a list or something in it has an error.
func (c cursor) faultyItem(list string) bool {
	for k := range c.failed {
		if key := c.path(list); k == key || strings.HasPrefix(k, key+"[") {
			return true
		}
	}
	return false
}

// validateAccess checks the scopes and the endpoints of a prompt or a skill.
func (c cursor) validateAccess(scopes, endpoints []string) {
	c.scopeless("scopes", scopes)
	var names []string
	for _, e := range c.config().Endpoints {
		names = append(names, e.Name)
	}
	for i, name := range endpoints {
		if at := c.item("endpoints", i); c.ok(at) && !slices.Contains(names, name) {
			c.errorf(at, "no endpoint is named %s%s", quote(name), text.DidYouMean(text.Nearest(name, names)))
		}
	}
}

func (a *PromptArgument) validate(c cursor) {
	same := func(other PromptArgument) bool { return other.Name == a.Name }
	switch {
	case !c.ok("name") || a.Name == "":
	case !isPlace.MatchString(a.Name):
		c.errorf("name", "%s must be a letter or _, then letters, digits, _, - and ., at most 64", quote(a.Name))
	case slices.ContainsFunc(before(enclosing[Prompt](c).Arguments, a), same):
		c.errorf("name", "%s is listed twice", quote(a.Name))
	}
}

func (p *PromptCompletion) validate(c cursor) {
	of := enclosing[PromptArgument](c).Name
	known := []string{TypedPlace}
	for _, name := range enclosing[Prompt](c).argumentNames() {
		if name != of && name != TypedPlace {
			known = append(known, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Arguments)) {
		for _, place := range p.Arguments[name].Places() {
			at := join("arguments", name)
			switch {
			case slices.Contains(known, place):
			case place == of:
				c.errorf(at, "the place {{%s}} is for what is being filled in: what was typed of it is {{%s}}", place, TypedPlace)
			default:
				c.errorf(at, "the place {{%s}} is for an argument that the prompt does not have%s", place, text.DidYouMean(text.Nearest(place, known)))
			}
		}
	}
}

func (m *PromptMessage) validate(c cursor) {
	kinds := 0
	for _, kind := range []string{"text", "resource", "tool"} {
		if c.given(kind) {
			kinds++
		}
	}
	if kinds != 1 && c.ok("") && c.given("") && !c.faulty("") {
		c.errorf("", "needs exactly one of text, resource and tool")
	}
	if err := m.Resource.checkURI(); !m.Resource.IsZero() && err != nil {
		c.errorf("resource", "%s", err)
	}
	known := enclosing[Prompt](c).argumentNames()
	places := m.places()
	for _, at := range slices.Sorted(maps.Keys(places)) {
		for _, place := range places[at] {
			if !slices.Contains(known, place) && !c.unread(at) {
				c.errorf(at, "the place {{%s}} is for an argument that the prompt does not have%s", place, text.DidYouMean(text.Nearest(place, known)))
			}
		}
	}
}
