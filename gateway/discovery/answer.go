package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

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
