package main

import (
	"bytes"
	"os"
)

// document is a file that comes and goes in part while the gateway watches it.
type document struct {
	path string
	part string // what is at its end, or is not
}

// change puts the part at the end of the document, or takes it out.
func (d document) change() error {
	text, err := os.ReadFile(d.path)
	if err != nil {
		return err
	}
	if before, found := bytes.CutSuffix(text, []byte(d.part)); found {
		text = before
	} else {
		text = append(text, d.part...)
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
