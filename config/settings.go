package config

import (
	"fmt"
	"reflect"
	"slices"
)

// Settings returns what is said of an operation: for each setting the value of the last rule that matches the operation and
// has the setting, else that of own, what the document says of itself (see [ParseExtension]). Timeout 0, Name "" and so on mean that no rule has it; Scopes is nil then,
// and empty but not nil when a rule asks for no scopes.
func (c *Config) Settings(s Subject, own Settings) Settings {
	set := own
	for i := range c.Rules {
		r := &c.Rules[i]
		if r.Match.Match(s) {
			set.Apply(r.Set)
		}
	}
	return set
}

// RuleOf returns the key of the settings of the rule that has the property; "" if none has: where to point at, for what
// only those who use a setting can find out.
func (c *Config) RuleOf(has func(*Settings) bool) string {
	for i := range c.Rules {
		if has(&c.Rules[i].Set) {
			return fmt.Sprintf("rules[%d].set", i)
		}
	}
	return ""
}

// SetBy returns the key path of the settings of the last rule that matches an operation and has the property, such as
// rules[2].set; "" if none does.
func (c *Config) SetBy(s Subject, has func(*Settings) bool) string {
	for i := range slices.Backward(c.Rules) {
		if has(&c.Rules[i].Set) && c.Rules[i].Match.Match(s) {
			return fmt.Sprintf("rules[%d].set", i)
		}
	}
	return ""
}

// Origin returns a key path after the place where the file gives it, as "file:line:col: key"; for one that the file does
// not give, "default: key".
func (c *Config) Origin(key string) string {
	at, ok := c.places[key]
	if !ok {
		return "default: " + key
	}
	return fmt.Sprintf("%s:%d:%d: %s", c.file, at.line, at.column, key)
}

// Exposes reports whether the operation becomes a tool.
func (a *API) Exposes(s Subject) bool {
	if len(a.Tools.Include) > 0 && !a.Tools.Include.Match(s) {
		return false
	}
	return !a.Tools.Exclude.Match(s)
}

func (s *Settings) empty() bool { return reflect.ValueOf(*s).IsZero() }

// Apply puts the settings that later has in the place of those that were there, and joins what both hide.
func (s *Settings) Apply(later Settings) {
	hidden := later.SensitiveFields.with(s.SensitiveFields)
	to, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(later)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() { // an empty list is something else than none
			to.Field(i).Set(from.Field(i))
		}
	}
	s.SensitiveFields = hidden
}

func (c *Config) publicURL() string {
	switch {
	case c.Server.PublicURL != nil:
		return c.Server.PublicURL.trimmed()
	case c.Server.Listen.Loopback() && c.Server.Listen.Port() != "0":
		return c.Server.Scheme() + "://" + string(c.Server.Listen)
	}
	return ""
}
