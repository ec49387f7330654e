package widening

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// Rule is the part of a rule that restricts calls, or lifts a restriction.
type Rule struct {
	Match     string   `json:"match"`
	API       []string `json:"api,omitempty"` // patterns for API names, if each selector has some
	Scopes    []string `json:"scopes,omitempty"`
	Unscoped  bool     `json:"unscoped,omitempty"` // an empty list of scopes: the defaults
	Condition string   `json:"condition,omitempty"`
	Confirm   *bool    `json:"confirm,omitempty"`
	Asked     []string `json:"asked,omitempty"` // arguments that are always elicited
	Asks      bool     `json:"asks,omitempty"`  // the rule has inputs
	Hidden    []string `json:"hidden,omitempty"`
	Fixed     []string `json:"fixed,omitempty"`  // see [Fixed]
	Free      []string `json:"free,omitempty"`   // arguments that callers give in spite of earlier rules
	Caches    bool     `json:"caches,omitempty"` // the rule enables or disables caching
	Shared    bool     `json:"shared,omitempty"` // responses are shared among callers
	HasJob    bool     `json:"has_job,omitempty"`
	Job       []string `json:"job,omitempty"`  // requests that a job may cause besides those for its status
	Rate      *Rate    `json:"rate,omitempty"` // the zero value is off; nil if the rule has none
	// Annotations are the hints that decide what clients let pass; nil if the rule has none of them.
	Annotations *Annotations `json:"annotations,omitempty"`
	// Rest is the state of the keys that no code compares.
	Rest State `json:"rest,omitempty"`
}

// Annotations are those of a rule that clients act upon.
type Annotations struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

func annotationsOf(a *config.Annotations) *Annotations {
	if a == nil || a.ReadOnly == nil && a.Destructive == nil && a.OpenWorld == nil {
		return nil
	}
	return &Annotations{a.ReadOnly, a.Destructive, a.OpenWorld}
}

// settings returns the annotations as those of a rule.
func (a *Annotations) settings() *config.Annotations {
	return &config.Annotations{ReadOnly: a.ReadOnly, Destructive: a.Destructive, OpenWorld: a.OpenWorld}
}

// mayMatch reports whether selectors may match operations of an API. An API without a name has that
// of its document, which is unknown here.
func mayMatch(selectors config.Selectors, name string) bool {
	return slices.ContainsFunc(selectors, func(sel config.Selector) bool {
		return name == "" || len(sel.API) == 0 || config.Selector{API: sel.API}.Match(config.Subject{API: name})
	})
}

func ruleOf(r *config.Rule) (Rule, bool) {
	set := &r.Set
	one := Rule{
		Match: encode(r.Match), Scopes: set.Scopes, Unscoped: set.Scopes != nil && len(set.Scopes) == 0, Confirm: set.Confirm,
		Asks: set.Inputs != nil, Asked: Asked(set.Inputs), Hidden: Hidden(set.SensitiveFields),
		Fixed: Fixed(set.Arguments), Free: free(set.Arguments),
		Caches: set.Cache != nil, Shared: set.Cache.On() && set.Cache.Shared, HasJob: set.Job != nil, Job: JobCalls(set.Job), Annotations: annotationsOf(set.Annotations),
	}
	if s := stateOf(reflect.ValueOf(set).Elem()); len(s) > 0 {
		one.Rest = s
	}
	if set.Condition != "" {
		one.Condition = digest(set.Condition)
	}
	if set.Rate != nil {
		rate := rateOf(set.Rate)
		one.Rate = &rate
	}
	for _, sel := range r.Match {
		if len(sel.API) == 0 {
			one.API = nil
			break
		}
		for _, p := range sel.API {
			one.API = append(one.API, p.String())
		}
	}
	return one, set.Scopes != nil || set.Condition != "" || set.Confirm != nil || set.Inputs != nil || len(one.Hidden)+len(one.Fixed)+len(one.Free) > 0 || one.Caches || one.HasJob || one.Rate != nil || one.Annotations != nil || len(one.Rest) > 0
}

// Asked returns the arguments that are always elicited from the user, so that no caller can set
// them.
func Asked(inputs []config.Input) (names []string) {
	for i := range inputs {
		if inputs[i].When != config.InputAlways {
			continue
		}
		names = append(names, inputs[i].Arguments...)
		for name := range inputs[i].Bind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// JobCalls returns the requests that a job may cause besides those for its status: calls of
// operations, which need not be tools, and others.
func JobCalls(j *config.Job) (calls []string) {
	if j == nil || j.Off() {
		return nil
	}
	for _, op := range []*config.JobOperation{j.Status, j.Result, j.Cancel} {
		switch {
		case op == nil:
		case op.Operation != "":
			calls = append(calls, op.Operation)
		case op.Method != "" && op.Method != config.JobGet:
			calls = append(calls, string(op.Method)+" at the job's URL")
		}
	}
	if j.Links {
		calls = append(calls, "links of the document")
	}
	if j.Questions != nil {
		calls = append(calls, j.Questions.Answer.Operation)
	}
	if j.Callback != nil && j.Callback.Signature == nil {
		calls = append(calls, "callbacks without a signature")
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// Hidden returns the fields that are hidden in responses. A removed field has two entries, because
// a masked one is weaker: its name is visible.
func Hidden(s *config.SensitiveFields) (fields []string) {
	for field, action := range s.All() {
		fields = append(fields, field.String())
		if action == config.FieldRemove {
			fields = append(fields, field.String()+" and its name")
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// encode encodes a configuration value so that equal values have equal texts; "" for an empty one.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil || strings.Trim(string(text), "[]{}") == "" || string(text) == "null" {
		return ""
	}
	return string(text)
}
