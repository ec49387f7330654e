// Package socket reads and writes TCP connections without telling the scheduler, and listens for those of which the kernel holds little.
//
// Before each system call the runtime is told that the thread may be away for long, and wakes its monitor, a thread that then looks
// around every 20 µs at first. A service that waits for others is idle most of the time, so that each call wakes the monitor anew, and shares the
// processors with it (docs/contributing/adr/0020). A socket that does not wait needs no such care: the kernel takes what there is room for, or gives what is there.
//
// The rule that must not be broken: only what waits for nobody is hidden from the scheduler, which is a read or a write of a socket that
// does not wait, of [longest] bytes at most. Deadlines, waiting and errors are those of package net.
package socket
