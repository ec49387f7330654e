package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Budget is how many bytes the answers of one reading of a registry may have together. It is safe for concurrent use.
type Budget struct {
	most int
	read atomic.Int64
}

// NewBudget returns a budget of that many bytes.
func NewBudget(most int) *Budget { return &Budget{most: most} }

// ReadJSON is [ReadJSON] for an answer that counts.
func (b *Budget) ReadJSON(answer io.Reader, most int, value any) error {
	left := b.most - int(b.read.Load())
	counted := &counter{Reader: answer}
	err := ReadJSON(counted, min(most, max(left, 0)), value)
	if int(b.read.Add(int64(counted.n))) > b.most {
		return fmt.Errorf("the answers of the registry have more than %d bytes together", b.most)
	}
	return err
}

// counter counts what is read.
type counter struct {
	io.Reader
	n int
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// ReadJSON reads an answer of a registry, of at most so many bytes, into a value. Its errors say what was expected, and what was
// found where.
func ReadJSON(answer io.Reader, most int, value any) error {
	text, err := io.ReadAll(io.LimitReader(answer, int64(most)+1))
	switch {
	case err != nil:
		return err
	case len(text) > most:
		return fmt.Errorf("the answer has more than %d bytes", most)
	}
	err = json.Unmarshal(text, value)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("byte %d: expected %s, got a JSON %s", kind.Offset, kind.Type, kind.Value)
	}
	return fmt.Errorf("the answer is not JSON: %w", err)
}
