package config

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Rules of a key, as tags of its field. They apply to a value that the file gives and that could be read; those of texts apply to each text of
// a list or mapping. Bounds of numbers and the tag required belong to the reading of the file; see config.go.
//
//	empty          the value must not be empty; the tag's text, behind "; " or its own colon, is the advice
//	count          the most entries, with a noun: "16 fields"; or a format for the number of entries and the most: "50: has more than %[2]d words"
//	excludes       a key that excludes this one, with a reason after a colon
//	needs          a key that must be there as well
//	required-with  a key with which this one is required
//	pair           a key that must be there if this one is, and the other way round
//	issuers        what callers without tokens mean: "warn", or the text of an error
//	sends          the key of the URL that the secret is sent to, with a noun: "url: token"
//	pem            what a PEM file must hold: "certificates" or "key"
//	length         the most bytes of a text: "200"; or the fewest characters of a secret: "32.."
//	is             the name of a text's format: see formats
//	https          the URL must be https, or http for a loopback host; the tag's text ends the message
//	unique         no text may be there twice; the tag's text is the message, in which %q stands for the text, %s for a shortened one and %v for a plain one

// rules applies the tags of the field for a key.
func (c cursor) rules(name string, v reflect.Value, tag reflect.StructTag) {
	for _, r := range presenceRules {
		if arg, ok := tag.Lookup(r.tag); ok {
			r.check(c, name, arg)
		}
	}
	if !c.readable(name) {
		return
	}
	for _, r := range valueRules {
		if arg, ok := tag.Lookup(r.tag); ok {
			r.check(c, name, v, arg)
		}
	}
	for _, rule := range []string{"length", "is", "https", "unique"} {
		if _, ok := tag.Lookup(rule); ok {
			c.textRules(name, v, tag)
			break
		}
	}
}

// presenceRules are about which keys are given.
var presenceRules = []struct {
	tag   string
	check func(c cursor, name, arg string)
}{
	{"excludes", func(c cursor, name, arg string) {
		if other, _, _ := strings.Cut(arg, ":"); c.given(name) && c.given(other) && !c.misread[c.path(name)] {
			c.errorf(name, "can't stand beside %s", arg)
		}
	}},
	{"needs", func(c cursor, name, arg string) {
		if c.given(name) && !c.given(arg) && c.ok(name, arg) {
			c.errorf(name, "needs %s", arg)
		}
	}},
	{"required-with", func(c cursor, name, arg string) {
		if !c.given(name) && c.given(arg) && c.ok(name) {
			c.errorf(name, "is required with %s", arg)
		}
	}},
	{"pair", func(c cursor, name, arg string) {
		if c.given(name) != c.given(arg) && c.ok(name, arg) {
			c.errorf("", "needs both %s and %s, or neither", name, arg)
		}
	}},
}

// valueRules are about a value as a whole.
var valueRules = []struct {
	tag   string
	check func(c cursor, name string, v reflect.Value, arg string)
}{
	{"empty", func(c cursor, name string, v reflect.Value, arg string) {
		if !isEmpty(v) || c.faulty(name) {
			return
		}
		if arg != "" && arg[0] != ':' {
			arg = "; " + arg
		}
		c.errorf(name, "is empty%s", arg)
	}},
	{"count", func(c cursor, name string, v reflect.Value, arg string) {
		number, rest, _ := strings.Cut(arg, " ")
		format := "has %d " + rest + ", more than %d"
		if most, isFormat := strings.CutSuffix(number, ":"); isFormat {
			number, format = most, rest
		}
		if most := atoi(number); v.Len() > most {
			c.errorf(name, format, v.Len(), most)
		}
	}},
	{"issuers", func(c cursor, name string, _ reflect.Value, arg string) {
		switch {
		case !c.anonymous():
		case arg == "warn":
			c.warnf(name, "has no effect: without auth.issuers nobody is asked for a token")
		default:
			c.errorf(name, "%s", arg)
		}
	}},
	{"sends", func(c cursor, name string, _ reflect.Value, arg string) {
		to, what, _ := strings.Cut(arg, ": ")
		s := reflect.ValueOf(c.value).Elem()
		for _, f := range fieldsOf(s.Type()) {
			if f.name != to {
				continue
			}
			if u := typed[URL](s.Field(f.index)); c.ok(name, to) && u.parsed != nil && u.parsed.Scheme == "http" && !u.Loopback() {
				c.warnf(to, "the %s travels in clear; https protects it", what)
			}
		}
	}},
	{"pem", func(c cursor, name string, v reflect.Value, arg string) {
		check := c.authority
		if arg == "key" {
			check = c.keyFile
		}
		if v.Kind() != reflect.Slice {
			check(c.path(name), typed[File](v))
			return
		}
		for i := range v.Len() {
			check(c.path(c.item(name, i)), typed[File](v.Index(i)))
		}
	}},
}

// textRules applies the tags that are about texts to those of a value.
func (c cursor) textRules(name string, v reflect.Value, tag reflect.StructTag) {
	switch {
	case v.Kind() == reflect.Slice:
		c.uniqueTexts(name, v, tag)
		return
	case v.Kind() == reflect.Map:
		for _, key := range sortedNames(v) {
			c.textRules(join(name, key), v.MapIndex(reflect.ValueOf(key)), tag)
		}
		return
	case v.Kind() == reflect.Pointer:
		v = v.Elem()
	}
	if !c.readable(name) {
		return
	}
	for _, err := range checkTags(textOf(v), tag) {
		c.errorf(name, "%s", err)
	}
}

// uniqueTexts applies the tags that are about texts to the items of a list, which are compared with each other if that is a rule.
func (c cursor) uniqueTexts(name string, list reflect.Value, tag reflect.StructTag) {
	message, unique := tag.Lookup("unique")
	seen := map[string]bool{}
	for i := range list.Len() {
		item := c.item(name, i)
		failures := c.count[Error]
		if c.textRules(item, list.Index(i), tag); !unique || failures < c.count[Error] || !c.readable(item) {
			continue
		}
		text := textOf(list.Index(i))
		if seen[text] {
			c.errorf(item, "%s", strings.NewReplacer("%q", strconv.Quote(text), "%s", quote(text), "%v", text).Replace(message))
		}
		seen[text] = true
	}
}

// checkTags returns what is wrong with a text by the tags of its key.
func checkTags(text string, tag reflect.StructTag) (errs []error) {
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if length := tag.Get("length"); length != "" {
		add(checkLength(text, length))
	}
	if format := tag.Get("is"); format != "" {
		add(formats[format](text))
	}
	if hint, ok := tag.Lookup("https"); ok && !isProtected(text) {
		add(errors.New("must be https" + hint))
	}
	return errs
}

func checkLength(text, length string) error {
	if fewest, isFewest := strings.CutSuffix(length, ".."); isFewest {
		hint := ""
		if atoi(fewest) >= 32 { // a key, and not a password
			hint = fmt.Sprintf("; openssl rand -base64 %s makes a good one", fewest)
		}
		if len(text) < atoi(fewest) {
			return fmt.Errorf("must have at least %s characters%s", fewest, hint)
		}
		return nil
	}
	if most := atoi(length); len(text) > most {
		return fmt.Errorf("has %d bytes, more than %d", len(text), most)
	}
	return nil
}

// typed returns the value of a key whose tag is for keys of type T alone. It panics for a key of another type.
func typed[T any](v reflect.Value) T {
	t, ok := v.Interface().(T)
	if !ok {
		panic(fmt.Sprintf("config: a tag is for %T, and its key is %s", t, v.Type()))
	}
	return t
}

// isEmpty reports whether a list or mapping has no entries, or a struct has only zero values.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return isEmpty(v.Elem())
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
	}
	if s, ok := v.Addr().Interface().(interface{ empty() bool }); ok {
		return s.empty()
	}
	return v.IsZero()
}

// textOf returns the text that a scalar stands for. It may be secret.
func textOf(v reflect.Value) string {
	switch t := v.Interface().(type) {
	case Secret:
		return t.Reveal()
	case fmt.Stringer:
		return t.String()
	}
	return v.String()
}

// atoi returns the number in a tag.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(fmt.Sprintf("config: %q in a tag is not a number", digits))
	}
	return n
}
