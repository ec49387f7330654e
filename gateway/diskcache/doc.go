// Package diskcache keeps the last good document of each API in a directory, so that a process that starts serves it while its origin is away
// (server.state_dir, O1).
//
// It hides the format of the files, how they are written whole by several processes, how long a document is kept that no configuration
// names, and the time limits for a disk that hangs.
//
// The one rule: the disk is never waited for without a time limit, and a file that isn't whole and of that API is never used. The text
// of a document is not trusted more than that of its origin: the caller compiles it by the same rules and limits.
package diskcache
