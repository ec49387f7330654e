package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// codeArguments is the problem code of changes of arguments that can't be made.
const codeArguments = "arguments"

// argumentCompiler compiles the changes of one operation's arguments.
type argumentCompiler struct {
	api       *config.API
	operation *openapi.Operation
	condition *auth.Condition // of calls; nil if there is none
	report    reporter
	curation  openapi.Curation
	values    []argumentValue // by the names of the document
	// unfit is the reason why the operation can't be served: without the change callers could give what a rule keeps from
	// them.
	unfit string
}

// newArguments compiles what rules change of the arguments of an operation. Changes that can't be made are reported. unfit is
// the reason why the operation can't be served; "" if it can. Names that the operation doesn't have are left out, since rules
// are for many operations; see [config.Config.Selections].
func newArguments(op *openapi.Operation, api *config.API, changes map[string]*config.Argument, condition *auth.Condition, r reporter) (_ *Arguments, unfit string) {
	c := argumentCompiler{operation: op, api: api, condition: condition, report: r, curation: openapi.Curation{Arguments: map[string]openapi.CuratedArgument{}}}
	declared := map[string]openapi.Declared{}
	for _, d := range op.Declares() {
		declared[d.Name] = d
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if d, ok := declared[name]; ok {
			c.change(d, changes[name])
		}
	}
	if c.unfit != "" {
		return nil, c.unfit
	}
	if len(c.curation.Arguments) == 0 && len(c.curation.Hidden) == 0 {
		return nil, ""
	}
	return c.finish(changes)
}

// wrong reports a change that can't be made; the operation is unfit if the change restricts.
func (c *argumentCompiler) wrong(key, text string, restricts bool) {
	if restricts && c.unfit == "" {
		c.unfit = key + ": " + text
	}
	if restricts {
		text += "; the operation is not served"
	}
	c.report.rejectAt(codeArguments, key, text)
}

func (c *argumentCompiler) change(d openapi.Declared, a *config.Argument) {
	if a.Concealed() {
		c.curation.Hidden = append(c.curation.Hidden, d.Name)
		c.fix(d, a)
		if a.Value != "" || a.Claim != "" || !a.Secret.IsZero() {
			c.checkFreeMember(d, a.Key(fixedBy(a)))
		}
		return
	}
	own := openapi.CuratedArgument{Name: a.Name, Description: a.Description}
	if a.Example != "" {
		own.Example = c.fit(d.Name, json.RawMessage(a.Example), a.Key("example"), false)
	}
	if a.Default != "" {
		if own.Default = c.fit(d.Name, json.RawMessage(a.Default), a.Key("default"), false); own.Default != nil {
			c.curation.Optional = append(c.curation.Optional, d.Name)
			c.values = append(c.values, argumentValue{name: d.Name, text: own.Default, preset: true})
		}
	}
	if a.Name != "" && c.condition != nil && slices.Contains(c.condition.Arguments(), d.Name) {
		c.wrong(a.Key("name"), fmt.Sprintf("the condition of the tool names the argument %q: write %q there", d.Name, a.Name), true)
	}
	c.curation.Arguments[d.Name] = own
}

// fixedBy returns the key by which a rule fixes an argument.
func fixedBy(a *config.Argument) string {
	switch {
	case a.Value != "":
		return "value"
	case a.Claim != "":
		return "claim"
	default:
		return "secret"
	}
}

// fix adds the value of an argument that callers don't give.
func (c *argumentCompiler) fix(d openapi.Declared, a *config.Argument) {
	v := argumentValue{name: d.Name, claim: a.Claim, secret: !a.Secret.IsZero()}
	switch {
	case (v.secret || a.Claim != "") && !c.api.TakesSecrets():
		of := c.api.Service()
		s := config.Service{Namespace: of.Namespace, Name: of.Name}
		c.wrong(a.FixedKey(), fmt.Sprintf("the argument %q is not sent to a service whose registration chose the name of its API: name the service in services or "+
			"credentials of the provider %s: %s", d.Name, of.Provider, s.Selector()), true)
		return
	case a.Value != "":
		v.text = c.fit(d.Name, json.RawMessage(a.Value), a.Key("value"), true)
	case v.secret:
		v.text = c.fitSecret(d.Name, a)
	case a.Claim != "":
	case a.Default != "":
		v.text = c.fit(d.Name, json.RawMessage(a.Default), a.Key("default"), true)
	case d.Required:
		preset := d.Schema.Value("default")
		if preset == nil {
			c.wrong(a.Key("hidden"), fmt.Sprintf("the argument %q is required, and neither a rule nor the document has a value for it: give it a value", d.Name), true)
			return
		}
		v.text = c.fit(d.Name, preset, a.Key("hidden"), true)
	default:
		return // it is never sent
	}
	c.values = append(c.values, v)
}

// fit returns a value as requests are built of it, nil if the argument can't have it, which is reported.
func (c *argumentCompiler) fit(name string, value json.RawMessage, key string, restricts bool) json.RawMessage {
	fit, err := c.operation.FitArgument(name, value)
	if err != nil {
		c.wrong(key, fmt.Sprintf("the argument %q can't have this value: %v", name, err), restricts)
		return nil
	}
	return fit
}

// fitSecret is fit for a secret, of which the report has nothing.
func (c *argumentCompiler) fitSecret(name string, a *config.Argument) json.RawMessage {
	fit, err := c.operation.FitArgument(name, jsonscan.AppendString(nil, a.Secret.Reveal()))
	if err != nil {
		c.wrong(a.Key("secret"), fmt.Sprintf("the argument %q can't have this value, which its schema does not accept", name), true)
		return nil
	}
	return fit
}

// finish makes the operations. A name that can't be given is reported, and all arguments keep theirs.
func (c *argumentCompiler) finish(changes map[string]*config.Argument) (*Arguments, string) {
	all, given, err := c.operation.Curate(c.curation)
	var name *openapi.RenameError
	if errors.As(err, &name) {
		c.wrong(changes[name.Argument].Key("name"), name.Reason, c.condition != nil)
		for argument, own := range c.curation.Arguments {
			own.Name = ""
			c.curation.Arguments[argument] = own
		}
		all, given, err = c.operation.Curate(c.curation)
	}
	if err != nil {
		c.wrong(changes[slices.Sorted(maps.Keys(changes))[0]].Key(""), err.Error(), true)
	}
	if c.unfit != "" {
		return nil, c.unfit
	}
	a := &Arguments{all: all, given: given, names: map[string]string{}, hidden: c.curation.Hidden, values: c.values}
	for document, own := range c.curation.Arguments {
		if own.Name != "" {
			a.names[document] = own.Name
		}
	}
	for i := range a.values {
		a.filled = append(a.filled, a.values[i].name)
		if shown := a.names[a.values[i].name]; shown != "" {
			a.values[i].name = shown
		}
	}
	return a, ""
}
