// Package audit writes the audit log: one line of JSON for each call, in a file or a stream of its own.
//
// It hides how a line is made, so that nothing that a client sends can break it or make it long, how what identifies people is
// hashed, and what happens while lines can't be written: [Log.Run] alone writes, everybody else puts lines into a buffer in
// memory. The one rule: a line is lost only where [Options].Drop says so, and each that is lost is counted.
package audit
