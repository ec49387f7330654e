// Package htmltemplate executes HTML templates: the syntax of text/template with the contextual escaping of html/template, for pages that
// are compiled into the program.
//
// It hides the contexts of HTML in which a value may stand, and how it is escaped in each: text, quoted attributes and URLs. It exists
// because text/template calls methods by names that only the data has: a program with it keeps every exported method of every type, which
// was a fifth of this one (docs/contributing/adr/0062). Templates of this package have fields and functions, and no methods.
//
// The rule that must not be broken: a value that stands where this package doesn't know how to escape it (scripts, styles, comments, names,
// attributes without quotes) is an error of [Parse], never output.
package htmltemplate
