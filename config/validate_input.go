package config

import (
	"fmt"
	"regexp"
)

var inputKey = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,64}\z`)

// Bounds of the questions of one tool.
const (
	maxInputs  = 20
	maxMessage = 1000
	maxWritten = 16 << 10 // bytes of a form, or of params
)

// inputs checks what a call asks. Whether the arguments exist is found out with the document.
func (l *loader) inputs(cfg *Config, list string, inputs []Input) {
	if len(inputs) > maxInputs {
		l.errorf(list, "has %d questions, more than %d", len(inputs), maxInputs)
	}
	keys, bound := map[string]bool{}, map[string]string{}
	for i := range inputs {
		in, key := &inputs[i], fmt.Sprintf("%s[%d]", list, i)
		in.foreign = l.fromDocument
		if name := key + ".key"; in.Key != "" && l.ok(name) {
			switch {
			case !inputKey.MatchString(in.Key):
				l.errorf(name, "%s must consist of letters, digits, _, - and ., at most 64", quote(in.Key))
			case in.Key == "confirm":
				l.errorf(name, "\"confirm\" is the key of the question for consent; take another")
			case keys[in.Key]:
				l.errorf(name, "%s is the key of an earlier question", quote(in.Key))
			}
			keys[in.Key] = true
		}
		if i > 0 && in.Step < inputs[i-1].Step && l.ok(key+".step", fmt.Sprintf("%s[%d].step", list, i-1)) {
			l.errorf(key+".step", "is before that of the question above it, %d: questions stand in the order of their steps", inputs[i-1].Step)
		}
		l.most(key+".message", in.Message, maxMessage)
		l.most(key+".schema", string(in.Schema), maxWritten)
		l.most(key+".params", string(in.Params), maxWritten)
		if l.ok(key + ".kind") {
			l.inputKind(cfg, key, in)
		}
		for argument := range l.bindings(key, in) {
			if earlier, twice := bound[argument]; twice {
				l.errorf(key, "the argument %s is asked for by the question %s too", quote(argument), quote(earlier))
			}
			bound[argument] = in.Key
		}
	}
}

// inputKind checks that an input has what its kind needs, and nothing else.
func (l *loader) inputKind(cfg *Config, key string, in *Input) {
	has := map[string]bool{}
	for _, name := range []string{"arguments", "schema", "url", "params", "bind", "message", "when", "no_secrets"} {
		has[name] = l.given(key + "." + name)
	}
	refuse := func(names ...string) {
		for _, name := range names {
			if has[name] {
				l.errorf(key+"."+name, "has no meaning for kind %s", in.Kind)
			}
		}
	}
	need := func(name string) {
		if !has[name] {
			l.errorf(key, "kind %s needs %s", in.Kind, name)
		}
	}
	switch in.Kind {
	case InputForm:
		refuse("url", "params")
		switch {
		case has["arguments"] && has["schema"]:
			l.errorf(key+".schema", "can't stand beside arguments: the form is made of either")
		case has["arguments"] && has["bind"]:
			l.errorf(key+".bind", "has no meaning beside arguments: each field gives the argument of its name")
		case has["arguments"] && len(in.Arguments) == 0 && l.ok(key+".arguments"):
			l.errorf(key+".arguments", "is empty; name the arguments to ask for")
		case !has["arguments"] && !has["schema"]:
			l.errorf(key, "kind form needs arguments or schema")
		}
	case InputURL:
		if l.fromDocument {
			l.errorf(key+".kind", "is url: only the configuration can send users to a page")
		}
		refuse("arguments", "schema", "params", "bind", "when", "no_secrets")
		need("url")
		need("message")
		if in.URL != "" && !in.URL.secure() && l.ok(key+".url") {
			l.errorf(key+".url", "must be https, or http for a loopback host")
		}
	case InputSample:
		refuse("arguments", "schema", "url", "message", "no_secrets")
		need("params")
		need("bind")
	case InputRoots:
		refuse("arguments", "schema", "url", "params", "message", "no_secrets")
		need("bind")
	}
	if has["bind"] && len(in.Bind) == 0 && l.ok(key+".bind") {
		l.errorf(key+".bind", "is empty; leave it out")
	}
	if l.fromDocument && has["no_secrets"] {
		l.errorf(key+".no_secrets", "can't be set by a document")
	}
	if in.asksDeprecated() && !cfg.Tools.DeprecatedInputs && l.ok("tools.deprecated_inputs") {
		l.errorf(key+".kind", "%s needs tools.deprecated_inputs: true, because the protocol has deprecated it", in.Kind)
	}
}

// bindings returns the arguments that an input names, once each.
func (l *loader) bindings(key string, in *Input) map[string]bool {
	names := map[string]bool{}
	for i, name := range in.Arguments {
		if k := fmt.Sprintf("%s.arguments[%d]", key, i); names[name] && l.ok(k) {
			l.errorf(k, "%s is listed twice", quote(name))
		}
		names[name] = true
	}
	for name := range in.Bind {
		names[name] = true
	}
	return names
}
