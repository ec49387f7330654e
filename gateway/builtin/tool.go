package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/filetool"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/toolsearch"
)

// Tools makes the built-in tools. It is immutable.
type Tools struct {
	metrics *telemetry.Metrics
	calls   map[string]*telemetry.CallMetrics // by tool
}

// New returns tools whose calls are counted in m.
func New(m *telemetry.Metrics) *Tools {
	t := &Tools{metrics: m, calls: map[string]*telemetry.CallMetrics{}}
	for _, definition := range toolsearch.Listed(nil, filetool.Definitions()) {
		t.calls[definition.Name] = m.OwnCall(definition.Name)
	}
	return t
}

// Search returns search_tools for one caller, whose scope is of.
func (t *Tools) Search(of *toolsearch.Scope) call.Tool {
	return t.tool(toolsearch.Search, func(ctx context.Context, args json.RawMessage) (answer, error) {
		text, found, err := of.Search(ctx, args)
		if err == nil {
			t.metrics.ToolSearched(found > 0)
		}
		return answer{texts: [][]byte{[]byte(text)}}, err
	})
}

// Describe returns describe_tools for one caller, whose scope is of and whose client supports the features f.
func (t *Tools) Describe(of *toolsearch.Scope, f catalog.Features) call.Tool {
	return t.tool(toolsearch.Describe, func(_ context.Context, args json.RawMessage) (answer, error) {
		texts, found, err := of.Describe(args, f)
		return answer{texts: texts, unknown: found == 0}, err
	})
}

// Refuse returns the built-in tool of a name for a call whose arguments are wrong: it fails with err.
func (t *Tools) Refuse(name string, err error) call.Tool {
	return t.tool(name, func(context.Context, json.RawMessage) (answer, error) { return answer{}, err })
}

func (t *Tools) tool(name string, run func(context.Context, json.RawMessage) (answer, error)) call.Tool {
	return &tool{definition: toolsearch.Definition(name), metrics: t.calls[name], run: run}
}

// sliceTimeout bounds how long read_file looks through a file. The answer says where to go on.
const sliceTimeout = 20 * time.Second

// OpenFile opens a file of one caller by its id.
type OpenFile func(id string) (*filestore.Reader, error)

// ReadFile returns read_file for the files of one caller.
func (t *Tools) ReadFile(open OpenFile) call.Tool {
	return t.file(func(ctx context.Context, args json.RawMessage) (answer, error) {
		r, err := filetool.ParseRequest(args)
		if err != nil {
			return answer{}, err
		}
		f, err := open(r.ID)
		if err != nil {
			return noFile, nil
		}
		defer func() { _ = f.Close() }() // nothing was written
		ctx, cancel := context.WithTimeout(ctx, sliceTimeout)
		defer cancel()
		text, err := filetool.Slice(ctx, f, r)
		return answer{texts: [][]byte{[]byte(text)}}, err
	})
}

// UseFile returns read_file for a request that passes a file on without the model, such as resources/read. use gets the file, or nil if the
// caller has none with that id.
func (t *Tools) UseFile(open OpenFile, id string, use func(*filestore.Reader) error) call.Tool {
	return t.file(func(context.Context, json.RawMessage) (answer, error) {
		f, err := open(id)
		if err != nil {
			return noFile, use(nil)
		}
		defer func() { _ = f.Close() }() // nothing was written
		return answer{}, use(f)
	})
}

func (t *Tools) file(run func(context.Context, json.RawMessage) (answer, error)) call.Tool {
	return &tool{definition: filetool.ReadDefinition, metrics: t.calls[filetool.Read], run: run}
}

// UploadFile returns upload_file for a model. say returns the answer for the file that it announces.
func (t *Tools) UploadFile(maxSize int64, say func(filetool.UploadRequest) (string, error)) call.Tool {
	return t.upload(func(_ context.Context, args json.RawMessage) (answer, error) {
		r, err := filetool.ParseUpload(args, maxSize)
		if err != nil {
			return answer{}, err
		}
		text, err := say(r)
		return answer{texts: [][]byte{[]byte(text)}}, err
	})
}

// StoreFile returns upload_file for a request that brings the file without the model. store returns its URI. Its error is a [*call.Failure],
// or one for the client.
func (t *Tools) StoreFile(store func() (uri string, err error)) call.Tool {
	return t.upload(func(context.Context, json.RawMessage) (answer, error) {
		uri, err := store()
		return answer{texts: [][]byte{[]byte(uri)}}, err
	})
}

func (t *Tools) upload(run func(context.Context, json.RawMessage) (answer, error)) call.Tool {
	return &tool{definition: filetool.UploadDefinition, metrics: t.calls[filetool.Upload], run: run}
}

// noFile is the answer for a URI that opens no file, whatever the reason.
var noFile = answer{unknown: true, texts: [][]byte{[]byte("There is no such file for you: a file is kept for a limited time, and for the caller that got it. Call its tool again.")}}

// answer is the answer of a built-in tool.
type answer struct {
	texts   [][]byte // for the model
	unknown bool     // the arguments name nothing that the caller may use
}

// tool is a built-in tool for one call. It implements [call.Tool].
type tool struct {
	definition *catalog.Tool
	metrics    *telemetry.CallMetrics
	// run returns the answer. The error is a [*toolsearch.ArgumentError], or one for the client.
	run func(context.Context, json.RawMessage) (answer, error)
}

// Definition implements [call.Tool].
func (t *tool) Definition() *catalog.Tool { return t.definition }

// Scopes implements [call.Tool]: every caller may search.
func (t *tool) Scopes() (sets [][]string, needed bool) { return nil, false }

// Rates implements [call.Tool]: only the rate limits of requests apply.
func (t *tool) Rates() []*admission.RateLimit { return nil }

// AsksUser implements [call.Tool].
func (t *tool) AsksUser() bool { return false }

// Metrics implements [call.Tool].
func (t *tool) Metrics() *telemetry.CallMetrics { return t.metrics }

// Redaction implements [call.Tool].
func (t *tool) Redaction() call.Redaction { return call.Redaction{} }

// Run implements [call.Tool].
func (t *tool) Run(ctx context.Context, c *call.Call) error {
	ctx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	a, err := t.run(ctx, c.Arguments)
	var wrong *toolsearch.ArgumentError
	switch {
	case errors.As(err, &wrong):
		return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: wrong.Error() + " The signature is " + t.definition.Signature() + "."}
	case err != nil:
		return err
	}
	c.Answer(a.texts)
	if a.unknown {
		return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: string(bytes.Join(a.texts, []byte("\n")))}
	}
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return nil
}
