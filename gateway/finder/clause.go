package finder

import "strings"

// clause follows the clauses of a query. A clause of purpose or context, such as "to select one for the assignment" in
// "list the rates to select one for the assignment", says what the result is for; its words count less than those of
// the action. "to" and "for" also begin what a query asks for, so a clause begins only after the action has an object.
type clause struct {
	purpose bool
	objects int     // words before this one that are neither verbs nor fillers
	last    string  // the word before
	outside *clause // the clause around a remark in parentheses; nil outside of one
}

// openers are the words that begin a clause of purpose or context after an object.
var openers = wordSet("so because before after when while whose which that if where")

// fillers are words by which a query asks for help instead of naming a thing.
var fillers = wordSet("want need like please try way help able tool tools able would could i me we us my our a an the to for of in on how can")

// begin begins a remark in parentheses, which counts like a clause of purpose: "create the task (the blocker)".
func (c *clause) begin(token string) {
	if token[0] == '(' && c.objects > 0 && c.outside == nil {
		outside := *c
		*c = clause{purpose: true, objects: c.objects, outside: &outside}
	}
}

// read reads the next word, in lower case. verb reports whether it asks for an action.
func (c *clause) read(word string, verb bool) {
	switch {
	case c.objects == 0:
	case openers[word], verb && c.last == "to", c.last == "in" && word == "order", c.last == "for" && word == "which":
		c.purpose = true
	}
	if !verb && !fillers[word] && !contracted[word] && !languages[0].stop[word] {
		c.objects++
	}
	c.last = word
}

// end ends the clause after a token with a full stop or semicolon, and a remark at its closing parenthesis.
func (c *clause) end(token string) {
	if c.outside != nil && strings.Contains(token, ")") {
		*c = *c.outside
	}
	if c.purpose && strings.ContainsAny(token[len(token)-1:], ".;,") {
		*c = clause{}
	}
}
