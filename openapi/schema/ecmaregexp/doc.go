// Package ecmaregexp reads the regular expressions of OpenAPI documents as JSON Schema defines them, ECMA-262 with the u flag, and
// translates them for JavaScript validators and for Go's regexp.
//
// It hides both syntaxes, the notations of other engines that documents use, and where RE2 means something else than ECMA-262. [Parse]
// returns both forms of an expression; [Expression.Samples] returns texts that it describes.
//
// The rule that must not be broken: the two forms match the same texts, or the form for Go is left out. The form for JavaScript is
// accepted again, unchanged, by Parse and by every JavaScript validator.
package ecmaregexp
