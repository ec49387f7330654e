package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var inputKey = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,64}\z`)

// validateInputs checks what a call asks, where one question depends on another. Whether the arguments exist is found out with the document.
func validateInputs(c cursor, list string, inputs []Input) {
	keys, bound := map[string]bool{}, map[string]string{}
	for i := range inputs {
		in, key := &inputs[i], c.item(list, i)
		if name := join(key, "key"); in.Key != "" && c.ok(name) {
			switch {
			case !inputKey.MatchString(in.Key):
				c.errorf(name, "%s must consist of letters, digits, _, - and ., at most 64", quote(in.Key))
			case in.Key == "confirm":
				c.errorf(name, "\"confirm\" is the key of the question for consent; take another")
			case keys[in.Key]:
				c.errorf(name, "%s is the key of an earlier question", quote(in.Key))
			}
			keys[in.Key] = true
		}
		if step := join(key, "step"); i > 0 && in.Step < inputs[i-1].Step && c.ok(step, fmt.Sprintf("%s[%d].step", list, i-1)) {
			c.errorf(step, "is before that of the question above it, %d: questions stand in the order of their steps", inputs[i-1].Step)
		}
		for argument := range in.bindings() {
			if earlier, twice := bound[argument]; twice {
				c.errorf(key, "the argument %s is asked for by the question %s too", quote(argument), quote(earlier))
			}
			bound[argument] = in.Key
		}
	}
}

func (in *Input) validate(c cursor) {
	in.foreign = c.fromDocument
	if c.ok("kind") {
		in.validateKind(c)
	}
}

// validateKind checks that an input has what its kind needs, and nothing else.
func (in *Input) validateKind(c cursor) {
	has := map[string]bool{}
	for _, name := range []string{"arguments", "schema", "url", "params", "bind", "message", "when", "no_secrets"} {
		has[name] = c.given(name)
	}
	refuse := func(names ...string) {
		for _, name := range names {
			if has[name] {
				c.errorf(name, "has no meaning for kind %s", in.Kind)
			}
		}
	}
	need := func(name string) {
		if !has[name] {
			c.errorf("", "kind %s needs %s", in.Kind, name)
		}
	}
	switch in.Kind {
	case InputForm:
		refuse("url", "params")
		switch {
		case has["arguments"] && has["schema"]:
			c.errorf("schema", "can't stand beside arguments: the form is made of either")
		case has["arguments"] && has["bind"]:
			c.errorf("bind", "has no meaning beside arguments: each field gives the argument of its name")
		case has["arguments"] && len(in.Arguments) == 0 && c.ok("arguments"):
			c.errorf("arguments", "is empty; name the arguments to ask for")
		case !has["arguments"] && !has["schema"]:
			c.errorf("", "kind form needs arguments or schema")
		}
	case InputURL:
		if c.fromDocument {
			c.errorf("kind", "is url: only the configuration can send users to a page")
		}
		refuse("arguments", "schema", "params", "bind", "when", "no_secrets")
		need("url")
		need("message")
		if in.URL != "" && !in.URL.secure() && c.ok("url") {
			c.errorf("url", "must be https, or http for a loopback host")
		}
	case InputSample:
		refuse("arguments", "schema", "url", "message", "no_secrets")
		need("params")
		need("bind")
	case InputRoots:
		refuse("arguments", "schema", "url", "params", "message", "no_secrets")
		need("bind")
	}
	if c.fromDocument && has["no_secrets"] {
		c.errorf("no_secrets", "can't be set by a document")
	}
	if in.asksDeprecated() && !c.config().Tools.DeprecatedInputs && c.loader.ok("tools.deprecated_inputs") {
		c.errorf("kind", "%s needs tools.deprecated_inputs: true, because the protocol has deprecated it", in.Kind)
	}
}

// bindings returns the arguments that an input names, once each.
func (in *Input) bindings() map[string]bool {
	names := map[string]bool{}
	for _, name := range slices.Concat(in.Arguments, slices.Collect(maps.Keys(in.Bind))) {
		names[name] = true
	}
	return names
}
