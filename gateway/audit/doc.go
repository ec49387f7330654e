// Package audit writes the audit log: one line of JSON for each call, in a separate file or stream.
//
// It hides how a line is formatted, so that no input of a client can break it or make it long, how
// identities are hashed, and what happens while lines can't be written: only [Log.Run] writes, all
// others append lines to a buffer in memory. A call asks [Log.Ready] for space before it sends a
// request, and appends its line at its end. A refusal is a request or connection that was denied
// before it became a call; refusals are counted together ([Log.Refuse]).
//
// The one rule: the line of a call that sent a request or used a cached response is lost only if
// [Options].Drop permits it, the writer panics, or the process ends before it can be written. Each
// lost line is counted.
package audit
