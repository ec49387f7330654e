package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// A client is a process that builds requests with swagger-client. One goroutine may use it at a time.
type client struct {
	node, packages string
	document       string // what the process has open

	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	timer   *time.Timer
}

// question asks for the requests of one operation. See build.mjs.
type question struct {
	Method string   `json:"method"`
	Path   string   `json:"path"`
	Base   string   `json:"base"`
	Names  []string `json:"names"`
	Calls  []call   `json:"calls"`
}

type call struct {
	plain     bool
	Arguments json.RawMessage `json:"arguments"`
	Media     string          `json:"media,omitempty"` // Content-Type of the gateway's request
}

// answer is what swagger-client made of a question.
type answer struct {
	Error     string  `json:"error"`
	Operation facts   `json:"operation"`
	Results   []built `json:"results"`
}

// facts are what swagger-client reads in the document about an operation.
type facts struct {
	Swagger2   bool                 `json:"swagger2"`
	Unresolved []string             `json:"unresolved"`
	Parameters map[string]parameter `json:"parameters"` // by argument
	Defaults   []parameter          `json:"defaults"`
}

type parameter struct {
	In               string          `json:"in"`
	Name             string          `json:"name"`
	Style            string          `json:"style"`
	Explode          *bool           `json:"explode"`
	AllowReserved    bool            `json:"allowReserved"`
	AllowEmptyValue  bool            `json:"allowEmptyValue"`
	CollectionFormat string          `json:"collectionFormat"`
	Media            string          `json:"media"`
	Type             any             `json:"type"`
	Undeclared       bool            `json:"undeclared"`
	MultiSegment     bool            `json:"multiSegment"` // x-multi-segment
	ContentType      string          `json:"contentType"`  // of an encoding object
	Default          json.RawMessage `json:"default"`
}

// built is one request of swagger-client, or its reason for making none.
type built struct {
	Error    string               `json:"error"`
	Method   string               `json:"method"`
	URL      string               `json:"url"`
	Headers  map[string]string    `json:"headers"`
	Body     *builtBody           `json:"body"`
	Media    string               `json:"media"`    // of the document, that the body is for
	Encoding map[string]parameter `json:"encoding"` // of that media type; in 2.0 the parameters in formData
	Members  json.RawMessage      `json:"members"`  // of a form, under their names on the wire
}

type builtBody struct {
	Text  *string     `json:"text"`
	Bytes []byte      `json:"bytes"`
	Parts []builtPart `json:"parts"`
}

type builtPart struct {
	Name     string  `json:"name"`
	Text     *string `json:"text"`
	Filename string  `json:"filename"`
	Type     string  `json:"type"`
	Bytes    []byte  `json:"bytes"`
}

// most is how long one answer may take.
const most = 2 * time.Minute

// ask sends one line and reads one. A process that ends or hangs is started again for the next.
func (c *client) ask(ctx context.Context, line, answer any) error {
	if c.command == nil {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	process := c.command.Process
	timer := time.AfterFunc(most, func() { _ = process.Kill() })
	defer timer.Stop()
	_, err = c.in.Write(append(text, '\n'))
	var back []byte
	if err == nil {
		back, err = c.out.ReadBytes('\n')
	}
	if err != nil {
		c.stop()
		return fmt.Errorf("swagger-client's process has ended: %w", err)
	}
	if err := json.Unmarshal(back, answer); err != nil {
		return fmt.Errorf("read answer %.200q: %w", back, err)
	}
	return nil
}

func (c *client) start(ctx context.Context) error {
	c.document = ""
	c.command = exec.CommandContext(ctx, c.node, "--max-old-space-size=4096", filepath.Join(c.packages, "build.mjs"))
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		return err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return err
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	c.command.Stderr = &bytes.Buffer{}
	return c.command.Start()
}

func (c *client) stop() {
	if c.command == nil {
		return
	}
	c.in.Close()
	_ = c.command.Process.Kill()
	_ = c.command.Wait() // it was killed
	c.command = nil
}

// open makes the process read a document.
func (c *client) open(ctx context.Context, url string) (problem string, err error) {
	if c.document == url && c.command != nil {
		return "", nil
	}
	var a answer
	if err := c.ask(ctx, map[string]string{"document": url}, &a); err != nil {
		return "", err
	}
	if a.Error == "" {
		c.document = url
	}
	return a.Error, nil
}
