// Package audit writes the audit log: one line of JSON for each call, in a separate file or stream.
//
// It hides how a line is formatted, so that no input of a client can break it or make it long, how
// identities are hashed, and what happens while lines can't be written: only [Log.Run] writes, all
// others append lines to a buffer in memory. The one rule: a line is lost only if [Options].Drop
// permits it, and each lost line is counted.
package audit
