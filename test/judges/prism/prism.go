package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// prism is a running mock server.
type prism struct {
	Address    string
	Error      string
	Removed    int // references that lead nowhere and were taken out of its copy of the document
	Credential *credential
	Operations []served

	cmd   *exec.Cmd
	input io.Closer
}

// credential is what opens most operations of a document.
type credential struct {
	Type string
	In   string
	Name string
}

// served is an operation as Prism lists it.
type served struct {
	Method string
	Path   string
	Opened bool // its security was taken away, since the credential does not meet it
	// Bodiless: it takes a body, and the document names no media type (2.0 without consumes).
	Bodiless bool
	// Hopeless: the document has no answer but refusals.
	Hopeless bool
}

// errNotLoaded is Prism's inability to serve a document.
var errNotLoaded = errors.New("not loaded")

// startPrism starts a mock server. It ends with stop, with the context, or with this process.
func startPrism(ctx context.Context, packages, document string, patience time.Duration) (*prism, error) {
	p := &prism{}
	p.cmd = exec.CommandContext(ctx, "node", "--max-old-space-size=6000", filepath.Join(packages, "serve.mjs"), document)
	input, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.input = input
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start prism: %w", err)
	}
	line := make(chan error, 1)
	go func() {
		text, err := bufio.NewReaderSize(output, 1<<20).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, p)
		}
		line <- err
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err = <-line:
		if err == nil && p.Error != "" {
			err = fmt.Errorf("%w: %s", errNotLoaded, p.Error)
		}
	case <-late.C:
		err = fmt.Errorf("%w within %s", errNotLoaded, patience)
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// stop ends the mock server.
func (p *prism) stop() {
	p.input.Close()
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
}

func (p *prism) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
