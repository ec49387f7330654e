// Package plan compiles a [Plan] for each tool, with everything that its calls need, when a configuration comes into use or a
// document changes. It hides how the settings of the configuration and the parts of a document combine: calls only read the
// fields of a [Plan].
//
// [Compile] is a list of steps. An operation that the configuration exposes is a candidate; a candidate with a tool name is a
// draft; a draft with the parts that depend on other tools becomes a plan. Each step returns new values and changes nothing that
// an earlier one returned.
//
// Compilation is incremental: the plans of an unchanged document are reused, so that a change of one document among many
// compiles only that one. A unit (compilation_unit.go) lists what the plans of a document depend on. A new dependency on another
// document must be added there.
//
// The rule that must not be broken: a plan is complete when its constructor returns, and immutable afterwards. A setting
// that can't be applied to an operation is reported with its position, and the operation is served without it, unless
// that would give callers what the setting keeps from them.
package plan
