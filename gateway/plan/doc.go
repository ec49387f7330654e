// Package plan compiles everything that calls of a tool need, when a configuration comes into use or a document changes.
// It hides which settings of the configuration and which parts of a document decide what: calls read the fields of a
// [Plan] and ask no further.
//
// [Compile] is a list of steps. Each returns what it has found, for the steps after it, and changes nothing that an
// earlier one returned.
//
// The plans of a document are taken over from the compilation before, so that one that changes among many costs its own
// compilation. unit says what a plan depends on besides its document: a new dependency on another document belongs there.
//
// The rule that must not be broken: a plan is complete when its constructor returns, and immutable afterwards. A setting
// that can't be applied to an operation is reported with its position, and the operation is served without it, unless
// that would give callers what the setting keeps from them.
package plan
