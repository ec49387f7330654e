package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// file is a file that comes and goes, as a whole or in part, while the gateway watches it.
type file struct {
	path string
	part string // what is at its end, or is not
}

// change puts the part at the end of the file, or takes it out; a file of which nothing is left goes.
func (d file) change() error {
	text, err := os.ReadFile(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if before, found := bytes.CutSuffix(text, []byte(d.part)); found {
		text = before
	} else {
		text = append(text, d.part...)
	}
	if len(text) == 0 {
		return os.Remove(d.path)
	}
	if err := os.WriteFile(d.path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(d.path+".new", d.path)
}

// another is one more operation at the end of openapi.yaml.
const another = `  /changed:
    get:
      operationId: test_changed
      summary: A tool that comes and goes
      responses: {"200": {description: Done, content: {text/plain: {}}}}
`
