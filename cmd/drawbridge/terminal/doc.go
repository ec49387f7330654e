// Package terminal writes for people at a terminal: a status line that log lines don't tear, progress, and tables that fit
// the width.
//
// It hides whether there is a terminal, its width, the control sequences of the status line, and how many cells a character takes.
//
// The rule that must not be broken: where there is no terminal, nothing is truncated and no control sequence is written, so
// that files and pipes get whole texts.
package terminal
