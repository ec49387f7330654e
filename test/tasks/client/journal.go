package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// journal is a file with a line for each call, and one for each task that is asked for.
type journal struct{ file string }

// entry is a line of it.
type entry struct {
	Next      bool   `json:"next,omitempty"` // a task was asked for; the calls that follow are for it
	Answer    string `json:"answer,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments any    `json:"arguments,omitempty"`
	Tokens    int    `json:"tokens,omitempty"`
	IsError   bool   `json:"isError,omitempty"`
}

// write adds a line.
func (j *journal) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(j.file), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// spent returns the calls since a task was last asked for, and the tokens of their answers.
func (j *journal) spent() (calls, tokens int, err error) {
	text, err := os.ReadFile(j.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for line := range bytes.Lines(text) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", j.file, err)
		}
		if e.Next {
			calls, tokens = 0, 0
			continue
		}
		calls++
		tokens += e.Tokens
	}
	return calls, tokens, err
}

// next asks for the next task, and prints it.
func next(ctx context.Context, j *journal, url string, args []string) error {
	calls, tokens, err := j.spent()
	if err != nil {
		return err
	}
	answer := strings.Join(args, " ")
	body, err := json.Marshal(map[string]any{"answer": answer, "calls": calls, "tokens": tokens})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/next", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	if len(text) == 0 {
		text = []byte("There are no more tasks.\n")
	}
	fmt.Print(string(text))
	return j.write(entry{Next: true, Answer: answer})
}
