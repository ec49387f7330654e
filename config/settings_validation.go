package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var toolName = regexp.MustCompile(`\A[A-Za-z0-9_-]+\z`)

func (s *Settings) validate(c cursor) {
	s.validateName(c)
	c.scopeless("scopes", s.Scopes)
	s.validateArguments(c)
	s.validateParamHeaders(c)
	validateInputs(c, "inputs", s.Inputs)
	if j := s.Job; j != nil && !j.off && c.given("job.wait") && c.ok("job.wait") && !c.fromDocument {
		if longest := c.config().longest(s); j.Wait > longest {
			c.warnf("job.wait", "is longer than a call may take, %s, which ends the wait: raise timeout", longest)
		}
	}
}

// scopeless checks that an empty list of scopes is allowed, where it is given.
func (c cursor) scopeless(name string, scopes []string) {
	if c.given(name) && c.ok(name) && c.loader.ok("auth") && !c.anonymous() && len(scopes) == 0 && !c.config().Auth.AllowUnscoped {
		c.errorf(name, "is empty, which auth.allow_unscoped must allow")
	}
}

// validateName checks the name that a rule gives a tool.
func (s *Settings) validateName(c cursor) {
	tools, name := &c.config().Tools, s.Name
	switch {
	case name == "" || !c.ok("name"):
	case !toolName.MatchString(name):
		c.errorf("name", "%s must consist of letters, digits, _ and -", quote(name))
	case slices.Contains(c.config().ReservedToolNames(), name):
		c.errorf("name", "%s is the name of one of the gateway's own tools", quote(name))
	case len(name) > tools.MaxName && c.loader.ok("tools.max_name"):
		c.errorf("name", "is longer than tools.max_name, %d", tools.MaxName)
	case name[0] >= '0' && name[0] <= '9':
		c.warnf("name", "%s begins with a digit, and Gemini refuses a list with such a name; %s is accepted by all", quote(name), quote("_"+name))
	}
}

// validateParamHeaders checks names of headers (2026-07-28 streamable-http: tokens, unique without regard to case).
func (s *Settings) validateParamHeaders(c cursor) {
	taken := map[string]string{}
	for _, argument := range slices.Sorted(maps.Keys(s.ParamHeaders)) {
		name, at := s.ParamHeaders[argument], join("param_headers", argument)
		lower := strings.ToLower(name)
		switch {
		case !c.ok(at):
		case !headerToken(name) || len(name) > 64:
			c.errorf(at, "%s is not the name of a header: at most 64 characters of a token (RFC 9110)", quote(name))
		case strings.HasPrefix(lower, "mcp-param-"):
			c.errorf(at, "%s: Mcp-Param- is put before the name; leave it out", quote(name))
		case taken[lower] != "":
			c.errorf(at, "%s is the header of %s already", quote(name), quote(taken[lower]))
		default:
			taken[lower] = argument
		}
	}
}

// longest is the most time that calls to which settings apply may take, whatever API they are of.
func (c *Config) longest(set *Settings) Duration {
	if set.Timeout > 0 {
		return set.Timeout
	}
	longest := c.Limits.Timeout
	for i := range c.APIs {
		longest = max(longest, c.APIs[i].Timeout)
	}
	for i := range c.Rules {
		longest = max(longest, c.Rules[i].Set.Timeout)
	}
	return longest
}
