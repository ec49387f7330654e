package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// Limits of one prompt.
const (
	maxPromptArguments = 50
	maxPromptMessages  = 50
	maxPromptCalls     = 8 // messages that are made by calls
	maxPromptText      = 64 << 10
	maxPromptValues    = 1000
)

var promptID = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,128}\z`)

// prompt checks one prompt. The key is "" if it is alone in its file.
func (l *loader) prompt(cfg *Config, key string, p *Prompt) {
	at := func(name string) string { return join(key, name) }
	switch name := at("name"); {
	case !l.ok(name):
	case p.Name == "":
		l.errorf(name, "is required")
	case !promptID.MatchString(p.Name):
		l.errorf(name, "%s must consist of letters, digits, _, - and ., at most 128", quote(p.Name))
	}
	l.most(at("title"), p.Title, 200)
	l.most(at("description"), p.Description, 4096)
	l.promptAccess(cfg, key, p)
	l.promptArguments(at("arguments"), p)
	if inputs := at("inputs"); l.given(inputs) && len(p.Inputs) == 0 && l.ok(inputs) {
		l.errorf(inputs, "is empty; leave it out")
	}
	l.inputs(cfg, at("inputs"), p.Inputs)
	messages := at("messages")
	switch {
	case !l.ok(messages):
	case len(p.Messages) == 0:
		l.errorf(messages, "is required: a list of messages, such as {role: user, text: …}, or else file")
	case len(p.Messages) > maxPromptMessages:
		l.errorf(messages, "has more than %d messages", maxPromptMessages)
	}
	used, calls := map[string]bool{}, 0
	for i := range p.Messages {
		m := fmt.Sprintf("%s[%d]", messages, i)
		l.promptMessage(m, p, &p.Messages[i], used)
		if p.Messages[i].Text.IsZero() {
			if calls++; calls == maxPromptCalls+1 {
				l.errorf(m, "is the answer of a call, and the prompt makes more than %d of these", maxPromptCalls)
			}
		}
	}
	if l.faultyList(messages) || len(p.Messages) == 0 {
		return // the place may be in what could not be read
	}
	for i, a := range p.Arguments {
		if k := fmt.Sprintf("%s[%d].name", at("arguments"), i); a.Name != "" && !used[a.Name] && l.ok(k) {
			l.warnf(k, "no message has a place {{%s}}, so what is filled in is not used", a.Name)
		}
	}
}

// faultyList reports whether a list or something in it has an error.
func (l *loader) faultyList(key string) bool {
	for k := range l.failed {
		if k == key || strings.HasPrefix(k, key+"[") {
			return true
		}
	}
	return false
}

// promptAccess checks who may have a prompt, and where.
func (l *loader) promptAccess(cfg *Config, key string, p *Prompt) {
	scopes, endpoints := join(key, "scopes"), join(key, "endpoints")
	l.scopes(scopes, p.Scopes)
	if l.given(scopes) && l.ok(scopes) {
		switch {
		case cfg.Auth == nil || cfg.Auth.Anonymous:
			l.warnf(scopes, "has no effect: without auth.issuers nobody is asked for a token")
		case len(p.Scopes) == 0 && !cfg.Auth.AllowUnscoped:
			l.errorf(scopes, "is empty, which auth.allow_unscoped must allow")
		}
	}
	if l.given(endpoints) && len(p.Endpoints) == 0 && l.ok(endpoints) {
		l.errorf(endpoints, "is empty; leave it out")
	}
	var names []string
	for _, e := range cfg.Endpoints {
		names = append(names, e.Name)
	}
	for i, name := range p.Endpoints {
		switch k := fmt.Sprintf("%s[%d]", endpoints, i); {
		case !l.ok(k):
		case !slices.Contains(names, name):
			l.errorf(k, "no endpoint is named %s%s", quote(name), text.DidYouMean(text.Nearest(name, names)))
		case slices.Contains(p.Endpoints[:i], name):
			l.errorf(k, "%s is listed twice", quote(name))
		}
	}
}

func (l *loader) promptArguments(key string, p *Prompt) {
	if len(p.Arguments) > maxPromptArguments {
		l.errorf(key, "has more than %d arguments", maxPromptArguments)
	}
	for i := range p.Arguments {
		a, k := &p.Arguments[i], fmt.Sprintf("%s[%d]", key, i)
		switch name := k + ".name"; {
		case !l.ok(name) || a.Name == "":
		case !isPlace.MatchString(a.Name):
			l.errorf(name, "%s must be a letter or _, then letters, digits, _, - and ., at most 64", quote(a.Name))
		case slices.ContainsFunc(p.Arguments[:i], func(other PromptArgument) bool { return other.Name == a.Name }):
			l.errorf(name, "%s is listed twice", quote(a.Name))
		}
		l.most(k+".title", a.Title, 200)
		l.most(k+".description", a.Description, 1024)
		values := k + ".values"
		switch {
		case !l.ok(values):
		case l.given(values) && len(a.Values) == 0:
			l.errorf(values, "is empty; leave it out")
		case len(a.Values) > maxPromptValues:
			l.errorf(values, "has more than %d values", maxPromptValues)
		}
		if a.Complete != nil {
			l.promptCompletion(k+".complete", p, a)
		}
	}
}

func (l *loader) promptCompletion(key string, p *Prompt, a *PromptArgument) {
	if len(a.Values) > 0 && l.ok(key) {
		l.errorf(key, "can't stand beside values")
	}
	known := []string{TypedPlace}
	for _, other := range p.Arguments {
		if other.Name != a.Name && other.Name != TypedPlace {
			known = append(known, other.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Complete.Arguments)) {
		for _, place := range a.Complete.Arguments[name].Places() {
			k := key + ".arguments." + name
			switch {
			case slices.Contains(known, place):
			case place == a.Name:
				l.errorf(k, "the place {{%s}} is for what is being filled in: what was typed of it is {{%s}}", place, TypedPlace)
			default:
				l.errorf(k, "the place {{%s}} is for an argument that the prompt does not have%s", place, text.DidYouMean(text.Nearest(place, known)))
			}
		}
	}
}

// promptMessage checks a message, and notes the arguments that it uses.
func (l *loader) promptMessage(key string, p *Prompt, m *PromptMessage, used map[string]bool) {
	kinds := 0
	for _, kind := range []string{"text", "resource", "tool"} {
		if l.given(key + "." + kind) {
			kinds++
		}
	}
	if kinds != 1 && l.ok(key) && l.given(key) && !l.faulty(key) {
		l.errorf(key, "needs exactly one of text, resource and tool")
	}
	text := key + ".text"
	l.most(text, m.Text.String(), maxPromptText)
	l.places(text, p, m.Text.Places(), used)
	resource := key + ".resource"
	if err := m.Resource.checkURI(); !m.Resource.IsZero() && err != nil {
		l.errorf(resource, "%s", err)
	}
	l.most(resource, m.Resource.String(), maxURITemplate)
	l.places(resource, p, m.Resource.Places(), used)
	arguments := key + ".arguments"
	if l.given(arguments) && m.Tool == "" && l.ok(arguments, key+".tool") {
		l.errorf(arguments, "needs tool")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Arguments)) {
		l.places(arguments+"."+name, p, m.Arguments[name].Places(), used)
	}
}

// places checks that there is an argument for each place.
func (l *loader) places(key string, p *Prompt, names []string, used map[string]bool) {
	if !l.ok(key) {
		return
	}
	var known []string
	for _, a := range p.Arguments {
		known = append(known, a.Name)
	}
	for _, name := range names {
		if used[name] = true; !slices.Contains(known, name) {
			l.errorf(key, "the place {{%s}} is for an argument that the prompt does not have%s", name, text.DidYouMean(text.Nearest(name, known)))
		}
	}
}
