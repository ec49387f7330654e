// Package toolname keeps the names under which tools were published in server.state_dir, so that they stay after a restart.
//
// It hides the file and a disk that hangs. The one rule: nothing waits for a write, and a file that can't be read or written keeps no
// tool from being served.
package toolname
