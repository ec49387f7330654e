// Package recovery keeps the process alive after a panic in the background. It hides how a panic is counted and logged.
//
// The rule that must not be broken: a goroutine or a timer that no request's handler protects runs its steps with
// [Recoverer.Step] or [Recoverer.Keep], since its panic would end the process and all calls.
package recovery
