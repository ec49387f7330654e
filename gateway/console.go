package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"weak"

	"drawbridge/config"
	"drawbridge/gateway/console"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/history"
	"drawbridge/gateway/report"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/fetch"
)

// newHistory returns what keeps the calls of the last hour while the console is on.
func (g *Gateway) newHistory() *history.Recorder {
	return history.New(history.Options{
		On: func() bool { return g.Config().Admin.ConsoleOn() }, Bodies: func() bool { return g.Config().Admin.Console.ShowBodies }, Now: g.o.Test.Now,
	})
}

// newConsole returns the console, which is off unless the configuration in use turns it on.
func (g *Gateway) newConsole() *console.Console {
	return console.New(console.Options{
		Config: g.Config, Gateway: g, Tools: g.consoleTools, Trials: trials{g.inProcess}, Access: consoleTokens{g.served}, History: g.calls.History, Tokens: g.metrics.ResultTotals,
		Provider: func(o *config.ConsoleOIDC) (*http.Client, error) {
			return upstream.ProviderClient("console", &o.Issuer, o.CAFile, o.Proxy, g.o.Version, g.recovery.Report)
		},
		Address: g.clients.Certain, Clean: answer.CleanData, Log: g.log, Version: g.o.Version, Now: g.o.Test.Now,
	})
}

// linesAround is the number of lines that an excerpt has before and after its line.
const linesAround = 12

// columnsAround is the number of characters that a long line shows before and after its position: documents that a
// program wrote often consist of one line.
const columnsAround = 300

// DocumentText returns the lines around a position in a file of an API's document, in the version that is served. The error
// says why they can't be shown.
func (g *Gateway) DocumentText(ctx context.Context, api, file string, line, column int) (*console.Excerpt, error) {
	gen := g.current.Load()
	if gen == nil || gen.Reports[api] == nil {
		return nil, errors.New("no API of that name is served")
	}
	files, release, err := g.documentFiles(ctx, api, gen.Files[api])
	if err != nil {
		return nil, err
	}
	defer release()
	report := gen.Reports[api]
	for _, f := range files {
		if report.Shown(f.Location) == file || fetch.Redacted(f.Location) == file {
			return excerpt(file, f.Data, line, column, report)
		}
	}
	return nil, errors.New("the document has no file of that name")
}

// shownText is the text of the document that was shown last, until a garbage collection: an operator goes from one position to the next,
// and reading a large document and computing its digest takes longer than a page may.
type shownText struct {
	digest [32]byte // of the stamp
	files  weak.Pointer[[]fetch.File]
}

// documentFiles returns the files of an API's document in the version that is served. release must be called when they are no longer needed.
func (g *Gateway) documentFiles(ctx context.Context, api string, of generation.DocumentFiles) (files []fetch.File, release func(), err error) {
	if shown := g.shownText.Load(); shown != nil && shown.digest == of.Stamp.Digest {
		if files := shown.files.Value(); files != nil {
			return *files, func() {}, nil
		}
	}
	if files, release, err = g.readFiles(ctx, api, of); err == nil {
		g.shownText.Store(&shownText{of.Stamp.Digest, weak.Make(&files)})
	}
	return files, release, err
}

// readFiles reads the files of an API's document from the last-known-good store or else from their origin, where they may have changed.
func (g *Gateway) readFiles(ctx context.Context, api string, of generation.DocumentFiles) (files []fetch.File, release func(), err error) {
	if g.store != nil && of.ID != "" {
		stored, release := g.store.Load(ctx, of.ID, api)
		if stored != nil && stored.Copy.Is(of.Stamp) {
			return stored.Copy.Files, release, nil
		}
		if release != nil {
			release()
		}
	}
	again, err := of.Reread(ctx, of.Stamp)
	switch {
	case errors.Is(err, fetch.ErrChanged):
		return nil, nil, errors.New("the document has changed at its origin, and this is not its text any more; with server.state_dir the version in use is kept")
	case err != nil:
		return nil, nil, fmt.Errorf("it can't be read again: %w", err)
	}
	return again.Files, func() {}, nil
}

// excerpt returns the lines around a position in a text.
func excerpt(file string, text []byte, line, column int, report *report.API) (*console.Excerpt, error) {
	e := &console.Excerpt{File: file, First: max(1, line-linesAround)}
	number := 0
	for each := range bytes.Lines(text) {
		if number++; number > line+linesAround {
			break
		}
		if number >= e.First {
			text, shown := string(bytes.TrimRight(each, "\r\n")), ""
			if number == line {
				shown = around(text, column, report.Redacted)
			} else {
				shown = report.Shown(text)
			}
			e.Lines = append(e.Lines, shown)
		}
	}
	if len(e.Lines) == 0 {
		return nil, errors.New("the file has fewer lines")
	}
	return e, nil
}

// around returns the part of a line around a column, which counts characters from 1; the whole line if it is short. The line
// is redacted before it is cut, so no part of a secret is left at an end.
func around(line string, column int, redacted func(string) string) string {
	all := []rune(redacted(line))
	if len(all) <= 2*columnsAround {
		return string(all)
	}
	at := max(0, column-1)
	if before := []rune(line); at < len(before) {
		at = len([]rune(redacted(string(before[:at])))) // redaction moves what follows
	}
	from := max(0, min(at-columnsAround, len(all)-2*columnsAround))
	to := min(len(all), from+2*columnsAround)
	part := string(all[from:to])
	if from > 0 {
		part = "…" + part
	}
	if to < len(all) {
		part += "…"
	}
	return part
}
