// Package arazzo evaluates the runtime expressions, criteria and selectors of Arazzo descriptions (Arazzo Specification 1.0.1 and 1.1.0).
//
// It hides the grammar of expressions and of simple conditions, the loose comparisons of the specification, and the substitution of
// expressions in queries. [ParseExpression], [ParseCriterion] and [ParseSelector] parse once, when a description is loaded; the results are
// immutable and evaluated against a [Scope] at run time.
//
// The rule that must not be broken: values are JSON texts that [jsonscan.Scan] has accepted, and numbers are compared by their digits, so
// that no id of 19 digits equals its neighbor. Values come from callers and services: a value that is put into a query stays within its
// quotes, and each query and regular expression is limited in length and work.
package arazzo
