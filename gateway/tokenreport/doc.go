// Package tokenreport tells operators which tools cost how many tokens of a model's context, what weighs in them, and what
// a change of the configuration would save.
//
// It hides how a definition is taken apart: each weight and each saving is the difference between the tokens of the
// definition as it is and those of the definition changed, both counted. Nothing is estimated from lengths.
//
// The rule that must not be broken: a saving is that of its measure alone, for exactly the tools that the measure would
// change.
package tokenreport
