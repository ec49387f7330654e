package openapi

import (
	"maps"
	"net/url"
)

// ServerChoice is one of several servers of a service, of which each call goes to one.
type ServerChoice struct {
	// BaseURL replaces CompileOptions.BaseURL; nil if it doesn't.
	BaseURL *url.URL
	// Variables are values for variables of the document's servers, besides CompileOptions.ServerVariables.
	Variables map[string]string
}

// with returns the options for the calls of one choice.
func (o CompileOptions) with(choice ServerChoice) CompileOptions {
	if choice.BaseURL != nil {
		o.BaseURL = choice.BaseURL
	}
	if len(choice.Variables) > 0 {
		o.ServerVariables = maps.Clone(o.ServerVariables)
		if o.ServerVariables == nil {
			o.ServerVariables = map[string]string{}
		}
		maps.Copy(o.ServerVariables, choice.Variables)
	}
	o.ServerChoices = nil
	return o
}

// setServers sets the servers of all choices, of which the first has the place of the only one.
func (c *compiler) setServers() (err error) {
	o := c.options
	if len(o.ServerChoices) == 0 {
		c.servers, err = newServers(c.doc, o, c.problems)
		return err
	}
	for i, choice := range o.ServerChoices {
		s, err := newServers(c.doc, o.with(choice), c.problems)
		if err != nil {
			return err
		}
		s.selected = choice.Variables
		if i == 0 {
			c.servers = s
		}
		c.choices = append(c.choices, s)
	}
	return nil
}

// setBase sets the base URLs of an operation. It is served only if its calls may go to the servers of all choices, and
// called only if all of these can be.
func (c *compiler) setBase(op *Operation, f found) error {
	to := c.servers.of(f)
	for _, s := range c.choices {
		other := s.of(f)
		if other.refused != nil || other.problem != "" && to.refused == nil {
			to = other
		}
		op.Bases = append(op.Bases, other.url)
	}
	if to.refused != nil {
		return coded(codeSkipServer, &skipError{at: to.at, reason: to.refused})
	}
	if op.Base, op.BaseProblem = to.url, to.problem; op.Base == nil {
		op.Bases = nil
	}
	return nil
}
