package config

// Annotations are the hints by which clients decide what a call may do without a question (MCP ToolAnnotations). A key that is left out
// follows from the others, the method and idempotent.
type Annotations struct {
	// Whether calls change nothing. true also means that they can be repeated and are not destructive. read_tool, the search's
	// filter, confirmation, retries and caches follow.
	ReadOnly *bool `yaml:"read_only,omitempty" absent:"true for GET, HEAD, OPTIONS, TRACE and QUERY, unless destructive is true" access:"joint: operation"`
	// Whether calls may replace or remove data. Not true together with read_only. tools.confirm follows.
	Destructive *bool `yaml:"destructive,omitempty" absent:"true, unless the tool is read-only" access:"joint: operation"`
	// Whether repeated calls have no further effect: the same as idempotent of the rule, which also decides about retries.
	Idempotent *bool `yaml:"idempotent,omitempty" absent:"the rule's idempotent, else true if the tool is read-only or the method is idempotent" access:"none: the same request may be sent again"`
	// Whether the tool interacts with systems besides the service.
	OpenWorld *bool `yaml:"open_world,omitempty" absent:"true" access:"joint: operation"`
}

// isTrue reports whether a value is given and true.
func isTrue(b *bool) bool { return b != nil && *b }

// over returns the annotations with those of an earlier rule for keys that are left out. read_only and destructive exclude each other: the
// later one counts.
func (a *Annotations) over(earlier *Annotations) *Annotations {
	if a == nil || earlier == nil {
		if a == nil {
			return earlier
		}
		return a
	}
	both := *earlier
	if isTrue(a.ReadOnly) && isTrue(both.Destructive) {
		both.Destructive = nil
	}
	if isTrue(a.Destructive) && isTrue(both.ReadOnly) {
		both.ReadOnly = nil
	}
	for _, one := range []struct{ to, from **bool }{
		{&both.ReadOnly, &a.ReadOnly}, {&both.Destructive, &a.Destructive}, {&both.Idempotent, &a.Idempotent}, {&both.OpenWorld, &a.OpenWorld},
	} {
		if *one.from != nil {
			*one.to = *one.from
		}
	}
	return &both
}

// Tightens reports whether annotations take something away from callers: calls that would pass without a question.
func (a *Annotations) Tightens() bool {
	return a != nil && (a.ReadOnly != nil && !*a.ReadOnly || isTrue(a.Destructive))
}

// Annotations must not contradict each other or idempotent of the rule.
func (a *Annotations) validate(c cursor) {
	set := enclosing[Settings](c)
	switch {
	case isTrue(a.ReadOnly) && isTrue(a.Destructive):
		c.errorf("destructive", "is true, and so is read_only: a call that changes nothing can't destroy anything; leave out one of them")
	case isTrue(a.ReadOnly) && a.Idempotent != nil && !*a.Idempotent:
		c.errorf("idempotent", "is false, and read_only is true: a call that changes nothing can be repeated; leave out one of them")
	case a.Idempotent != nil && set.Idempotent != nil && *a.Idempotent != *set.Idempotent:
		c.errorf("idempotent", "is %t, and idempotent of the rule is %t; leave out one of them", *a.Idempotent, *set.Idempotent)
	}
}

// validateTightening checks the annotations of a document, which can say that a call does more than its method promises, and nothing else.
func (a *Annotations) validateTightening(c cursor) {
	const reason = "a document can set read_only to false and destructive to true; the rest is for a rule to say"
	if isTrue(a.ReadOnly) {
		c.errorf("read_only", "is true: %s", reason)
	}
	if a.Destructive != nil && !*a.Destructive {
		c.errorf("destructive", "is false: %s", reason)
	}
	if a.Idempotent != nil {
		c.errorf("idempotent", "decides about retries: %s", reason)
	}
	if a.OpenWorld != nil && !*a.OpenWorld {
		c.errorf("open_world", "is false: %s", reason)
	}
}
