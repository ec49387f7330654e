// Package e2e runs the built program as an operator does: as a process of its own, told what to do by signals. The
// one rule: what a test inside a package can show is shown there; here stands only what needs the real process.
package e2e
