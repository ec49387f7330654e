// Package sealkey keeps the key that seals the handles of the gateway (sessions, cursors, tasks, links) in a file, so that they outlive a restart.
//
// It hides the format of the file, its permissions, and how several processes that start at the same time agree on one key.
//
// The one rule: a key that others could have read is never used, and a file that isn't one with a key is never touched.
package sealkey
