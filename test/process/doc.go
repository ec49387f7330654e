// Package process starts the gateway and other programs for tests and measurements that look at them from
// outside. It hides free ports, readiness, logs, the counters of /proc and the end of a child. The one rule: a
// program started here is ended here, by its own process id, whatever becomes of the test.
package process
