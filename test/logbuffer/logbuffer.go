// Package logbuffer keeps the log of what several goroutines do, so that a test can read it meanwhile.
package logbuffer

import (
	"bytes"
	"sync"
)

// Buffer is a buffer that several goroutines write to. Its zero value is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
